"""Equip models with what is fastest on this machine, from `transduce.fast`.

Without that package, or with TRANSDUCE_PLAIN=1, everything is computed by the plain operations of
`transduce.paper`, with the same results up to rounding, and more slowly.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import torch

from transduce.errors import short_repr
from transduce.paper.model import Transformer
from transduce.paper.operations import PLAIN, Operations
from transduce.paper.search import DecodingStrategy
from transduce.settings import Architecture, Search
from transduce.settings.fields import require
from transduce.settings.search import InferencePrecision

PLAIN_VARIABLE = "TRANSDUCE_PLAIN"


def import_fast(name: str) -> ModuleType | None:
    """Return a module of `transduce.fast`; None without it or with TRANSDUCE_PLAIN=1, or refuse."""
    plain = os.environ.get(PLAIN_VARIABLE, "")
    require(plain in ("", "0", "1"), f"{PLAIN_VARIABLE} is 1 or 0, not {short_repr(plain)}")
    if plain == "1":
        return None
    try:
        import_module("transduce.fast")
    except ModuleNotFoundError as error:
        if error.name != "transduce.fast":
            raise
        return None
    return import_module(f"transduce.fast.{name}")


def list_changed_parts() -> list[str]:
    """Return the names of edited parts of `paper/`; these run as edited, not in a fast form."""
    unchanged = import_fast("unchanged")
    return sorted(unchanged.find_changed()) if unchanged else []


def describe_forms() -> str:
    """Return "fast", "plain", or "fast, but plain Adam, Linear" if those parts were changed."""
    if import_fast("choose") is None:
        return "plain"
    changed = ", ".join(list_changed_parts())
    return f"fast, but plain {changed}" if changed else "fast"


def equip_for_inference(model: Transformer, precision: InferencePrecision | None = None) -> None:
    """Make a model decode fastest, in place; convert its weights unless `precision` is None.

    Without a precision the weights stay as they are. With a precision they are converted and packed
    for good, so that the model cannot be trained, saved, copied or moved to a device.
    """
    choose = import_fast("choose")
    if choose:
        choose.equip_for_inference(model, precision)
    elif precision is not None:
        model.to(getattr(torch, precision.value))


def choose_operations(
    sizes: Architecture, device: torch.device, precision: torch.dtype
) -> Operations:
    """Return the fastest operations for models of these sizes on a device, in a precision."""
    choose = import_fast("choose")
    if choose is None:
        return PLAIN
    found: Operations = choose.choose_operations(sizes, device, precision)
    return found


def equip_for_long_searches(models: Sequence[Transformer]) -> None:
    """Give models, in place, operations that pay off only in long searches, such as compiled loops.

    This is for processes that search again and again. The operations' libraries are loaded now.
    """
    for model, operations in zip(models, choose_search_operations(models, None), strict=True):
        model.operations = operations


def choose_search_operations(
    models: Sequence[Transformer], sentence_count: int | None
) -> list[Operations]:
    """Return each model's operations to search `sentence_count` sentences; None means many."""
    choose = import_fast("choose")
    if choose is None:
        return [model.operations for model in models]
    found: list[Operations] = choose.choose_search_operations(models, sentence_count)
    return found


def adapt_strategy(
    strategy: DecodingStrategy, search: Search, device: torch.device
) -> DecodingStrategy:
    """Return `strategy`; on a GPU with exact search, one that drops done sentences in groups."""
    choose = import_fast("choose")
    if choose is None:
        return strategy
    found: DecodingStrategy = choose.adapt_strategy(strategy, search, device)
    return found


def choose_batch_size(
    device: torch.device,
    sentence_count: int,
    models: Sequence[tuple[Architecture, int]],
    width: int,
) -> int:
    """Return how many sentences to search at once: `sentence_count`, or more if it is the default.

    `models` has each model's sizes and number of target symbols; a sentence has `width` hypotheses.
    """
    choose = import_fast("choose")
    if choose is None:
        return sentence_count
    found: int = choose.choose_batch_size(device, sentence_count, models, width)
    return found


def choose_lines(device: torch.device, line_count: int) -> int:
    """Return how many lines to read at once: `line_count` or, unless it is 1, more on a GPU."""
    choose = import_fast("choose")
    found: int = choose.choose_lines(device, line_count) if choose else line_count
    return found


def explain_plain() -> str:
    """Return why `import_fast` returns None."""
    is_plain = os.environ.get(PLAIN_VARIABLE) == "1"
    return f"{PLAIN_VARIABLE} is 1" if is_plain else "transduce.fast is not installed"


def unsupported_int8_reason() -> str:
    """Return why int8 matrix multiplication is unavailable here, or "" if it is available."""
    kernels = import_fast("int8")
    if kernels is None:
        return explain_plain()
    reason: str = kernels.unsupported_int8_reason()
    return reason
