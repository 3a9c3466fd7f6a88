"""Fit of a power law to measurements, such as the growth of time with sentence length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class PowerLaw:
    """The power of a fitted law y ≈ c · x^power, and the power's standard error."""

    power: float
    error: float  # standard error; 0 for two points, where the fit is exact

    def __str__(self) -> str:
        return f"{self.power:.2f}"


def fit_power_law(xs: Sequence[int | float], ys: Sequence[int | float]) -> PowerLaw:
    """Fit y ≈ c · x^power to pairs of positive numbers by least squares on their logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True)]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    power = sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread
    missed = sum((y - mean_y - power * (x - mean_x)) ** 2 for x, y in logs)
    error = math.sqrt(missed / (len(logs) - 2) / spread) if len(logs) > 2 else 0.0
    return PowerLaw(power, error)
