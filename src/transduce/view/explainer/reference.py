"""A model's intermediates for one sentence, by PyTorch, under the names of an explainer's page.

An opened page compares some of them with its own; tests compare all.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.packed import Packed
from transduce.paper.model import Residual, Transformer
from transduce.paper.operations import (
    AttentionMask,
    BatchAttention,
    BuildAttention,
    Operations,
)
from transduce.vocabulary import BEGIN

# T query tokens · S key tokens · H heads · K = d_k

MOST_SAMPLED = 210  # intermediates whose numbers a page holds, at most 90 bytes for each
Rows = dict[str, Tensor]  # name -> a matrix with a row for each position
Hook = Callable[[nn.Module, tuple[Any, ...], Tensor], None]


@torch.no_grad()
def trace_model(model: Transformer, source: Sequence[int], output: Sequence[int]) -> Rows:
    """Return all named intermediates of a model for source ids and an output that ends with END.

    Names are those of the page, such as "encoder.1.self.q", "decoder.2.cross.weights.3", "logits".
    """
    found: Rows = {}
    model.eval()
    with record_stack(model, "encoder", found) as operations:
        memory = model.encode(Packed.from_sentences([source]), operations)
    with record_stack(model, "decoder", found) as operations:
        inputs = Packed.from_sentences([[BEGIN, *output[:-1]]])
        states = model.decode(inputs, memory, operations)
    found["encoder.output"], found["decoder.output"] = memory.states, states
    found["logits"] = model.logits(states)
    found["probabilities"] = found["logits"].softmax(dim=1)
    return found


@contextmanager
def record_stack(model: Transformer, stack: str, found: Rows) -> Iterator[Operations]:
    """Give operations; record in `found` what the `stack` "encoder" or "decoder" computes."""
    with ExitStack() as hooks:
        for module, hook in list_hooks(model, stack, found):
            hooks.enter_context(module.register_forward_hook(hook))
        yield replace(model.operations, build_attention=build_recording_attention(found, stack))


def list_hooks(model: Transformer, stack: str, found: Rows) -> Iterator[tuple[nn.Module, Hook]]:
    """Yield (module, hook) of a stack's embedding, positions, sub-layers, residuals and norms."""
    side = "source" if stack == "encoder" else "target"

    def record_position(_: nn.Module, _inputs: tuple[Any, ...], rows: Tensor) -> None:
        found[f"{side}.position"] = rows
        found[f"{side}.input"] = found[f"{side}.embedding"] + rows

    yield getattr(model, side), build_hook(found, f"{side}.embedding")
    yield getattr(model, f"{side}_positions"), record_position
    for number, layer in enumerate(getattr(model, stack), start=1):
        name = f"{stack}.{number}"
        yield from list_attention_hooks(f"{name}.self", layer.self_attention, found)
        yield from list_residual_hooks(f"{name}.self", layer.add_self, found)
        if stack == "decoder":
            yield from list_attention_hooks(f"{name}.cross", layer.cross_attention, found)
            yield from list_residual_hooks(f"{name}.cross", layer.add_cross, found)
        hook = build_hook(found, f"{name}.ff.output", given=f"{name}.ff.inner")
        yield layer.feed_forward.outer, hook
        yield from list_residual_hooks(f"{name}.ff", layer.add_feed_forward, found)


def list_attention_hooks(
    name: str,
    attention: Any,  # noqa: ANN401 - self- or cross-attention
    found: Rows,
) -> Iterator[tuple[nn.Module, Hook]]:
    """Yield (module, hook) of W^O and the q, k, v projections; hooks store values in `found`."""
    yield attention.output, build_hook(found, f"{name}.output", given=f"{name}.joined")
    names = [f"{name}.{letter}" for letter in "qkv"]
    if hasattr(attention, "query"):
        yield attention.query, build_hook(found, names[0])
        yield attention.key_value, build_hook(found, *names[1:], widths=attention.widths)
    else:
        yield attention.query_key_value, build_hook(found, *names, widths=attention.widths)


def list_residual_hooks(
    name: str, residual: Residual, found: Rows
) -> Iterator[tuple[nn.Module, Hook]]:
    """Yield (module, hook) to store a residual's sum and norm in `found` as NAME.sum, NAME.norm."""
    given = "" if residual.is_pre else f"{name}.sum"
    yield residual.norm, build_hook(found, f"{name}.norm", given=given)
    if residual.is_pre:
        yield residual, build_hook(found, f"{name}.sum")


def build_hook(
    found: Rows, *names: str, given: str = "", widths: Sequence[int] | None = None
) -> Hook:
    """Return a hook that records a module's result as `names`, and its first input as `given`.

    With `widths` the result's columns are split into parts of these widths, one for each name.
    """

    def hook(_: nn.Module, inputs: tuple[Any, ...], rows: Tensor) -> None:
        if given:
            found[given] = inputs[0].clone()
        parts = [rows] if widths is None else rows.split(list(widths), dim=1)
        found.update(zip(names, parts, strict=True))

    return hook


def build_recording_attention(found: Rows, stack: str) -> BuildAttention:
    """Return a builder of attention functions that store heads' scores and weights in `found`."""
    layers = Counter[str]()  # how many layers have computed each kind of attention

    def build(_queries: Sequence[int], _keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        def attend(
            q: Float[Tensor, "T H K"],
            k: Float[Tensor, "S H K"],
            v: Float[Tensor, "S H d_v"],
            dropout: float = 0.0,  # noqa: ARG001 - the model does not train
        ) -> Tensor:
            kind = "self" if mask.causal or stack == "encoder" else "cross"
            layers[kind] += 1
            allowed = mask.compute_allowed(torch.arange(len(q)), torch.arange(len(k)))
            scores = torch.einsum("thk,shk->hts", q, k) / math.sqrt(q.shape[-1])
            scores = scores.masked_fill(~allowed, -math.inf)
            weights = scores.softmax(dim=-1)
            for head, (some, shares) in enumerate(zip(scores, weights, strict=True), start=1):
                name = f"{stack}.{layers[kind]}.{kind}"
                found[f"{name}.scores.{head}"], found[f"{name}.weights.{head}"] = some, shares
            return torch.einsum("hts,shv->thv", weights, v)

        return attend

    return build


def sample_rows(rows: Mapping[str, Tensor]) -> dict[str, list[float]]:
    """Return, by name, up to four numbers of the last row, for at most 210 intermediates.

    Scores are left out. Of more intermediates, 210 are taken at equal distances, with both ends.
    They suffice, because an error in one intermediate changes all that are computed from it.
    """
    names = [name for name in rows if ".scores." not in name]
    count = min(MOST_SAMPLED, len(names))
    chosen = [names[i * (len(names) - 1) // max(1, count - 1)] for i in range(count)]
    sampled = dict[str, list[float]]()
    for name in chosen:
        row = rows[name][-1]
        spread = row[:: math.ceil(len(row) / 4)].tolist()
        sampled[name] = [float(f"{x:.7g}") for x in spread]
    return sampled
