"""Decoding by recomputing: each step has the log-probabilities of the whole pass."""

import pytest
import torch
from tests.model.tiny import BEGIN, model_of, sentences, sizes

from transduce.mixing import build_model_decoder
from transduce.mixing.decoder import RecomputingDecoder
from transduce.packed import Packed
from transduce.paper.model import TransformerDecoder
from transduce.settings.architecture import MIXINGS


@pytest.mark.parametrize("mixing", MIXINGS)
@torch.no_grad()
def test_rows_that_join_move_and_leave_have_the_log_p_of_the_whole_pass(mixing):
    model = model_of(sizes(mixing=mixing))
    first, second = sentences([4, 7]), sentences([2], seed=3)
    decoder = RecomputingDecoder(model)
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


def test_only_self_attention_has_a_cache():
    assert isinstance(build_model_decoder(model_of()), TransformerDecoder)
    assert isinstance(build_model_decoder(model_of(sizes(mixing="recurrent"))), RecomputingDecoder)
