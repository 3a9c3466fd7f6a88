"""Compiled loops are taken where they are faster, and give what the plain operators give."""

import sys

import pytest
import torch
from tests.model.test_every_choice import every
from tests.model.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained

from transduce.machine import compiled_loops as module
from transduce.machine.compiled_loops import MANY_ROWS, has_loop_compiler, runs_compiled_loops
from transduce.model.decoding.decoder import TransformerDecoder
from transduce.search import beam_search

ROUNDING = 1e-5  # of a sum of some ten log-probabilities in float32


@pytest.mark.usefixtures("compiled_loops")
def test_many_rows_on_a_cpu_in_one_thread_take_loops(monkeypatch):
    x = torch.zeros(1)
    assert runs_compiled_loops(x, MANY_ROWS)
    assert not runs_compiled_loops(x, MANY_ROWS - 1)
    assert not runs_compiled_loops(x.to("meta"), MANY_ROWS)
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    assert not runs_compiled_loops(x, MANY_ROWS)


@pytest.mark.usefixtures("compiled_loops")
def test_a_short_search_does_not_wait_until_loops_are_loaded(monkeypatch):
    monkeypatch.setattr(module.countdown, "left", 2)
    taken = [runs_compiled_loops(torch.zeros(1), MANY_ROWS) for _ in range(4)]
    assert taken == [False, False, True, True]


@pytest.mark.usefixtures("compiled_loops")
def test_where_bits_count_no_loops_are_taken():
    with module.without_compiled_loops():
        assert not runs_compiled_loops(torch.zeros(1), MANY_ROWS)
    assert runs_compiled_loops(torch.zeros(1), MANY_ROWS)


def test_without_numba_torch_computes_all(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # to import it is an ImportError
    has_loop_compiler.cache_clear()
    assert not has_loop_compiler()
    has_loop_compiler.cache_clear()


@pytest.mark.usefixtures("compiled_loops")
def test_where_numba_shall_not_compile_torch_computes_all(monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    has_loop_compiler.cache_clear()
    assert not has_loop_compiler()
    has_loop_compiler.cache_clear()


@pytest.mark.usefixtures("compiled_loops")
def test_loops_are_compiled_where_no_file_can_be_written(monkeypatch):
    import numba

    def njit(function, **options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(numba, "njit", njit)
    assert module.compile_loops(max) is max


@every
@pytest.mark.usefixtures("compiled_loops", "unchecked_types")
def test_a_search_of_many_rows_finds_the_same_with_loops_as_without(change, monkeypatch):
    model = untrained(change)
    with_loops = beam_search(TransformerDecoder(model), MANY_SOURCES, ALL_AT_ONCE, nbest=4)
    monkeypatch.setattr(module, "has_loop_compiler", lambda: False)
    without = beam_search(TransformerDecoder(model), MANY_SOURCES, ALL_AT_ONCE, nbest=4)
    for some, others in zip(with_loops, without, strict=True):
        assert [one.ids for one in some] == [one.ids for one in others]
        expected = [one.log_prob for one in others]
        assert [one.log_prob for one in some] == pytest.approx(expected, abs=ROUNDING)
