"""Embeddings and softmax."""

import pytest
import torch
from tests.model.tiny import BEGIN, model_of, packed, sizes, states_of
from tests.paper.test_section_3_1_stacks import built

from transduce.packed import Batch, Packed
from transduce.paper.model import StepwiseTransformer
from transduce.paper.training import batch_loss
from transduce.settings import Architecture, Training

every_tie = pytest.mark.parametrize("tied", ["all", "target", "none"])


def test_one_matrix_serves_both_embeddings_and_the_map_before_the_softmax():
    model = built()
    assert model.source.weight is model.target.weight is model.output.weight
    assert model.output.weight.shape == (100, 512)
    assert model.output_projection.weight is model.output.weight
    assert Architecture().tie_embeddings == "all"


def test_two_vocabularies_share_the_matrix_of_the_target_only():
    model = built(Architecture(tie_embeddings="target"))
    assert model.source.weight is not model.target.weight
    assert model.output.weight is model.target.weight


def test_a_setting_keeps_all_three_apart():
    model = built(Architecture(tie_embeddings="none"))
    assert len({id(one.weight) for one in (model.source, model.target, model.output)}) == 3


@every_tie
def test_embeddings_are_multiplied_by_the_root_of_d_model(tied):
    """On the way in, in both embedding layers, whether they share a matrix or not."""
    model, words = model_of(sizes(tie_embeddings=tied)), packed([4])
    assert (model.source is model.target) == (tied == "all")
    for embedding, places in (
        (model.source, model.source_positions),
        (model.target, model.target_positions),
    ):
        by_hand = 8**0.5 * embedding.weight[words.ids] + places(words.compute_positions(), 4)
        torch.testing.assert_close(model.embed(words, embedding, places), by_hand)


@every_tie
@torch.no_grad()
def test_the_map_before_the_softmax_is_neither_scaled_nor_biased(tied):
    """In search, in training and where likelihoods are computed."""
    model = model_of(sizes(tie_embeddings=tied))
    states = torch.randn(3, 8, dtype=torch.float64)
    torch.testing.assert_close(model.logits(states), states @ model.output.weight.T)
    batch = Batch(packed([5, 3]), packed([2, 4]))
    states = states_of(model, batch.source, batch.target)[1]
    log_p = (states @ model.output.weight.T).log_softmax(dim=1)
    right = log_p.gather(1, batch.target.ids[:, None])[:, 0]
    torch.testing.assert_close(batch_loss(model, Training(), batch)[1], -right.sum())
    torch.testing.assert_close(model.target_log_probs(states, batch.target.ids), right)


@torch.no_grad()
def test_a_softmax_gives_the_probabilities_of_the_next_symbol():
    model, source, first = model_of(), packed([3]), Packed.from_sentences([[BEGIN]])
    decoder = StepwiseTransformer(model)
    log_p, _ = decoder.step(decoder.start(source.to_sentences()), first.ids)
    odds = model.logits(model.decode(first, model.encode(source))).exp()
    torch.testing.assert_close(log_p.exp(), odds / odds.sum())
