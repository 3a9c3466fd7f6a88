"""Detection of changed code in `paper/`, which then runs in place of its fast form

Every fast form replaces some functions and classes of `paper/`. If the code of one of them differs
from the code that the fast form was written for, the fast form is not used.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from inspect import getsource, isfunction, unwrap

from transduce.paper.operations import PLAIN, Operations

ATTENTION = (
    "attention attention_weights compatibility_scores AttentionMask "
    "split_heads pad_sentences token_mask"
)
STEP = "SelfAttention CrossAttention Compatibility Transformer DecoderLayer Residual LayerNorm "
STEP += "FeedForward Linear"
REST = "EncoderLayer Embedding SinusoidalPositions LearnedPositions Dropout AddDropout"

# For each operation, module, optimiser or loop with a fast form: the names in `paper/` that the
# fast form replaces, and the hash of their code. After a change of that code, compare the fast
# form with it, then write the new hash.
ORIGINALS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "build_attention": ({"operations": ATTENTION}, "16866ded61e1"),
    "start_cache": (
        {
            "operations": f"PlainCache PlainLayerCache attend_within_rows pad_cache {ATTENTION}",
            "model": "SelfAttention CrossAttention",
        },
        "23c6fffd3120",
    ),
    "run_layers": ({"model": STEP}, "84deb1880734"),
    "smoothed_loss": ({"operations": "log_softmax"}, "a9df22d99461"),
    "log_softmax": ({}, "1c967e3506b1"),
    "target_log_probs": ({"operations": "log_softmax"}, "93214df1dfcd"),
    "highest_sums": ({"operations": "stable_topk"}, "7ac26ffceec7"),
    "is_any": ({}, "4180419bc0ac"),
    "pad_batch": ({}, "62b01e5248a1"),
    "Dropout": ({"model": "Dropout"}, "b1a106e843ff"),
    "AddDropout": ({"model": "AddDropout"}, "de843554ebc9"),
    "LayerNorm": ({"model": "LayerNorm"}, "48f264bed517"),
    "Linear": ({"model": "Linear"}, "beca8fc38e85"),
    "Residual": ({"model": "Residual LayerNorm AddDropout"}, "7e86d3d62be3"),
    # `FlatAdam` takes each gradient away from its weight, where an edited update may look for it
    "Adam": ({"training": "Adam update_weights add_gradients accumulate_in_order"}, "7ac40cb1ac45"),
    "add_gradients": (
        {"training": "add_gradients batch_loss", "model": f"{STEP} {REST}"},
        "d2275e9961cb",
    ),
}


def replace_unless_changed(given: Operations, **faster: object) -> Operations:
    """Return `given` with functions replaced by `faster`, except those changed in `paper/`."""
    kept = {name: one for name, one in faster.items() if not is_changed(name)}
    return replace(given, **kept)  # type: ignore[arg-type] # types match the fields


def find_changed(plain: Operations = PLAIN) -> set[str]:
    """Return names of `ORIGINALS` whose code was changed; `plain` has the operations to check."""
    return {name for name in ORIGINALS if is_changed(name, plain)}


@cache
def is_changed(name: str, plain: Operations = PLAIN) -> bool:
    """Return whether the `paper/` code replaced by the fast form `name` was changed.

    A name without a fast form counts as changed: it is that of a new class in an old one's place.
    """
    return name not in ORIGINALS or hash_code(name, plain) != ORIGINALS[name][1]


def hash_code(name: str, plain: Operations = PLAIN) -> str:
    """Return a hash of the code that a fast form replaces, without docstrings and comments."""
    sources = [read_source(getattr(plain, name))] if hasattr(plain, name) else []
    for chapter, names in ORIGINALS[name][0].items():
        module = import_module(f"transduce.paper.{chapter}")
        for one in names.split():
            sources += list_sources(getattr(module, one))
    code = re.sub(r'"""[\s\S]*?"""|^ *#.*$|  #.*$', "", "\n".join(sources), flags=re.MULTILINE)
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:12]


# methods that Python adds to classes: since 3.13 to dataclasses, since 3.14 to annotated ones
ADDED_BY_PYTHON = ("__replace__", "__annotate__", "__annotate_func__")


def list_sources(part: type | Callable[..., object]) -> Iterator[str]:
    """Yield a function's source; for a class, its bases' names, then each method's source."""
    if not isinstance(part, type):
        yield read_source(part)
        return
    yield " ".join(base.__qualname__ for base in part.__bases__)
    for name, member in vars(part).items():
        if name in ADDED_BY_PYTHON:
            continue
        method = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if isfunction(method):
            yield read_source(method)


@cache
def read_source(function: Callable[..., object]) -> str:
    """Return a function's source; "" if a dataclass generated it; its repr if it is in no file."""
    written = unwrap(function)
    try:
        return getsource(written)
    except (OSError, TypeError):
        is_generated = str(getattr(written, "__module__", "")).startswith("transduce.")
        return "" if is_generated else repr(function)
