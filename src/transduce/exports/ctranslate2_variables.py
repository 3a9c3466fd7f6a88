"""A model's weights under the names that CTranslate2 gives them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from transduce.exports.ctranslate2_file import Variables
from transduce.exports.quantise import quantise_rows
from transduce.exports.weights import Affine, Array, Attention, Layer, Stack, Weights

Named = Iterator[tuple[str, np.ndarray]]


def name_variables(weights: Weights, *, precision: str) -> Variables:
    """Return a model's arrays by CTranslate2's names; precision "int8" quantises its matrices."""
    found = dict(name_stack("encoder", weights.encoder, weights))
    found |= dict(name_stack("decoder", weights.decoder, weights))
    embedding = found.pop("encoder/embeddings/weight")
    # CTranslate2 numbers the source's tables, because a source with word features has several.
    found["encoder/embeddings_0/weight"] = embedding
    found["decoder/projection/weight"] = weights.projection
    if precision == "int8":
        quantise_matrices(found)
    switches = {
        "encoder": ("embeddings_merge", "multi_query_attention"),
        "decoder": (
            "alibi",
            "alibi_use_positive_positions",
            "scale_alibi",
            "start_from_zero_embedding",
        ),
    }
    found |= {f"{scope}/{one}": scalar(0) for scope, names in switches.items() for one in names}
    found["decoder/alignment_layer"] = scalar(-1, np.int16)
    found["decoder/alignment_heads"] = scalar(1, np.int16)
    return found


def scalar(value: int, kind: type[np.signedinteger[Any]] = np.int8) -> np.ndarray:
    """Return an integer as a numpy array without dimensions, of the type `kind`."""
    return np.array(value, dtype=kind)


def quantise_matrices(variables: Variables) -> None:
    """Replace each weight matrix in place with int8 and row scales; shared arrays stay shared."""
    known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for name, value in list(variables.items()):
        if name.endswith("/weight"):
            if id(value) not in known:
                known[id(value)] = quantise_rows(value)
            variables[name], variables[f"{name}_scale"] = known[id(value)]


def name_stack(scope: str, stack: Stack, weights: Weights) -> Named:
    """Yield name and array of each weight and setting of a stack; names begin with `scope`."""
    yield f"{scope}/num_heads", scalar(weights.heads, np.int16)
    yield f"{scope}/pre_norm", scalar(int(stack.final_norm is not None))
    yield f"{scope}/scale_embeddings", scalar(1)
    yield f"{scope}/activation", scalar(0)  # max(0, x)
    yield f"{scope}/embeddings/weight", stack.embedding
    yield f"{scope}/position_encodings/encodings", stack.positions
    if stack.final_norm is not None:
        yield from name_norm(f"{scope}/layer_norm", stack.final_norm)
    for number, layer in enumerate(stack.layers):
        yield from name_layer(f"{scope}/layer_{number}", layer, weights.head_width)


def name_layer(scope: str, layer: Layer, head_width: int) -> Named:
    """Yield name and array of each weight of one layer; all names begin with `scope`."""
    own, cross = layer.self_attention, layer.cross_attention
    joined = np.concatenate([own.query, own.key, own.value])
    yield from name_attention(f"{scope}/self_attention", [joined], own, head_width)
    if cross is not None:
        matrices = [cross.query, np.concatenate([cross.key, cross.value])]
        yield from name_attention(f"{scope}/attention", matrices, cross, head_width)
    yield from name_linear(f"{scope}/ffn/linear_0", layer.inner)
    yield from name_linear(f"{scope}/ffn/linear_1", layer.outer)
    yield from name_norm(f"{scope}/ffn/layer_norm", layer.feed_forward_norm)


def name_attention(
    scope: str, matrices: list[Array], attention: Attention, head_width: int
) -> Named:
    """Yield name and array of the projections `matrices`, the output projection and the norm."""
    for number, matrix in enumerate([*matrices, attention.output]):
        yield f"{scope}/linear_{number}/weight", matrix
    yield f"{scope}/head_dim", scalar(head_width, np.int32)
    yield from name_norm(f"{scope}/layer_norm", attention.norm)


def name_linear(scope: str, linear: Affine) -> Named:
    """Yield name and array of a linear map's matrix and bias; both names begin with `scope`."""
    yield f"{scope}/weight", linear.weight
    yield f"{scope}/bias", linear.bias


def name_norm(scope: str, norm: Affine) -> Named:
    """Yield name and array of a norm's gain and bias; both names begin with `scope`."""
    yield f"{scope}/gamma", norm.weight
    yield f"{scope}/beta", norm.bias
