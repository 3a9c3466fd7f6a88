"""Searches use compiled loops where they are faster, and find what the plain operators find."""

import dataclasses

import pytest
import torch
from tests.fast.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained
from tests.fast.tiny import FAST, LOOPS
from tests.model.test_every_choice import every_with_fast_cache

from transduce.fast import compiled_loops as module
from transduce.fast.compiled_loops import (
    MANY_ROWS,
    has_rows_for_loops,
)
from transduce.paper.model import StepwiseTransformer
from transduce.paper.search import beam_search

pytestmark = pytest.mark.usefixtures("compiled_loops")
ROUNDING = 1e-5  # of a sum of some ten log-probabilities in float32
NEARLY_ALL = 0.99  # hypotheses with nearly equal scores may change places


def test_many_rows_on_a_cpu_use_loops():
    x = torch.zeros(1)
    assert has_rows_for_loops(x, MANY_ROWS)
    assert not has_rows_for_loops(x, MANY_ROWS - 1)
    assert has_rows_for_loops(x.bfloat16(), MANY_ROWS)
    assert not has_rows_for_loops(x.double(), MANY_ROWS)
    assert not has_rows_for_loops(x.to("meta"), MANY_ROWS)


def test_loops_are_compiled_where_no_file_can_be_written(monkeypatch):
    import numba

    def njit(function, **options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(numba, "njit", njit)
    assert module.compile_loops(max) is max
    assert module.compile_sums(max) is max


@pytest.mark.parametrize("beam", [1, 3, 5])
@pytest.mark.usefixtures("unchecked_types")
def test_a_search_with_loops_may_have_any_beam(beam):
    search = dataclasses.replace(ALL_AT_ONCE, beam=beam)
    sources = MANY_SOURCES * 2  # a beam of 1, too, has MANY_ROWS
    with_loops, without = (
        beam_search(StepwiseTransformer(untrained(), operations), sources, search)
        for operations in (LOOPS, FAST)
    )
    assert [one.ids for (one,) in with_loops] == [one.ids for (one,) in without]


@every_with_fast_cache
@pytest.mark.usefixtures("unchecked_types")
def test_a_search_of_many_rows_finds_the_same_with_loops_as_without(change):
    model = untrained(change)
    with_loops, without = (
        beam_search(StepwiseTransformer(model, operations), MANY_SOURCES, ALL_AT_ONCE, nbest=4)
        for operations in (LOOPS, FAST)
    )
    pairs = [
        pair for both in zip(with_loops, without, strict=True) for pair in zip(*both, strict=True)
    ]
    for some, other in pairs:
        assert some.score == pytest.approx(other.score, abs=ROUNDING)
    assert sum(some.ids == other.ids for some, other in pairs) > NEARLY_ALL * len(pairs)
