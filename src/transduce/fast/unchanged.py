"""Comparison of plain and fast forms, so that a changed formula of `paper/` is computed as changed

Every part of `paper/` that has a faster form is called once in a process with a few numbers, on the
CPU, and so is the faster form, or for a module the same formula by torch. Where the results differ,
the plain part stays in use. Dropout is compared with the same random numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from transduce.fast.blocks import BucketedAttention
from transduce.fast.highest_sums import highest_sums
from transduce.fast.kv_cache import start_cache
from transduce.fast.loss import log_softmax_in_place, smoothed_loss, target_log_probs
from transduce.paper.model import AddDropout, Dropout, LayerNorm, Linear, Residual
from transduce.paper.operations import (
    PLAIN,
    AttentionMask,
    BatchAttention,
    Cache,
    Operations,
    is_any,
    keep_batch,
    run_layers,
)
from transduce.settings import Architecture

Try = Callable[[], Sequence[Tensor]]  # calls a function; returns its results
ReadResult = Callable[[Any], Sequence[Tensor]]  # lists the tensors of a function's result


def replace_unless_changed(operations: Operations, **faster: object) -> Operations:
    """Return operations with functions replaced by `faster`, except those changed in `paper/`."""
    changed = find_changed_operations()
    kept = {name: one for name, one in faster.items() if name not in changed}
    return replace(operations, **kept)  # type: ignore[arg-type] # types match the fields


@cache
def find_changed_operations(plain: Operations = PLAIN) -> frozenset[str]:
    """Return the names of operations in `plain` whose results differ from their fast form's."""
    originals = {"run_layers": run_layers, "is_any": is_any, "pad_batch": keep_batch}
    replaced = [name for name, one in originals.items() if getattr(plain, name) is not one]
    compared = compare_operations(plain).items()
    return frozenset([*replaced, *(name for name, pair in compared if differ(*pair))])


@cache
def find_changed_modules() -> frozenset[type]:
    """Return the classes of `paper/model.py` that do not compute their formula as torch does."""
    return frozenset(kind for kind, pair in COMPARED_MODULES.items() if differ(*pair))


def differ(first: Try, second: Try) -> bool:
    """Return whether the results of two functions differ, or one of the functions fails."""
    try:
        with torch.random.fork_rng(devices=[]), torch.inference_mode(mode=False), torch.no_grad():
            torch.manual_seed(1)
            ours = first()
            torch.manual_seed(1)
            return not all(
                torch.allclose(one.to(other.dtype), other, rtol=1e-4, atol=1e-5)
                for one, other in zip(ours, second(), strict=True)
            )
    except Exception:  # noqa: BLE001 # the new function may ask for anything
        return True


def fixed_numbers(*shape: int) -> Tensor:
    """Return the same tensor of this shape at each call, with numbers between -2 and 2."""
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).sin().mul(2).view(shape)


def compare_operations(plain: Operations) -> Mapping[str, tuple[Try, Try]]:
    """Return, by operation name, two calls: of the function in `plain` and of its fast form."""
    states, weight, ids = fixed_numbers(3, 4), fixed_numbers(5, 4), torch.tensor([0, 2, 4])
    log_p, (k, v) = fixed_numbers(4, 5).log_softmax(dim=1), fixed_numbers(2, 5, 2, 3)
    mask = AttentionMask(causal=True, neighbourhood=5)
    in_blocks = partial(BucketedAttention, device=torch.device("cpu"))
    calls: Mapping[str, tuple[Callable[..., object], Sequence[object], ReadResult]] = {
        "build_attention": (in_blocks, ([2, 5], [2, 5], mask), attend),
        "start_cache": (start_cache, ([k], [v], [2, 3]), take_two_steps),
        "smoothed_loss": (smoothed_loss, (states, weight, ids, 0.1, None), list),
        "log_softmax": (log_softmax_in_place, (fixed_numbers(2, 5),), list),
        "target_log_probs": (target_log_probs, (states, weight, ids, None), list),
        "highest_sums": (highest_sums, (fixed_numbers(2, 2), log_p, 3), list),
    }

    def call_plain(name: str) -> Sequence[Tensor]:
        function, (_, given, read) = getattr(plain, name), calls[name]
        assert count_arguments(function) == len(given)
        return read(function(*given))

    def call_fast(name: str) -> Sequence[Tensor]:
        function, given, read = calls[name]
        return read(function(*given))

    return {name: (partial(call_plain, name), partial(call_fast, name)) for name in calls}


def count_arguments(function: Callable[..., object]) -> int:
    """Return how many arguments a function takes, optional arguments included."""
    return len(signature(function).parameters)


def attend(attention: BatchAttention) -> Sequence[Tensor]:
    """Return what `attention` computes for two sentences, and how many arguments it takes."""
    return [attention(*fixed_numbers(3, 7, 2, 3)), torch.tensor(count_arguments(attention))]


def take_two_steps(cache: Cache) -> Sequence[Tensor]:
    """Return what a cache's layers compute for two hypotheses in two steps, and argument counts."""
    found = []
    for step in range(2):
        cache = cache.begin_step(None)
        for layer in cache.layer_caches():
            q, key, value = layer.split_heads(fixed_numbers(2, 18) + step, 2, [6, 6, 6])
            layer.append(key, value)
            found += [layer.attend(q), layer.attend_to_source(q)]
            methods = layer.append, layer.attend, layer.attend_to_source
            found += [torch.tensor(count_arguments(one)) for one in methods]
        cache = cache.advance()
    return found


def run_layer_norm() -> Sequence[Tensor]:
    """Return, in a list, the output of a `LayerNorm` for three tokens of fixed numbers."""
    module = LayerNorm(Architecture(d_model=4))
    module.weight.data, module.bias.data = fixed_numbers(4), fixed_numbers(4)
    return [module(fixed_numbers(3, 4))]


def run_layer_norm_by_torch() -> Sequence[Tensor]:
    """Return, in a list, torch's layer norm of the same three tokens as in `run_layer_norm`."""
    epsilon = Architecture().norm_epsilon
    return [
        functional.layer_norm(
            fixed_numbers(3, 4), (4,), fixed_numbers(4), fixed_numbers(4), epsilon
        )
    ]


def run_linear() -> Sequence[Tensor]:
    """Return the results of the three methods of `Linear` for three tokens of fixed numbers."""
    weights = nn.Parameter(fixed_numbers(2, 4)), nn.Parameter(fixed_numbers(2))
    module, x = Linear.from_weight(*weights), fixed_numbers(3, 4)
    return [module(x), module.forward_relu(x), module.forward_add(x, fixed_numbers(3, 2))]


def run_linear_by_torch() -> Sequence[Tensor]:
    """Return torch's x Wᵀ + b, its ReLU, and its sum with a residual, the twin of `run_linear`."""
    product = functional.linear(fixed_numbers(3, 4), fixed_numbers(2, 4), fixed_numbers(2))
    return [product, product.relu(), product + fixed_numbers(3, 2)]


def run_residual() -> Sequence[Tensor]:
    """Return, in a list, the output of a `Residual` on fixed numbers; its sub-layer is 2 x."""
    module = Residual(Architecture(d_model=4, dropout=0.5))
    module.norm.weight.data, module.norm.bias.data = fixed_numbers(4), fixed_numbers(4)
    return [module(fixed_numbers(3, 4), lambda x: 2 * x)]


def run_residual_by_torch() -> Sequence[Tensor]:
    """Return, in a list, torch's LayerNorm(x + Dropout(2 x)) for the x of `run_residual`."""
    total = fixed_numbers(3, 4) + functional.dropout(2 * fixed_numbers(3, 4), 0.5)
    epsilon = Architecture().norm_epsilon
    return [functional.layer_norm(total, (4,), fixed_numbers(4), fixed_numbers(4), epsilon)]


COMPARED_MODULES: Mapping[type[nn.Module], tuple[Try, Try]] = {
    Dropout: (
        lambda: [Dropout(0.5)(fixed_numbers(3, 4))],
        lambda: [functional.dropout(fixed_numbers(3, 4), 0.5)],
    ),
    AddDropout: (
        lambda: [AddDropout(0.5)(fixed_numbers(3, 4), fixed_numbers(3, 4) + 1)],
        lambda: [fixed_numbers(3, 4) + functional.dropout(fixed_numbers(3, 4) + 1, 0.5)],
    ),
    LayerNorm: (run_layer_norm, run_layer_norm_by_torch),
    Linear: (run_linear, run_linear_by_torch),
    Residual: (run_residual, run_residual_by_torch),
}
