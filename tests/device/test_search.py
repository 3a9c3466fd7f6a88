"""Searches on the GPU at hand beside the same on a CPU, and with too little memory."""

from dataclasses import replace

import pytest
import torch
from tests.inference.random_models import WORDS
from tests.model.tiny import sizes
from tests.search.draws import draw
from tests.stand_in.searches import SEARCH, SOURCES, decoder_of

from transduce.equip import adapt_strategy
from transduce.fast.choose import equip_for_inference
from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.operations import run_layers
from transduce.paper.search import beam_strategy
from transduce.search.bounds import search_in_memory
from transduce.settings import Search
from transduce.settings.search import InferencePrecision, Sampling

pytestmark = pytest.mark.device


def search_by(decoder, sources, search, nbest=1):
    """Return each source's best hypotheses, found as commands do."""
    operations = decoder.model.operations
    strategy = adapt_strategy(
        beam_strategy(decoder, sources, search, nbest, operations=operations),
        search,
        decoder.device,
    )
    found = dict(search_in_memory(decoder, sources, search, strategy))
    return [found[index] for index in range(len(sources))]


def draw_on(device):
    """Return the samples of all sources on a device."""
    decoder = decoder_of("float32", device)[0]
    operations = decoder.model.operations
    return draw(decoder, SOURCES, SEARCH, Sampling(seed=3), samples=2, operations=operations)


def ids_of(found):
    return [[hypothesis.ids for hypothesis in one] for one in found]


def test_outputs_and_scores_are_those_of_a_cpu():
    ours, plain = (
        search_by(decoder_of("float32", device)[0], SOURCES, SEARCH, nbest=2)
        for device in ("cuda", "cpu")
    )
    assert ids_of(ours) == ids_of(plain)
    for one, other in zip(ours, plain, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], rel=1e-4)


def test_in_bfloat16_scores_are_near_those_in_float32():
    ours, plain = (
        search_by(decoder_of(precision, "cuda")[0], SOURCES, SEARCH)
        for precision in ("bfloat16", "float32")
    )
    for one, other in zip(ours, plain, strict=True):
        assert one[0].score == pytest.approx(other[0].score, rel=0.05)


def test_samples_are_those_of_a_cpu():
    ours, plain = draw_on("cuda"), draw_on("cpu")
    assert {n: ids_of([h]) for n, h in ours.items()} == {n: ids_of([h]) for n, h in plain.items()}


def test_a_batch_that_memory_cannot_hold_is_halved_until_it_fits():
    sources = [[2 + n % 7, 3, 4, 0] for n in range(2_048)]
    wide = Search(beam=4, extra_length=20, batch_size=2_048)
    decoder = decoder_of("float32", "cuda")[0]
    plain = search_by(decoder, sources[:7], Search(beam=4, extra_length=20))
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    held = torch.cuda.memory_reserved()
    torch.cuda.set_per_process_memory_fraction((held + 24e6) / total)
    refused = torch.cuda.memory_stats()["num_ooms"]
    try:
        found = search_by(decoder, sources, wide)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert ids_of(found[:7]) == ids_of(plain)
    assert torch.cuda.memory_stats()["num_ooms"] > refused


@pytest.mark.parametrize("beam", [1, 4])
def test_searches_by_graphs_repeat_and_have_the_scores_of_plain_layers(beam):
    """Sentences end at different steps, so a batch shrinks, and graphs of several sizes run."""
    graphs, plain, again = (
        search_by(converted_decoder(by_graphs=by_graphs), SOURCES, replace(SEARCH, beam=beam))
        for by_graphs in (True, False, True)
    )
    assert ids_of(graphs) == ids_of(again)
    for one, other in zip(graphs, plain, strict=True):
        assert one[0].score == pytest.approx(other[0].score, rel=0.02)


def converted_decoder(*, by_graphs):
    """A decoder in bfloat16 whose widths the kernels take."""
    model = build_transformer(sizes(d_model=32, d_k=16, d_v=16), len(WORDS), len(WORDS), 5).cuda()
    equip_for_inference(model.eval(), InferencePrecision("bfloat16"))
    assert model.operations.run_layers is not run_layers
    if not by_graphs:
        model.operations = replace(model.operations, run_layers=run_layers)
    return StepwiseTransformer(model)
