"""Searches use compiled loops where they are faster, and find what the plain operators find."""

import dataclasses

import pytest
import torch
from tests.model.test_every_choice import every
from tests.model.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained

from transduce.machine import compiled_loops as module
from transduce.machine.compiled_loops import MANY_ROWS, loops_in_use, uses_compiled_loops
from transduce.model.decoding.decoder import TransformerDecoder
from transduce.paper.search import beam_search

pytestmark = pytest.mark.usefixtures("compiled_loops")
ROUNDING = 1e-5  # of a sum of some ten log-probabilities in float32
NEARLY_ALL = 0.99  # hypotheses with nearly equal scores may change places


def test_many_rows_on_a_cpu_in_one_thread_use_loops(monkeypatch):
    x = torch.zeros(1)
    assert uses_compiled_loops(x, MANY_ROWS)
    assert not uses_compiled_loops(x, MANY_ROWS - 1)
    assert uses_compiled_loops(x.bfloat16(), MANY_ROWS)
    assert not uses_compiled_loops(x.double(), MANY_ROWS)
    assert not uses_compiled_loops(x.to("meta"), MANY_ROWS)
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    assert not uses_compiled_loops(x, MANY_ROWS)


def test_a_search_of_which_nobody_said_so_uses_none():
    token = loops_in_use.set(False)
    assert not uses_compiled_loops(torch.zeros(1), MANY_ROWS)
    loops_in_use.reset(token)


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
    with_loops = beam_search(TransformerDecoder(untrained()), sources, search)
    token = loops_in_use.set(False)
    without = beam_search(TransformerDecoder(untrained()), sources, search)
    loops_in_use.reset(token)
    assert [one.ids for (one,) in with_loops] == [one.ids for (one,) in without]


@every
@pytest.mark.usefixtures("unchecked_types")
def test_a_search_of_many_rows_finds_the_same_with_loops_as_without(change):
    model = untrained(change)
    with_loops = beam_search(TransformerDecoder(model), MANY_SOURCES, ALL_AT_ONCE, nbest=4)
    token = loops_in_use.set(False)
    without = beam_search(TransformerDecoder(model), MANY_SOURCES, ALL_AT_ONCE, nbest=4)
    loops_in_use.reset(token)
    pairs = [
        pair for both in zip(with_loops, without, strict=True) for pair in zip(*both, strict=True)
    ]
    for some, other in pairs:
        assert some.score == pytest.approx(other.score, abs=ROUNDING)
    assert sum(some.ids == other.ids for some, other in pairs) > NEARLY_ALL * len(pairs)
