"""Decoding by recomputing: each step has the log-probabilities of the whole pass."""

import pytest
import torch
from tests.fast.test_inference_weights import require_layout
from tests.model.tiny import BEGIN, model_of, sentences, sizes

from transduce.fast.choose import equip_for_inference
from transduce.fast.inference_weights import MklLinear, OneDnnLinear, replace_linear_modules
from transduce.mixing import RecomputingModel, build_stepwise_model
from transduce.packed import Packed
from transduce.paper.model import StepwiseTransformer
from transduce.settings.architecture import MIXINGS
from transduce.settings.search import InferencePrecision

LAYOUTS = {"oneDNN": OneDnnLinear, "MKL": MklLinear}


@pytest.mark.parametrize("mixing", MIXINGS)
@torch.no_grad()
def test_rows_that_join_move_and_leave_have_the_log_p_of_the_whole_pass(mixing):
    model = model_of(sizes(mixing=mixing))
    first, second = sentences([4, 7]), sentences([2], seed=3)
    decoder = RecomputingModel(model)
    _, state = decoder.step(decoder.start(first), torch.tensor([BEGIN, BEGIN]))
    state = decoder.reorder(state, torch.tensor([1, 1, 0]))
    state = decoder.concatenate(state, decoder.start(second))
    found, state = decoder.step(state, torch.tensor([5, 6, 7, BEGIN]))
    written = [[BEGIN, 5], [BEGIN, 6], [BEGIN, 7], [BEGIN]]
    assert state.targets == written
    sources = Packed.from_sentences([first[1], first[1], first[0], second[0]])
    inputs = Packed.from_sentences(written)
    states = model.decode(inputs, model.encode(sources)).split(list(inputs.lengths))
    expected = model.logits(torch.stack([one[-1] for one in states])).log_softmax(dim=1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(
    ("layout", "near"),
    [("float32", 1e-4), ("bfloat16", 0.1), ("int8", 0.2), ("oneDNN", 1e-4), ("MKL", 1e-4)],
)
@torch.no_grad()
def test_every_layer_decodes_with_the_weights_of_a_search(mixing, layout, near):
    model = model_of(sizes(mixing=mixing)).float()
    source, written = sentences([5, 3]), torch.tensor([BEGIN, BEGIN])
    expected, _ = RecomputingModel(model).step(RecomputingModel(model).start(source), written)
    if layout in LAYOUTS:
        require_layout(LAYOUTS[layout])
        replace_linear_modules(model, lambda one, _: LAYOUTS[layout](one))
    else:
        equip_for_inference(model, InferencePrecision(layout))
    decoder = RecomputingModel(model)
    found, _ = decoder.step(decoder.start(source), written)
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=near)


def test_only_self_attention_has_a_cache():
    assert isinstance(build_stepwise_model(model_of()), StepwiseTransformer)
    assert isinstance(build_stepwise_model(model_of(sizes(mixing="recurrent"))), RecomputingModel)
