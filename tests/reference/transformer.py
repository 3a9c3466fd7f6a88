"""torch.nn.Transformer as the paper's model: no biases in attention, no end norms after post-norm.

It works on rectangles with padding, so everything that this project packs is independent here.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

# B sentences · L their longest · d = d_model = heads · d_k = heads · d_v


def twin_of(model):
    """A torch.nn.Transformer in float64 with the same weights."""
    sizes = model.sizes
    assert sizes.d_model == sizes.heads * sizes.d_k == sizes.heads * sizes.d_v
    assert sizes.dropout == sizes.attention_dropout == sizes.feed_forward_dropout == 0
    kind = {
        "d_model": sizes.d_model,
        "nhead": sizes.heads,
        "dim_feedforward": sizes.d_ff,
        "dropout": 0.0,
        "layer_norm_eps": 1e-6,
        "batch_first": True,
        "norm_first": sizes.norm == "pre",
        "dtype": torch.float64,
    }
    twin = nn.Transformer(
        custom_encoder=nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**kind),
            sizes.encoder_depth,
            norm=end(sizes),
            enable_nested_tensor=False,
        ),
        custom_decoder=nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**kind), sizes.decoder_depth, norm=end(sizes)
        ),
        **kind,
    )
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()  # among them the biases of attention, which stay so
        for its, ours in pairs(twin, model):
            its.copy_(ours)
    return twin


def end(sizes):
    """The norm at the top of a stack, which only pre-norm has."""
    return nn.LayerNorm(sizes.d_model, eps=1e-6).double() if sizes.norm == "pre" else None


def pairs(twin, model, of=lambda tensor: tensor):
    """Its weights beside ours, (its, ours); `of` may ask for their gradients instead."""
    for its, ours in zip(twin.encoder.layers, model.encoder, strict=True):
        yield of(its.self_attn.in_proj_weight), of(ours.self_attention.query_key_value.weight)
        yield of(its.self_attn.out_proj.weight), of(ours.self_attention.output.weight)
        yield from norms([(its.norm1, ours.add_self), (its.norm2, ours.add_feed_forward)], of)
        yield from feed_forwards(its, ours, of)
    for its, ours in zip(twin.decoder.layers, model.decoder, strict=True):
        cross = ours.cross_attention
        yield of(its.self_attn.in_proj_weight), of(ours.self_attention.query_key_value.weight)
        yield of(its.self_attn.out_proj.weight), of(ours.self_attention.output.weight)
        together = torch.cat([of(cross.query.weight), of(cross.key_value.weight)])
        yield of(its.multihead_attn.in_proj_weight), together
        yield of(its.multihead_attn.out_proj.weight), of(cross.output.weight)
        yield from norms([(its.norm1, ours.add_self), (its.norm2, ours.add_cross)], of)
        yield from norms([(its.norm3, ours.add_feed_forward)], of)
        yield from feed_forwards(its, ours, of)
    for its, ours in (
        (twin.encoder, model.encoder_final_norm),
        (twin.decoder, model.decoder_final_norm),
    ):
        if its.norm is not None:
            yield of(its.norm.weight), of(ours.weight)
            yield of(its.norm.bias), of(ours.bias)


def norms(both, of):
    """Gain and bias of each norm."""
    for its, ours in both:
        yield of(its.weight), of(ours.norm.weight)
        yield of(its.bias), of(ours.norm.bias)


def feed_forwards(its, ours, of):
    """Both maps of equation 2."""
    for theirs, our in (
        (its.linear1, ours.feed_forward.inner),
        (its.linear2, ours.feed_forward.outer),
    ):
        yield of(theirs.weight), of(our.weight)
        yield of(theirs.bias), of(our.bias)


def run_twin(twin, source, target):
    """States of both stacks [S d], [T d], of embedded sentences: lists of [length d]."""
    x, y = (pad_sequence(side, batch_first=True) for side in (source, target))  # [B L d]
    source_padding, target_padding = padding(source), padding(target)
    length = y.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool).triu(1)
    memory = twin.encoder(x, src_key_padding_mask=source_padding)
    states = twin.decoder(
        y,
        memory,
        tgt_mask=causal,
        tgt_key_padding_mask=target_padding,
        memory_key_padding_mask=source_padding,
    )
    return memory[~source_padding], states[~target_padding]


def padding(sentences):
    """True at the places past a sentence's end."""
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    return torch.arange(int(lengths.max()))[None, :] >= lengths[:, None]
