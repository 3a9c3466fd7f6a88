"""Encoder and decoder stacks."""

import torch
from tests.model.tiny import BEGIN, SYMBOLS, model_of, packed, sizes, states_of
from torch import nn

from transduce.packed import Batch, Packed
from transduce.paper.model import (
    CrossAttention,
    FeedForward,
    Residual,
    SelfAttention,
    Transformer,
)
from transduce.paper.operations import FULL_ATTENTION, AttentionMask, build_padded_attention
from transduce.paper.training import batch_loss
from transduce.settings import Architecture, Training


def built(architecture=None):
    """The base model itself, weightless."""
    with torch.device("meta"):
        return Transformer(architecture or Architecture(), 100, 100)


def test_each_stack_has_six_identical_layers():
    """N = 6 layers in the encoder and in the decoder."""
    model = built()
    for stack in (model.encoder, model.decoder):
        assert len(stack) == 6
        shapes = [[tuple(weight.shape) for weight in layer.parameters()] for layer in stack]
        assert all(layer == shapes[0] for layer in shapes)
    layers = [*model.encoder, *model.decoder]
    tensors = [id(weight) for layer in layers for weight in layer.parameters()]
    assert len(set(tensors)) == len(tensors), "identical in form; the weights are their own"


def test_an_encoder_layer_has_two_sub_layers_and_a_decoder_layer_three():
    """Self-attention, feed-forward; in the decoder attention to the encoder's output between."""
    model = built()
    for layer, expected in (
        (model.encoder[0], [SelfAttention, FeedForward]),
        (model.decoder[0], [SelfAttention, CrossAttention, FeedForward]),
    ):
        assert [type(one) for one in layer.children() if type(one) is not Residual] == expected
        assert len(norms_of(layer)) == len(expected)


def test_every_sub_layer_computes_once_in_its_place_and_decoders_read_the_encoder_s_output():
    model, called = model_of(), []
    for layer in (*model.encoder, *model.decoder):
        for one in layer.children():
            if type(one) is not Residual:
                one.register_forward_hook(lambda own, given, _: called.append((type(own), given)))
    memory = model.encode(packed([4]))
    model.decode(packed([3]), memory)
    assert [kind for kind, _ in called] == [
        *[SelfAttention, FeedForward] * 2,
        *[SelfAttention, CrossAttention, FeedForward] * 2,
    ]
    assert all(given[1] is memory.states for kind, given in called if kind is CrossAttention)


def norms_of(module):
    return [one for one in module.modules() if isinstance(one, nn.LayerNorm)]


def test_every_sub_layer_and_the_embeddings_give_d_model_numbers():
    """d_model = 512 everywhere, so that all can be added: sub-layers, sums, both embeddings."""
    model, widths = Transformer(Architecture(layers=1), SYMBOLS, SYMBOLS), []
    sub_layers_and_sums = [*model.encoder[0].children(), *model.decoder[0].children()]
    embeddings = [model.source, model.source_positions, model.target_positions]
    for part in (*sub_layers_and_sums, *embeddings):
        part.register_forward_hook(lambda _, __, out: widths.append(out.shape[1]))
    states_of(model, packed([3, 2]), packed([2, 4]))
    assert widths == [512] * (2 * (2 + 3) + 4)


def test_a_sub_layer_is_added_and_then_normalised():
    """LayerNorm(x + Sublayer(x)): the norm stands after the sum, here written out by hand."""
    model = model_of(sizes(layers=1))
    source = packed([5, 3])
    attend = build_padded_attention(source.lengths, source.lengths, FULL_ATTENTION)
    x = model.embed(source, model.source, model.source_positions)
    layer = model.encoder[0]
    by_hand = normalised(x + layer.self_attention(x, attend), layer.add_self.norm)
    by_hand = normalised(by_hand + layer.feed_forward(by_hand), layer.add_feed_forward.norm)
    memory = model.encode(source)
    torch.testing.assert_close(memory.states, by_hand, rtol=0, atol=1e-12)

    target = packed([2, 4]).shift_right(BEGIN)
    attend = build_padded_attention(target.lengths, target.lengths, AttentionMask(causal=True))
    attend_to_source = build_padded_attention(target.lengths, source.lengths, FULL_ATTENTION)
    x, layer = model.embed(target, model.target, model.target_positions), model.decoder[0]
    x = normalised(x + layer.self_attention(x, attend), layer.add_self.norm)
    read = layer.cross_attention(x, memory.states, attend_to_source)
    x = normalised(x + read, layer.add_cross.norm)
    x = normalised(x + layer.feed_forward(x), layer.add_feed_forward.norm)
    torch.testing.assert_close(model.decode(target, memory), x, rtol=0, atol=1e-12)


def normalised(x, norm):
    """Ba et al.: less the mean, over the deviation of a position's numbers; gain and bias."""
    centred = x - x.mean(dim=1, keepdim=True)
    deviation = (centred.square().mean(dim=1, keepdim=True) + 1e-6).sqrt()
    return centred / deviation * norm.weight + norm.bias


def test_nothing_stands_above_the_last_layer():
    """No further norm: the states that leave a stack are those that leave its last sub-layer."""
    model = model_of()
    last = []
    for layer in (model.encoder[-1], model.decoder[-1]):
        layer.add_feed_forward.register_forward_hook(lambda _, __, out: last.append(out))
    memory = model.encode(packed([4, 2]))
    states = model.decode(packed([3, 6]).shift_right(BEGIN), memory)
    assert memory.states is last[0]
    assert states is last[1]
    assert len(norms_of(model)) == 2 * 2 + 2 * 3, "one norm a sub-layer and no other"


def test_the_decoder_gets_the_output_shifted_right_by_one():
    """What predicts a symbol knows those before it and not the symbol itself."""
    model, target, embedded = model_of(), packed([4, 2]), []
    model.target.register_forward_pre_hook(lambda _, given: embedded.append(given[0]))
    batch_loss(model, Training(), Batch(packed([3, 5]), target))
    first, second = target.to_sentences()
    inputs = Packed(embedded[-1], target.lengths)
    assert inputs.to_sentences() == [[BEGIN, *first[:-1]], [BEGIN, *second[:-1]]]
