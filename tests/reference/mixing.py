"""The other layers of Table 1 as plain loops: a sentence, a position, a neighbour at a time."""

import torch


def convolution_by_hand(x, matrices, offsets):
    """Of one sentence [n d]: the sum of matrix times neighbour; outside of it there are zeros."""
    out = torch.zeros_like(x)
    for position in range(len(x)):
        for matrix, offset in zip(matrices, offsets, strict=True):
            if 0 <= position + offset < len(x):
                out[position] += matrix @ x[position + offset]
    return out


def separable_by_hand(x, along, matrix, offsets):
    """First every number along the sentence, then one matrix at each position."""
    return convolution_by_hand(x, [matrix @ torch.diag(row) for row in along], offsets)


def lstm_by_hand(x, weights, *, backwards=False):
    """The states h [n H] of one sentence, gate by gate; begins with zeros."""
    from_input, from_state, bias, other_bias = weights
    width = from_state.shape[1]
    h, c = x.new_zeros(width), x.new_zeros(width)
    states = {}
    for position in reversed(range(len(x))) if backwards else range(len(x)):
        gates = from_input @ x[position] + from_state @ h + bias + other_bias
        let_in, forget, new, let_out = gates.split(width)
        c = forget.sigmoid() * c + let_in.sigmoid() * new.tanh()
        h = states[position] = let_out.sigmoid() * c.tanh()
    return torch.stack([states[position] for position in range(len(x))])


def mixing_by_hand(mixing, x):
    """The same for one of our layers, by its weights."""
    if hasattr(mixing, "lstm"):
        sides = [
            lstm_by_hand(x, weights, backwards=number == 1)
            for number, weights in enumerate(mixing.lstm.all_weights)
        ]
        return torch.cat(sides, dim=1)
    matrix = mixing.projection.output.weight
    if hasattr(mixing.projection, "depthwise"):
        return separable_by_hand(x, mixing.projection.depthwise, matrix, mixing.offsets)
    return convolution_by_hand(x, matrix.split(x.shape[1], dim=1), mixing.offsets)
