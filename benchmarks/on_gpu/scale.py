"""How large everything is: the paper's base model and batch, or a rehearsal of the script."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch

from transduce.settings import Architecture

Figures = dict[str, object]
Cases = Iterator[tuple[str, Callable[[], Figures]]]
BASE = Architecture()
BIG = replace(BASE, d_model=1024, d_ff=4096, heads=16, dropout=0.3)
TINY = Architecture(layers=1, d_model=32, d_ff=64, heads=2, d_k=16, d_v=16)


@final
@dataclass(frozen=True)
class Scale:
    """What a part measures with."""

    device: torch.device
    sizes: Architecture
    symbols: int
    tokens: int  # of an update, a side
    pad_to_tokens: int
    large: int  # rows and columns of a large product; numbers of a copy in 64ths of its square
    sentences: tuple[int, ...]  # of a search
    seconds: float  # of a measurement
    text: tuple[str, str] | None = None  # a model folder, and a file that it translates

    @property
    def rehearsed(self) -> bool:
        """Whether figures mean nothing."""
        return self.device.type == "cpu"

    def with_sizes(self, sizes: Architecture) -> "Scale":
        """Return the same for a model of other sizes."""
        return replace(self, sizes=sizes)

    def timed(self, work: Callable[[], object], *, rounds: int = 5, warm: int = 3) -> list[float]:
        """Seconds of one call, in several rounds of many; warmed up before."""
        for _ in range(warm):
            work()
        many = max(1, round(self.seconds / rounds / max(1e-6, self.round(work, 1))))
        return [self.round(work, many) for _ in range(rounds)]

    def round(self, work: Callable[[], object], times: int) -> float:
        """Seconds of a call in a round of so many, to the device's end of them."""
        self.wait()
        began = time.perf_counter()
        for _ in range(times):
            work()
        self.wait()
        return (time.perf_counter() - began) / times

    def wait(self) -> None:
        """A GPU answers before it is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def random(self, *shape: int) -> torch.Tensor:
        """Numbers whose products stay small, in bfloat16; not zeros, which are faster."""
        return torch.randn(shape, device=self.device, dtype=torch.bfloat16) / 32


FULL = Scale(
    device=torch.device("cuda"),
    sizes=BASE,
    symbols=37_000,
    tokens=25_000,
    pad_to_tokens=25_600,
    large=8_192,
    sentences=(2_048, 512, 64, 1),
    seconds=1.0,
)
REHEARSAL = Scale(
    device=torch.device("cpu"),
    sizes=TINY,
    symbols=200,
    tokens=150,
    pad_to_tokens=256,
    large=64,
    sentences=(3, 1),
    seconds=0.01,
)


def lengths(tokens: int, mean: float, spread: float, seed: int) -> tuple[list[int], list[int]]:
    """Sentences of so many tokens a side at most; `spread` is their deviation over the mean."""
    draws = np.random.default_rng(seed)
    count = int(2 * tokens / mean) + 8
    source = np.clip(draws.gamma(spread**-2, mean * spread**2, count), 3, 120)
    target = np.clip(source * draws.normal(1, 0.12, count), 3, 120)
    pairs = np.stack([source, target]).astype(np.int64)
    fits = int((pairs.cumsum(axis=1) <= tokens).all(axis=0).sum())
    chosen = pairs[:, :fits]
    return chosen[0].tolist(), chosen[1].tolist()


def milliseconds(seconds: Sequence[float]) -> Figures:
    """The middle, the lowest and the highest."""
    return {
        "ms": 1e3 * statistics.median(seconds),
        "lowest": 1e3 * min(seconds),
        "highest": 1e3 * max(seconds),
    }
