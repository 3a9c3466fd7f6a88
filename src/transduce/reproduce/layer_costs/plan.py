"""The sizes at which the layers of Table 1 are measured, checked before measuring."""

from dataclasses import dataclass
from typing import final

from transduce.machine.limits import memory_bytes
from transduce.reproduce.layer_costs.layer import HEADS
from transduce.settings.fields import require

SCORES = 5  # about how many copies of the n x n attention scores are in memory at once


@final
@dataclass(frozen=True, kw_only=True)
class MeasurementPlan:
    """The sentence lengths n and widths d at which the layers of Table 1 are measured.

    All n are measured at the median d, and all d at the median n.
    """

    n: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)  # sentence lengths
    d: tuple[int, ...] = (64, 128, 256, 512, 1024)  # widths of the layer
    paths: tuple[int, ...] = (8, 16, 32, 64)  # sentence lengths at which paths are measured
    k: int = 3  # width of a convolution's kernel
    r: int = 17  # positions in the neighbourhood of restricted attention
    rounds: int = 7  # how often each layer is timed at each size

    def __post_init__(self) -> None:
        for name, sizes in (("n", self.n), ("d", self.d)):
            hint = f"such as --{name} {','.join(map(str, getattr(type(self), name)))}"
            require(len(set(sizes)) > 1, f"--{name}: growth needs at least two sizes", hint)
            require(min(sizes) > 1, f"--{name}: sizes are at least 2, not {min(sizes)}", hint)
        for d in self.d:
            fact = f"--d {d}: there are {HEADS} heads of d / {HEADS} numbers each"
            require(d % HEADS == 0, fact, f"a multiple of {HEADS}")
        for name, wide in (("k", self.k), ("r", self.r)):
            require(wide > 2, f"--{name} {wide} reaches no other position", "3 is the narrowest")
            require(
                wide % 2 == 1, f"--{name} must be odd, not {wide}", "it is centred on a position"
            )
        needed, there = SCORES * HEADS * 4 * max(self.n) ** 2, memory_bytes()
        require(
            needed < there,
            f"--n {max(self.n)}: self-attention needs about {needed / 2**30:,.0f} GiB, "
            f"and this machine has {there / 2**30:,.0f}",
            "take a shorter sentence",
        )

    @property
    def middle(self) -> tuple[int, int]:
        """The upper medians (n, d) of lengths and widths, each one of the measured sizes."""
        n, d = sorted(self.n), sorted(self.d)
        return n[len(n) // 2], d[len(d) // 2]

    def points(self) -> list[tuple[int, int]]:
        """Return the distinct pairs (sentence length n, width d) at which layers are measured."""
        n, d = self.middle
        pairs = [(one, d) for one in sorted(self.n)] + [(n, one) for one in sorted(self.d)]
        return list(dict.fromkeys(pairs))


QUICK = MeasurementPlan(n=(96, 192, 384), d=(32, 64, 128), paths=(4, 8, 16), r=5, rounds=3)
