"""Labels by constraint, against a plain rule and every label sequence that there is."""

import itertools
import math
import random

import pytest
import torch
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.draws import draw
from tests.search.test_beam import SCORES, assert_same, score_function

from transduce.paper.search import beam_search
from transduce.search.constraints import (
    ConstrainedModel,
    ConstrainedSource,
    LabelConstraint,
    LabelKind,
    LabelSymbols,
)
from transduce.settings import Search
from transduce.settings.search import Sampling

END = 0
CPU = torch.device("cpu")
NAMES = ("</s>", "<s>", "I-a", "O", "B-b", "<unk>", "I-b", "B-a")
LABELS = [symbol for symbol, name in enumerate(NAMES) if not name.startswith("<")]


def build_symbols(scheme):
    kinds = [LabelKind.OTHER] * len(NAMES)
    for symbol in LABELS:
        inside = scheme == "bio" and NAMES[symbol].startswith("I-")
        kinds[symbol] = LabelKind.INSIDE if inside else LabelKind.FREE
    entities = ("ab".find(name[2:]) if "-" in name else -1 for name in NAMES)
    return LabelSymbols(tuple(kinds), tuple(entities))


SYMBOLS = {scheme: build_symbols(scheme) for scheme in ("bio", "raw")}


def is_legal(ids, scheme):
    """Tell whether I-X stands only after B-X or I-X, and nothing stands that is no label."""
    names = [NAMES[symbol] for symbol in ids]
    pairs = zip(["O", *names], names, strict=False)
    fits = (name[0] != "I" or before in (name, "B" + name[1:]) for before, name in pairs)
    return all(symbol in LABELS for symbol in ids) and (scheme == "raw" or all(fits))


def source_of(words, scheme, number=0):
    ids = (*range(100 * number + 2, 100 * number + 2 + words), END)
    return ConstrainedSource(ids, LabelConstraint(words, SYMBOLS[scheme]))


@pytest.mark.parametrize("scheme", ["bio", "raw"])
def test_labels_may_follow_by_the_scheme_in_rows_that_join_and_move(scheme):
    draw, first = random.Random(1), LabelConstraint(2, SYMBOLS[scheme])
    state = LabelConstraint.start_batch([first], CPU)
    outputs: list[tuple[int, tuple[int, ...]]] = [(2, ())]
    for step in range(30):
        words = draw.choices(range(7), k=4)
        new = LabelConstraint.start_batch([LabelConstraint(n, SYMBOLS[scheme]) for n in words], CPU)
        state = state.concatenate(new)
        outputs += [(n, ()) for n in words]
        for (n, ids), allowed in zip(outputs, state.allowed(len(NAMES)).tolist(), strict=True):
            if len(ids) <= n and is_legal(ids, scheme):
                labels = [symbol for symbol in LABELS if is_legal((*ids, symbol), scheme)]
                expected = labels if len(ids) < n else [END]
                assert [symbol for symbol, holds in enumerate(allowed) if holds] == expected
        legal = [draw.choice([*LABELS, *LABELS, *range(len(NAMES))]) for _ in outputs]
        state = state.advance(torch.tensor(legal))
        outputs = [(n, (*ids, one)) for (n, ids), one in zip(outputs, legal, strict=True)]
        rows = draw.choices(range(len(outputs)), k=20 + step % 3)
        state, outputs = state.reorder(torch.tensor(rows)), [outputs[row] for row in rows]


@pytest.mark.parametrize("settings", SCORES, ids=str)
@pytest.mark.parametrize("scheme", ["bio", "raw"])
def test_a_wide_beam_finds_all_label_sequences_in_their_order(scheme, settings):
    score = score_function(search := Search(beam=130, extra_length=3, **settings))
    for words in (1, 2, 3):
        model, source = random_model(words, len(NAMES)), source_of(words, scheme)
        expected = []
        for ids in itertools.product(LABELS, repeat=words):
            if is_legal(ids, scheme):
                steps = range(words + 1)
                log_p = sum(model(source.ids, ids[:i])[(*ids, END)[i]] for i in steps)
                expected.append((score(log_p, words + 1), log_p, ids))
        (found,) = beam_search(
            ConstrainedModel(ToyDecoder(model, 130)), [source], search, nbest=130
        )
        assert_same(found, sorted(expected, reverse=True))
        assert len(found) == (5**words if scheme == "raw" else (3, 11, 41)[words - 1])


@pytest.mark.parametrize("scheme", ["bio", "raw"])
@pytest.mark.parametrize("beam", [1, 4])
def test_one_label_a_word_comes_out_whatever_the_batch(beam, scheme):
    draw, model = random.Random(4), random_model(4, len(NAMES))
    sources = [source_of(draw.randint(0, 6), scheme, number) for number in range(20)]
    results = []
    for batch in (1, 3, 64):
        search = Search(beam=beam, extra_length=5, batch_size=batch)
        decoder = ConstrainedModel(ToyDecoder(model, beam))
        results.append(beam_search(decoder, sources, search, nbest=beam))
    assert results[0] == results[1] == results[2]
    for source, found in zip(sources, results[0], strict=True):
        assert all(len(one.ids) == source.constraint.words for one in found)
        assert all(is_legal(one.ids, scheme) for one in found)


@pytest.mark.parametrize(
    "settings", [{}, {"top_k": 2}, {"temperature": 30.0, "top_p": 0.9}], ids=str
)
def test_samples_have_one_label_a_word(settings):
    sources = [source_of(words, "bio", words) for words in range(9)]
    decoder = ConstrainedModel(ToyDecoder(random_model(5, len(NAMES)), 6))
    search = Search(extra_length=2, batch_size=4)
    found = draw(decoder, sources, search, Sampling(**settings), samples=6)
    for words in range(9):
        assert len(found[words]) == 6
        for one in found[words]:
            assert len(one.ids) == words
            assert is_legal(one.ids, "bio")
            assert math.isfinite(one.score)


def test_labels_that_cannot_begin_a_sentence_are_refused():
    with pytest.raises(AssertionError):
        LabelSymbols((LabelKind.OTHER, LabelKind.INSIDE), (-1, 1))
    with pytest.raises(AssertionError):
        LabelSymbols((LabelKind.FREE, LabelKind.INSIDE), (-1, -1))
