"""Compiled loops are taken where they are faster, and give what the plain operators give."""

import sys

import pytest
import torch
from tests.model.test_every_choice import every
from tests.model.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained

from transduce.machine import compiled_loops as module
from transduce.machine.compiled_loops import MANY_ROWS, has_loop_compiler, runs_compiled_loops
from transduce.model.decoding.decoder import TransformerDecoder
from transduce.model.decoding.inference_weights import prepare_for_inference
from transduce.search import beam_search
from transduce.settings.precision import InferencePrecision

ROUNDING = 1e-5  # of a sum of some ten log-probabilities in float32


def search():
    model = untrained()
    prepare_for_inference(model, InferencePrecision.FLOAT32)
    return beam_search(TransformerDecoder(model), MANY_SOURCES, ALL_AT_ONCE, nbest=4)


@pytest.mark.usefixtures("compiled_loops")
def test_many_rows_on_a_cpu_in_one_thread_take_loops(monkeypatch):
    x = torch.zeros(1)
    assert runs_compiled_loops(x, MANY_ROWS)
    assert not runs_compiled_loops(x, MANY_ROWS - 1)
    assert not runs_compiled_loops(x.to("meta"), MANY_ROWS)
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    assert not runs_compiled_loops(x, MANY_ROWS)


@pytest.mark.parametrize("error", [ModuleNotFoundError, ImportError])
def test_without_a_numba_that_can_be_imported_torch_computes_all(error, monkeypatch):
    """numba raises ImportError beside a numpy that is too new for it."""

    def refuse(name, *_):
        raise error(name)

    monkeypatch.setattr("torch.get_num_threads", lambda: 1)
    monkeypatch.setitem(sys.modules, "numba", None)
    if error is ImportError:
        monkeypatch.delitem(sys.modules, "numba")
        monkeypatch.setattr("builtins.__import__", refuse)
    assert not has_loop_compiler.__wrapped__()
    monkeypatch.undo()


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
