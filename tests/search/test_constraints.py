"""Constrained decoding, against trying every output and keeping those that satisfy it."""

import random
from dataclasses import dataclass

import pytest
import torch
from tests.reference.exhaustive_search import END, enumerate_outputs
from tests.reference.plain_constraints import PlainConstraint, PlainPrefix, satisfies
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.test_beam import SCORES, assert_same, random_sources, score_function

from transduce.paper.search import beam_search
from transduce.search.constraints import ConstrainedModel, ConstrainedSource, ForcedPrefix
from transduce.settings import Search

OPEN, CLOSE = 2, 3


@dataclass(frozen=True)
class Brackets(PlainConstraint):
    """Each bracket that is opened is closed; `left` symbols may be written, END among them."""

    left: int
    depth: int = 0

    def allowed(self):
        ends = [END] if self.depth == 0 else [CLOSE]
        return [*ends, OPEN] if self.left >= self.depth + 3 else ends

    def advance(self, symbol):
        assert symbol in self.allowed()  # the search promises it
        assert symbol != END
        return Brackets(self.left - 1, self.depth + (1 if symbol == OPEN else -1))


@dataclass(frozen=True)
class Only(PlainConstraint):
    """Some symbols and no others."""

    symbols: tuple[int, ...]

    def allowed(self):
        return self.symbols

    def advance(self, symbol):
        assert symbol in self.symbols
        return self


def rank_by_enumeration(model, source, constraint, search, symbols=4):
    """Return every output that satisfies the constraint, best first."""
    score, max_length = score_function(search), len(source) + search.extra_length
    rule = PlainPrefix(constraint.ids) if isinstance(constraint, ForcedPrefix) else constraint
    return sorted(
        (
            (score(log_p, n), log_p, ids)
            for log_p, n, ids in enumerate_outputs(model, source, symbols, max_length)
            if satisfies(rule, ids)
        ),
        reverse=True,
    )


def search_with(model, sources, constraints, search, nbest=1):
    decoder = ConstrainedModel(ToyDecoder(model, search.beam))
    constrained = [
        ConstrainedSource(source, constraint)
        for source, constraint in zip(sources, constraints, strict=True)
    ]
    return beam_search(decoder, constrained, search, nbest=nbest)


def test_a_constrained_source_is_a_sequence_of_its_ids():
    source = ConstrainedSource((5, 6, END), ForcedPrefix(()))
    assert (list(source), len(source), source[1], source[:2]) == ([5, 6, END], 3, 6, (5, 6))


@pytest.mark.parametrize("settings", SCORES, ids=str)
@pytest.mark.parametrize(
    "constraint",
    [
        ForcedPrefix((2,)),
        ForcedPrefix((3, 1)),
        ForcedPrefix((1, 2)),
        ForcedPrefix(()),
        Brackets(4),
        Only((END, 1)),
    ],
    ids=str,
)
def test_a_width_that_covers_all_finds_the_best_of_all_allowed_outputs(constraint, settings):
    search = Search(beam=27, extra_length=3, **settings)
    for seed in range(5):
        model = random_model(seed, symbols=4)
        expected = rank_by_enumeration(model, (END,), constraint, search)
        assert len(expected) > 1
        (found,) = search_with(model, [(END,)], [constraint], search, nbest=27)
        assert_same(found, expected[:27])


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_any_beam_finds_allowed_outputs_with_the_model_s_own_scores(beam):
    search = Search(beam=beam, extra_length=6, batch_size=7, penalty="average")
    model, sources = random_model(3, symbols=4), random_sources(30, max_length=3)
    found = search_with(model, sources, [Brackets(len(s) + 6) for s in sources], search)
    lengths = set()
    for source, (best,) in zip(sources, found, strict=True):
        assert satisfies(Brackets(99), best.ids)
        positions = range(len(best.ids) + 1)
        log_p = sum(model(source, best.ids[:i])[(*best.ids, END)[i]] for i in positions)
        assert best.log_prob == pytest.approx(log_p, abs=1e-5)
        lengths.add(len(best.ids))
    assert len(lengths) > 2


@pytest.mark.parametrize("beam", [1, 3])
def test_a_constraint_changes_nothing_where_the_free_result_is_allowed(beam):
    model, search = random_model(4, symbols=5), Search(beam=beam, extra_length=5)
    sources = random_sources(30, max_length=3)
    free = beam_search(ToyDecoder(model, beam), sources, search)
    prefixes = [ForcedPrefix(best.ids[:2]) for (best,) in free]
    assert any(len(constraint.ids) == 2 for constraint in prefixes)
    assert search_with(model, sources, [ForcedPrefix(())] * 30, search) == free
    if beam == 1:  # a wider beam is narrowed by a prefix, and may find better ones
        assert search_with(model, sources, prefixes, search) == free


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_constraints_move_with_their_rows_and_never_to_others(batch):
    """Sentences start and finish at different times, each with a constraint of its own."""
    draw = random.Random(batch)
    model, sources = random_model(5, symbols=9), random_sources(40)
    constraints = [
        ForcedPrefix(tuple(draw.choices(range(1, 9), k=draw.randint(0, 6)))) for _ in sources
    ]
    search = Search(beam=3, extra_length=9, batch_size=batch)
    together = search_with(model, sources, constraints, search, nbest=2)
    separate = [
        search_with(model, [source], [constraint], search, nbest=2)[0]
        for source, constraint in zip(sources, constraints, strict=True)
    ]
    assert together == separate
    for constraint, (best, *_) in zip(constraints, together, strict=True):
        assert best.ids[: len(constraint.ids)] == constraint.ids


def test_prefixes_of_many_lengths_force_one_symbol_a_step_in_rows_that_move():
    draw, device = random.Random(1), torch.device("cpu")
    prefixes = [tuple(draw.choices(range(9), k=draw.randint(0, 6))) for _ in range(30)]
    first, second = (list(map(ForcedPrefix, half)) for half in (prefixes[:15], prefixes[15:]))
    state = ForcedPrefix.start_batch(first, device).advance(torch.zeros(15, dtype=torch.long))
    state = state.concatenate(ForcedPrefix.start_batch(second, device))
    remaining = [ids[1:] for ids in prefixes[:15]] + prefixes[15:]
    for _ in range(8):
        rows = draw.choices(range(30), k=30)
        state, remaining = state.reorder(torch.tensor(rows)), [remaining[row] for row in rows]
        allowed = state.allowed(9)
        found = torch.ones(30, 9, dtype=torch.bool) if allowed is None else allowed
        expected = [[not ids or symbol == ids[0] for symbol in range(9)] for ids in remaining]
        assert found.tolist() == expected
        state = state.advance(torch.tensor(draw.choices(range(9), k=30)))
        remaining = [ids[1:] for ids in remaining]


def test_constraints_of_two_kinds_are_refused_in_one_search():
    model, sources = random_model(1, symbols=4), [(END,), (2, END)]
    with pytest.raises(TypeError, match="constraints of one kind: ForcedPrefix, not Brackets, F"):
        search_with(model, sources, [Brackets(4), ForcedPrefix(())], Search(beam=2))
    with pytest.raises(TypeError, match="of one kind: ConstrainedSource, not tuple"):
        beam_search(ConstrainedModel(ToyDecoder(model, 2)), sources, Search(beam=2))


def test_many_symbols_are_searched_under_a_constraint_as_few_are():
    """Of 1,111 symbols three are allowed: wide rows are searched block by block."""
    model, search = random_model(1, symbols=1_111, sharpness=1.0), Search(beam=8, extra_length=2)
    constraint = Only((END, 700, 1_110))
    (found,) = search_with(model, [(END,)], [constraint], search, nbest=8)

    def narrow(source, prefix):
        names = [END, 700, 1_110]
        return [model(source, tuple(names[i] for i in prefix))[name] for name in names]

    expected = rank_by_enumeration(narrow, (END,), Only((0, 1, 2)), search, symbols=3)
    named = [(s, p, tuple((END, 700, 1_110)[i] for i in ids)) for s, p, ids in expected]
    assert_same(found, named[:8])
