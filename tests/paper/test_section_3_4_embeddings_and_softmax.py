"""Embeddings and softmax."""

import torch
from tests.model.tiny import BEGIN, model_of, packed, sizes
from tests.paper.test_section_3_1_stacks import built

from transduce.packed import Packed
from transduce.paper.model import TransformerDecoder
from transduce.settings import Architecture


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


def test_embeddings_are_multiplied_by_the_root_of_d_model():
    """On the way in, in both embedding layers."""
    model, words = model_of(), packed([4])
    for embedding, places in (
        (model.source, model.source_positions),
        (model.target, model.target_positions),
    ):
        by_hand = 8**0.5 * embedding.weight[words.ids] + places(words.compute_positions(), 4)
        torch.testing.assert_close(model.embed(words, embedding, places), by_hand)


def test_the_map_before_the_softmax_is_neither_scaled_nor_biased():
    model = model_of(sizes(tie_embeddings="none"))
    states = torch.randn(3, 8, dtype=torch.float64)
    torch.testing.assert_close(model.logits(states), states @ model.output.weight.T)
    assert not model.logits(torch.zeros_like(states)).any()


@torch.no_grad()
def test_a_softmax_gives_the_probabilities_of_the_next_symbol():
    model, source, first = model_of(), packed([3]), Packed.from_sentences([[BEGIN]])
    decoder = TransformerDecoder(model)
    log_p, _ = decoder.step(decoder.start(source.to_sentences()), first.ids)
    odds = model.logits(model.decode(first, model.encode(source))).exp()
    torch.testing.assert_close(log_p.exp(), odds / odds.sum())
