"""Length penalties: what a log-probability is divided by, so that long sentences have a chance."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.settings import Search

DIVISORS: dict[str, Callable[[int, float], float]] = {  # none falls as n grows: early stop needs it
    "gnmt": lambda n, alpha: ((5 + n) / 6) ** alpha,
    "average": lambda n, _alpha: float(n),
    "none": lambda _n, _alpha: 1.0,
}


def divisors(search: Search, longest: int) -> Float[Tensor, " lengths"]:
    """The divisors of all lengths from 0 to `longest`    (section 6.1; Wu et al. 2016, eq. 14)

    A table, because a vectorised power may round differently in other company.
    """
    divisor = DIVISORS[search.penalty]
    return torch.tensor([1.0, *(divisor(n, search.alpha) for n in range(1, longest + 1))])
