"""Which searches use compiled loops follows from their size and process, not from the past."""

import sys

import pytest
from tests.fast.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained
from tests.fast.tiny import LOOPS

from transduce.equip import choose_search_operations, equip_for_long_searches
from transduce.fast import choose
from transduce.fast import choose as module
from transduce.fast.choose import SENTENCES_FOR_LOOPS, load_loops, try_loops
from transduce.fast.loss import log_softmax_by_loops_if_faster
from transduce.inference.outputs import search_sources
from transduce.paper.model import StepwiseTransformer
from transduce.paper.search import beam_search


@pytest.fixture
def untried():
    """As in a process that has not loaded loops yet; what the test finds is not kept."""
    try_loops.cache_clear()
    yield
    try_loops.cache_clear()


@pytest.fixture
def working(monkeypatch):
    """As where numba is installed, in one thread, without compiling anything."""
    monkeypatch.setattr(module, "try_loops", lambda: True)
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)


def uses_loops(operations):
    return operations.log_softmax is log_softmax_by_loops_if_faster


@pytest.mark.usefixtures("working")
def test_a_long_search_uses_loops_and_a_short_one_after_it_does_not():
    found, models = [], [untrained()]
    for sentences in (SENTENCES_FOR_LOOPS - 1, SENTENCES_FOR_LOOPS, SENTENCES_FOR_LOOPS - 1):
        found += choose_search_operations(models, sentences)
    assert [uses_loops(one) for one in found] == [False, True, False]
    assert not uses_loops(models[0].operations)


@pytest.mark.usefixtures("working")
def test_in_a_process_that_searches_for_long_every_search_uses_loops():
    models = [untrained(), untrained()]
    equip_for_long_searches(models)
    assert all(uses_loops(model.operations) for model in models)
    assert all(uses_loops(one) for one in choose_search_operations(models, 1))


@pytest.mark.usefixtures("working", "unchecked_types")
def test_equal_sentences_of_a_translator_count_once(monkeypatch):
    counted = []

    def search(decoder, sources, *__, **___):
        counted.append(uses_loops(decoder.operations))
        return enumerate(sources)

    monkeypatch.setattr(choose, "SENTENCES_FOR_LOOPS", 2)
    monkeypatch.setattr("transduce.inference.outputs.search_in_memory", search)
    for sources in ([MANY_SOURCES[0]] * 3, MANY_SOURCES[:2]):
        search_sources([untrained()], sources, ALL_AT_ONCE, 1)
    assert counted == [False, True]


@pytest.mark.usefixtures("untried")
def test_without_numba_torch_computes_all(monkeypatch):
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)
    monkeypatch.setitem(sys.modules, "numba", None)  # to import it is an ImportError
    assert not load_loops()


@pytest.mark.usefixtures("untried", "compiled_loops")
def test_where_numba_shall_not_compile_torch_computes_all(monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert not load_loops()


@pytest.mark.usefixtures("untried", "compiled_loops")
@pytest.mark.parametrize("error", [OSError("no space left"), EOFError(), TypeError("unknown")])
def test_where_compiling_fails_torch_computes_all(error, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(module, "run_loops_once", fail)
    assert not load_loops()


def test_in_several_threads_nothing_is_loaded(monkeypatch):
    tried = []
    monkeypatch.setattr(module, "try_loops", lambda: tried.append(1))
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    assert not load_loops()
    assert not tried


@pytest.mark.usefixtures("compiled_loops", "unchecked_types")
def test_a_search_compiles_nothing_after_its_loops_were_tried():
    assert load_loops()

    from transduce.fast.search_loops import attend, fill_highest_sums, log_softmax_rows

    loops = attend, log_softmax_rows, fill_highest_sums
    before = [len(loop.signatures) for loop in loops]
    for model in (untrained(), untrained().bfloat16()):
        beam_search(StepwiseTransformer(model, LOOPS), MANY_SOURCES, ALL_AT_ONCE)
    assert [len(loop.signatures) for loop in loops] == before
    assert all(before)
