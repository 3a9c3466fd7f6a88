"""A process that lasts loads the loops of a search at its start, and compiles none later."""

import pytest
import torch
from tests.model.test_layer_graph import ALL_AT_ONCE, MANY_SOURCES, untrained

from transduce.inference.search_loops import load_search_loops
from transduce.machine.compiled_loops import MANY_ROWS, countdown, runs_compiled_loops
from transduce.model.decoding.decoder import TransformerDecoder
from transduce.search import beam_search


@pytest.mark.usefixtures("compiled_loops", "unchecked_types")
def test_a_search_compiles_nothing_after_its_loops_were_loaded(monkeypatch):
    monkeypatch.setattr(countdown, "left", 9)
    load_search_loops()
    assert runs_compiled_loops(torch.zeros(1), MANY_ROWS)

    from transduce.model.decoding.attention_loops import attend
    from transduce.model.decoding.softmax_loops import log_softmax_rows
    from transduce.search.topk_loops import fill_highest_sums

    loops = attend, log_softmax_rows, fill_highest_sums
    before = [len(loop.signatures) for loop in loops]
    beam_search(TransformerDecoder(untrained()), MANY_SOURCES, ALL_AT_ONCE)
    beam_search(TransformerDecoder(untrained().bfloat16()), MANY_SOURCES, ALL_AT_ONCE)
    assert [len(loop.signatures) for loop in loops] == before
    assert all(before)


@pytest.mark.usefixtures("compiled_loops")
def test_with_several_threads_no_loops_are_loaded(monkeypatch):
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    monkeypatch.setattr("transduce.machine.compiled_loops.has_loop_compiler", pytest.fail)
    load_search_loops()
