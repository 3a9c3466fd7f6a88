"""Word alignments: against loops over a separate record of all attention, and by hand."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.inference.random_models import (
    LINES,
    ensemble_of,
    random_translator,
    translator_of_six_heads,
)
from tests.inference.random_models import WORDS as VOCABULARY

import transduce
from transduce.errors import InputError
from transduce.inference.alignment import PairWords
from transduce.inference.outputs import Alignment
from transduce.text.clean import normalise
from transduce.view.attention.attend import record_attention

PAIRS = [
    ("the dog sees a cat.", "a woman who runs"),
    ("a woman", "the old red house sees today"),
    ("naïve 我们 cats", "the dog"),
    ("the the the", "a"),
]


@pytest.fixture(scope="module")
def translator():
    """A random translator of two layers with three heads."""
    return translator_of_six_heads()


def words_of_pieces(text):
    """Return the index of the word of each piece, by counting blanks in what was written so far."""
    ids, written, found = VOCABULARY.encode(text), b"", []
    for number in ids:
        piece = VOCABULARY.piece_bytes(number)
        blanks = (written + piece[: len(piece) - len(piece.lstrip(b" "))]).count(b" ")
        found.append(blanks)
        written += piece
    return found


def align_by_loops(translator, source, target, layer, heads, *, shifted):
    """Return links and weights by going through an attention record piece by piece."""
    source, target = normalise(source), normalise(target)
    weights = record_attention(translator, source, target).weights["cross"][layer - 1]
    mean = sum(weights[head - 1] for head in heads) / len(heads)
    ours, theirs = words_of_pieces(source), words_of_pieces(target)
    links, strongest = set[tuple[int, int]](), dict[tuple[int, int], float]()
    for t, target_word in enumerate(theirs):
        row = mean[t + 1 if shifted else t]
        best = max(range(len(ours)), key=lambda s: row[s])
        links.add((ours[best], target_word))
        for s, source_word in enumerate(ours):
            key = source_word, target_word
            strongest[key] = max(strongest.get(key, 0.0), float(row[s]))
    return sorted(links), [strongest[link] for link in sorted(links)]


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize(("layer", "heads"), [(1, (1, 2, 3)), (2, (3,)), (2, (1, 3))])
def test_links_are_those_of_an_attention_record(translator, layer, heads, shifted):
    aligner = translator.aligning(layer=layer, heads=heads, shifted=shifted)
    found = transduce.align(aligner, *map(list, zip(*PAIRS, strict=True)))
    for (source, target), alignment in zip(PAIRS, found, strict=True):
        links, weights = align_by_loops(translator, source, target, layer, heads, shifted=shifted)
        assert list(alignment.links) == links
        assert alignment.weights == pytest.approx(weights, abs=1e-5)


def test_pieces_are_joined_to_words_by_hand():
    """Source words of 2 and 1 pieces; target words of 1 and 2: the second has two links."""
    words = PairWords(source=[0, 0, 1], target=[0, 1, 1])
    weights = np.array([[0.1, 0.6, 0.3], [0.5, 0.1, 0.4], [0.2, 0.3, 0.5]], np.float32)
    alignment = words.align(weights)
    assert str(alignment) == "0-0 0-1 1-1"
    assert alignment.weights == pytest.approx((0.6, 0.5, 0.5))
    assert alignment.as_json() == {
        "alignment": [[0, 0], [0, 1], [1, 1]],
        "weights": [0.6, 0.5, 0.5],
    }


def test_every_target_word_has_a_link_and_no_index_is_beyond_the_words(translator):
    for source, target in PAIRS:
        links = translator.align(source, target).links
        assert {j for _, j in links} == set(range(len(target.split())))
        assert {i for i, _ in links} <= set(range(len(source.split())))


def test_without_a_choice_all_heads_of_the_middle_layer_are_read(translator):
    expected = translator.aligning(layer=1, heads=(1, 2, 3), shifted=True)
    assert translator.align(*PAIRS[0]) == expected.align(*PAIRS[0])
    assert translator.aligning(layer=2).alignment_heads.heads == (1, 2, 3)


def test_an_alignment_does_not_depend_on_the_rest_of_the_batch(translator):
    together = translator.align(*map(list, zip(*PAIRS, strict=True)))
    assert [one.links for one in together] == [translator.align(*pair).links for pair in PAIRS]


def test_empty_sides_have_no_links(translator):
    assert translator.align(["", "a", ""], ["a", "", ""]) == [Alignment()] * 3
    assert str(Alignment()) == ""


def test_outputs_are_aligned_as_given_texts_are(translator):
    found = translator.aligning().nbest(LINES, 2)
    for line, outputs in zip(LINES, found, strict=True):
        for output in outputs:
            expected = translator.align(line, output.text)
            assert output.alignment.links == expected.links
            assert output.alignment.weights == pytest.approx(expected.weights, abs=1e-5)
    assert translator.nbest("a woman", 1)[0].alignment is None


def test_parts_of_a_long_line_are_aligned_one_by_one(translator):
    sentences = ["The dog sees a cat.", "A woman runs today.", "Who sees the house?"]
    aligner = replace(
        translator.aligning(),
        recipe=replace(translator.recipe, data=replace(translator.recipe.data, max_length=12)),
    )
    assert len(VOCABULARY.encode(" ".join(sentences))) > 12
    (whole,) = aligner.nbest(" ".join(sentences), 1)
    expected, source_words, target_words = [], 0, 0
    for sentence in sentences:
        (part,) = aligner.nbest(sentence, 1)
        expected += [(i + source_words, j + target_words) for i, j in part.alignment.links]
        source_words += len(sentence.split())
        target_words += len(part.text.split())
    assert whole.alignment.links == tuple(sorted(expected))


def test_a_pair_that_is_too_long_has_no_links_and_a_warning(translator):
    warned: list[object] = []
    aligner = replace(translator, on_warning=warned.append)
    found = aligner.align(["the dog " * 300, "a"], ["a", "a"])
    assert [str(one) for one in found] == ["", "0-0"]
    assert "line 1: a source of" in str(warned[0])
    with pytest.raises(InputError, match="line 1: a source of"):
        replace(translator, strict=True).align("the dog " * 300, "a")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"layer": 3},
            "there is no layer 3 of the decoder's attention to the source\nhint: this model has 2",
        ),
        ({"heads": (4,)}, "there is no head 4"),
        ({"heads": ()}, "heads are numbers from 1, such as (1, 4), not ()"),
        ({"heads": 2}, "heads are numbers from 1, such as (1, 4), not 2"),
        ({"layer": 0}, "a layer is a number from 1, not 0"),
        ({"leyer": 1}, "aligning() has no setting 'leyer'"),
    ],
)
def test_heads_that_a_model_lacks_are_refused(translator, changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        translator.aligning(**changes)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a", ["a"], "two strings or two lists"),
        (["a"], "a", "two strings or two lists"),
        (["a"], ["a", "b"], "the source has 1 lines, but the target has 2"),
        (["a"], [3], "target: item 1 must be a string"),
        (None, None, "source must be lines of text"),
    ],
)
def test_texts_that_are_none_are_refused(translator, source, target, message):
    with pytest.raises(InputError, match=message):
        translator.align(source, target)


def test_an_ensemble_is_refused():
    with pytest.raises(InputError, match="one model, and these are 2"):
        ensemble_of(random_translator(), random_translator(2)).align("a", "a")


def test_threads_align_and_attend_by_one_translator_at_once(translator):
    """What a thread records is its own: nothing of it is kept by the model."""

    def work(pair):
        links = [str(translator.align(*pair)) for _ in range(8)]
        steps = [record_attention(translator, *pair).weights["cross"].tobytes() for _ in range(3)]
        return {*links, *steps}

    alone = [work(pair) for pair in PAIRS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, PAIRS * 4)) == alone * 4
