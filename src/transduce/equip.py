"""Equip models with what is fastest on this machine, from `transduce.fast`.

Without that package, or with TRANSDUCE_PLAIN=1, everything is computed by the plain operations of
`transduce.paper`, with the same results up to rounding, and more slowly.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import torch

from transduce.errors import short_repr
from transduce.paper.model import Transformer
from transduce.paper.operations import PLAIN, Operations
from transduce.paper.search import DecodingStrategy, StepResult
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


# --- The size of a search, which changes no result in float32 -------------------------------------

GPU_SENTENCES = 1_024  # searched at once; 64 leave a GPU idle (docs/records/speed.md)
# On a CPU a step is fastest with about 2^22 numbers: rows times symbols, or, where a vocabulary is
# small, rows times 64 d_model. With 64 sentences, a step of a small model has fewer numbers and
# spends its time on calling operators.
CPU_NUMBERS, NUMBERS_OF_LAYERS = 2**22, 64
GPU_LINES = 16_384  # read at once, to find 1,024 sentences of similar lengths
LEAVING_SHARE = 8  # done sentences leave a batch together once they are an eighth of it


def adapt_strategy(
    strategy: DecodingStrategy, search: Search, device: torch.device
) -> DecodingStrategy:
    """Return `strategy`, changed for exact search on a GPU to remove done sentences in groups.

    On a GPU, removing a sentence costs more than some further steps of its rows. In a search that
    is not exact, the results of a done sentence could change while it waits.
    """
    if device.type == "cpu" or search.stop != "exact":
        return strategy
    return replace(strategy, expand=lambda *step: leave_together(strategy.expand(*step)))


def leave_together(step: StepResult) -> StepResult:
    """Return `step` with all done sentences leaving the batch, or none of them while they are few.

    They are few if they are less than an eighth of the batch and none is at its length limit. In
    an exact search, later hypotheses of a done sentence are no better, and of equal hypotheses the
    older stay.
    """
    done, beams = step.is_leaving, step.beams
    is_full = beams.lengths == beams.max_lengths
    leave = (LEAVING_SHARE * done.sum() >= done.shape[0]) | (done & is_full).any()
    return step._replace(is_leaving=done & leave)


def choose_batch_size(
    device: torch.device,
    sentence_count: int,
    models: Sequence[tuple[Architecture, int]],
    width: int,
) -> int:
    """Return how many sentences to search at once: `sentence_count`, or more if it is the default.

    `models` has the sizes and the number of target symbols of each model. A sentence has `width`
    hypotheses.
    """
    if sentence_count != Search.batch_size or device.type not in {"cpu", "cuda"}:
        return sentence_count
    if device.type == "cuda":
        return GPU_SENTENCES
    per_row = sum(max(NUMBERS_OF_LAYERS * sizes.d_model, symbols) for sizes, symbols in models)
    return max(sentence_count, CPU_NUMBERS // (per_row * max(width, 2)))  # a width of 1 counts as 2


def choose_lines(device: torch.device, line_count: int) -> int:
    """Return how many lines to read at once: `line_count`, or at least 16,384 on a GPU.

    A `line_count` of 1 always stays 1.
    """
    return max(line_count, GPU_LINES) if device.type == "cuda" and line_count > 1 else line_count
