"""The Transformer in numpy, in float64: an independent twin for exported weights.

A stack is a dict with embedding, positions, layers and final_norm; a layer one with norms, matrices
as (weight, bias) and the names self, cross, inner, outer.
"""

import math

import numpy as np

EPSILON = 1e-6


def norm(x, gain_bias, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
    return scaled * gain_bias[0] + gain_bias[1]


def activate(x, name):
    return np.maximum(x, 0) if name == "relu" else x / (1 + np.exp(-x))


def linear(x, weight_bias):
    return x @ weight_bias[0].T + weight_bias[1]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(x, memory, part, heads, *, causal):
    q, k, v = linear(x, part["q"]), linear(memory, part["k"]), linear(memory, part["v"])
    outputs = []
    for one in range(heads):
        width = q.shape[1] // heads
        columns = slice(one * width, (one + 1) * width)
        scores = q[:, columns] @ k[:, columns].T / math.sqrt(width)
        if causal:
            scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        outputs.append(softmax(scores) @ v[:, columns])
    return linear(np.concatenate(outputs, axis=1), part["o"])


def run_stack(stack, ids, model, memory=None):
    d_model = stack["embedding"].shape[1]
    x = stack["embedding"][ids] * math.sqrt(d_model) + stack["positions"][: len(ids)]
    for layer in stack["layers"]:
        parts = [
            (
                "self",
                lambda y, at=layer: attend(
                    y, y, at["self"], model["heads"], causal=memory is not None
                ),
            )
        ]
        if memory is not None:
            parts.append(
                (
                    "cross",
                    lambda y, at=layer: attend(
                        y, memory, at["cross"], model["heads"], causal=False
                    ),
                )
            )
        parts.append(
            (
                "ff",
                lambda y, at=layer: linear(
                    activate(linear(y, at["inner"]), model.get("activation", "relu")), at["outer"]
                ),
            )
        )
        for name, run in parts:
            gain_bias = layer[f"{name}_norm"]
            if model["pre_norm"]:
                x = x + run(norm(x, gain_bias, model["epsilon"]))
            else:
                x = norm(x + run(x), gain_bias, model["epsilon"])
    return x if stack["final_norm"] is None else norm(x, stack["final_norm"], model["epsilon"])


def log_probs(model, source, target):
    """Return log P of every symbol after each prefix of BEGIN and the target's ids."""
    memory = run_stack(model["encoder"], source, model)
    states = run_stack(model["decoder"], [1, *target], model, memory)
    logits = linear(states, model["projection"])
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))
