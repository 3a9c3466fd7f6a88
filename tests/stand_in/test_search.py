"""Whole searches as a GPU would be asked for them: where the host waits, and in which precision."""

import pytest
import torch
from tests.search.draws import draw
from tests.stand_in.operators import ATTENTION
from tests.stand_in.searches import SEARCH, SOURCES, search_on_both

from transduce.paper.search import beam_search
from transduce.search.constraints import ConstrainedModel, ConstrainedSource, ForcedPrefix
from transduce.search.ensemble import Ensemble
from transduce.settings.search import Sampling

# the functions that make a host wait, and for what
STEP = "paper/search.py:retire_done"  # which sentences are done: once a step
RESULTS = "paper/search.py:collect_results"
NEW_SIZE = "paper/search.py:select_sentences"
KEPT = "fast/kv_cache.py:KVCache.keep_sentences"
FIRST = "fast/kv_cache.py:KVCache.reorder"  # the first step of new sentences
EVICTION = "fast/kv_cache.py:KVCache.find_live_slots"
# where the host may wait; what ends a sentence waits three times, whatever the number that end
RETIRING = {RESULTS, NEW_SIZE, KEPT}
ALLOWED = RETIRING | {STEP, FIRST, EVICTION}


def chosen(decoders):
    return decoders[0].model.operations


def search(decoders):
    return beam_search(decoders[0], SOURCES, SEARCH, nbest=2, operations=chosen(decoders))


def search_ensemble(decoders):
    ensemble = Ensemble(tuple(decoders))
    return beam_search(ensemble, SOURCES[:2], SEARCH, operations=chosen(decoders))


def sample(decoders):
    settings = {"samples": 2, "operations": chosen(decoders)}
    found = draw(decoders[0], SOURCES, SEARCH, Sampling(seed=3), **settings)
    return [found[n] for n in range(len(SOURCES))]


def force(decoders):
    sources = [ConstrainedSource(one, ForcedPrefix(tuple(one[:2]))) for one in SOURCES[:3]]
    decoder = ConstrainedModel(decoders[0])
    return beam_search(decoder, sources, SEARCH, operations=chosen(decoders))


WAYS = {"beams": search, "samples": sample, "forced": force}


def ids_of(found):
    return [[hypothesis.ids for hypothesis in one] for one in found]


@pytest.mark.parametrize("work", WAYS.values(), ids=WAYS)
def test_outputs_are_those_of_a_cpu_and_the_host_waits_only_at_named_points(work):
    plain, found, record = search_on_both(work)
    assert ids_of(found) == ids_of(plain)
    for one, other in zip(found, plain, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], rel=1e-4)
    waits = record.waits_by_caller()
    assert set(waits) <= ALLOWED
    assert all(waits.get(caller, 0) <= len(SOURCES) for caller in RETIRING)
    assert waits.get(EVICTION, 0) <= waits[STEP] / 2


def test_an_ensemble_waits_at_the_same_points():
    plain, found, record = search_on_both(search_ensemble, seeds=(3, 4))
    assert ids_of(found) == ids_of(plain)
    assert set(record.waits_by_caller()) <= ALLOWED


@pytest.fixture(scope="module")
def in_bfloat16():
    return search_on_both(search, "bfloat16")[2]


def test_in_bfloat16_all_products_are(in_bfloat16):
    """And the encoder attends by the kernel for sentences of varying length."""
    record = in_bfloat16
    for call in record.products():
        kinds = call.dtypes - ({torch.float32} if call.name in ATTENTION else set())
        assert kinds == {torch.bfloat16}, call
    assert {call.name for call in record.products()} >= ATTENTION - {"_varlen_attn_backward"}
    assert set(record.waits_by_caller()) <= ALLOWED


def test_no_operator_of_a_step_computes_in_float64_but_what_is_read(in_bfloat16):
    wide = {call.caller for call in in_bfloat16.calls if torch.float64 in call.dtypes}
    assert wide == {RESULTS, KEPT}
