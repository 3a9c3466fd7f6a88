"""The options of a measurement."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import torch

from transduce.machine.device import has_fast_bfloat16


@final
@dataclass(frozen=True)
class Options:
    """Rounds, threads, texts and models of a measurement, and whether peers take part."""

    rounds: int
    quick: bool  # only whether it runs: the figures mean nothing
    threads: int
    text: Path | None  # for the vocabulary, in place of words that are made; for a model to read
    model: Path | None  # to search with, beside random weights
    pairs: tuple[int, ...]  # corpora whose memory is measured
    no_peers: str  # why the peers do not take part; nothing if they do


def leave_out_slow(precisions: Sequence[str]) -> list[str]:
    """Return the precisions without bfloat16, if this processor is slower in it than in float32."""
    fast = has_fast_bfloat16(torch.device("cpu"))
    return [name for name in precisions if fast or name != "bfloat16"]
