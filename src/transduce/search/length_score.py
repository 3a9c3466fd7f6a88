"""Scores of hypotheses by length: log P / divisor + reward (section 6.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.packed import move_to_device
from transduce.settings import Search


class LengthTerms(NamedTuple):
    """The divisor and the reward of one output length, for the score log P / divisor + reward."""

    divisor: float = 1.0
    reward: float = 0.0


LENGTH_TERMS: dict[str, Callable[[int, Search], LengthTerms]] = {  # key: search.penalty
    "gnmt": lambda n, search: LengthTerms(divisor=((5 + n) / 6) ** search.alpha),
    "average": lambda n, _: LengthTerms(divisor=float(n)),
    "none": lambda _n, _: LengthTerms(),
    "reward": lambda n, search: LengthTerms(reward=search.gamma * n),
}


@final
@dataclass(frozen=True)
class LengthScore:
    """The score of an output as a function of its log P and length, tabulated for every length.

    Divisors and rewards are tabulated because a vectorised power may round differently by batch.
    """

    divisors: Float[Tensor, " lengths"]
    rewards: Float[Tensor, " lengths"]
    best_divisors: Float[Tensor, " lengths"]  # the largest divisor up to each length
    best_rewards: Float[Tensor, " lengths"]  # the largest reward up to each length

    @classmethod
    def tabulate(
        cls,
        search: Search,
        max_length: int,
        *,
        device: torch.device | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> "LengthScore":
        """Build the `LengthScore` of `search.penalty` for all lengths from 0 to `max_length`."""
        terms_of = LENGTH_TERMS[search.penalty]
        terms = [terms_of(max(n, 1), search) for n in range(max_length + 1)]
        tables = torch.tensor(terms, dtype=dtype).T
        both = torch.cat([tables, tables.cummax(dim=1).values])
        return cls(*move_to_device(both, device or both.device))

    def score(
        self, log_probs: Float[Tensor, "*#shape"], lengths: Int[Tensor, "*#shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return the scores of outputs with these log-probabilities and lengths, END included."""
        return log_probs / self.divisors[lengths] + self.rewards[lengths]

    def upper_bound(
        self, log_probs: Float[Tensor, "*#shape"], max_lengths: Int[Tensor, "*#shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return an upper bound on the final score of each live hypothesis within its length limit.

        More symbols never raise log P (<= 0), so no score exceeds log P over the largest divisor
        plus the largest reward. The bound is exact if divisor and reward are largest at the limit,
        as in every entry of LENGTH_TERMS.
        """
        return log_probs / self.best_divisors[max_lengths] + self.best_rewards[max_lengths]


def score_log_probs(
    log_probs: Sequence[float], lengths: Sequence[int], search: Search
) -> list[float]:
    """Return the scores of outputs from their log P and lengths (with END), in float64."""
    length_score = LengthScore.tabulate(search, max(lengths, default=0), dtype=torch.float64)
    values = torch.tensor(log_probs, dtype=torch.float64)
    return length_score.score(values, torch.tensor(lengths, dtype=torch.long)).tolist()
