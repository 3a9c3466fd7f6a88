"""Length penalties: what a log-probability is divided by, so that long sentences have a chance."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.settings import Search


@final
@dataclass(frozen=True)
class Penalty:
    """A divisor of log P that never falls as n grows; the early stop relies on that."""

    formula: str  # for people; n counts the symbols of a translation, END among them
    divisor: Callable[[int, float], float]  # of n and alpha


PENALTIES = {
    "gnmt": Penalty("log P / ((5 + n) / 6)^alpha", lambda n, alpha: ((5 + n) / 6) ** alpha),
    "average": Penalty("log P / n", lambda n, _alpha: float(n)),
    "none": Penalty("log P", lambda _n, _alpha: 1.0),
}


def divisors(search: Search, longest: int) -> Float[Tensor, " lengths"]:
    """The divisors of all lengths from 0 to `longest`    (section 6.1; Wu et al. 2016, eq. 14)

    A table, because a vectorised power may round differently in other company.
    """
    penalty = PENALTIES[search.penalty]
    return torch.tensor([1.0, *(penalty.divisor(n, search.alpha) for n in range(1, longest + 1))])
