"""Settings of beam search (section 6.1) and of sampling, and the precision of inference."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from transduce.settings.fields import (
    from_paper,
    our_choice,
    require,
    require_at_most,
    require_one_of,
    require_positive,
    require_types,
)

WIDEST_BEAM = 10_000  # the paper's widest beam is 21
PENALTIES = {  # each penalty's score of a hypothesis of n symbols, END included
    "gnmt": "log P / ((5 + n) / 6)^alpha",
    "average": "log P / n",
    "none": "log P",
    "reward": "log P + gamma * n",
}
STOPS = ("exact", "early")  # when the search for a sentence ends


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """Settings of beam search, such as width, length penalty and output limit (section 6.1)."""

    beam: int = from_paper(4, "6.1", "width of the beam")
    alpha: float = from_paper(0.6, "6.1", "strength of the length penalty, alpha = 0.6")
    penalty: str = from_paper(
        "gnmt", "6.1", "score = log P / ((5 + |Y|) / 6)^alpha, Wu et al. 2016"
    )
    gamma: float = our_choice(
        0.2, "nats per symbol added by the penalty `reward`; tune it on development data"
    )
    extra_length: int = from_paper(50, "6.1", "an output has at most input length + 50 symbols")
    stop: str = our_choice(
        "exact",
        "exact: a sentence ends when no better output exists; early: also when W outputs end",
    )
    batch_size: int = our_choice(
        64,
        "number of sentences searched at once (for 64, more with a small model, 1,024 on a GPU); "
        "in float32 no output depends on it",
    )

    constrained: bool = our_choice(
        True, "parsing and tagging: only outputs that are well-formed for their input"
    )
    max_openings: int = our_choice(
        10, "parsing: brackets that may open between two words, when constrained"
    )

    def __post_init__(self) -> None:
        require_types(self)
        require_positive(self, "beam", "extra_length", "batch_size", "max_openings")
        require_at_most(self, WIDEST_BEAM, "beam", "max_openings")
        require_at_most(self, 100_000, "extra_length", "batch_size")
        require_one_of(self, "penalty", tuple(PENALTIES))
        require_one_of(self, "stop", STOPS)
        require(not math.isnan(self.alpha), "search.alpha must be a number, not nan")
        require(self.alpha >= 0, f"search.alpha must not be negative, it is {self.alpha}")
        # Outputs have at most 65,536 + 100,000 symbols, so the penalty fits into float32 (< 2^128).
        require_at_most(self, 8, "alpha")
        holds = 0 <= self.gamma < math.inf
        require(holds, f"search.gamma must be a number of 0 or more, it is {self.gamma}")
        require_at_most(self, 1_000, "gamma")  # a symbol of probability 1e-300 has 691 nats


@final
@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Settings of sampling, which are given for each translation and are not part of a recipe."""

    temperature: float = 1.0  # divisor of log P: above 1 flattens the distribution
    top_k: int = 0  # number of likeliest symbols to draw from; 0: all
    top_p: float = 1.0  # total probability of the likeliest symbols to draw from
    seed: int = 1

    def __post_init__(self) -> None:
        require_types(self)
        hint = "near 0 every draw is the likeliest symbol: search with a beam of 1 for that"
        fact = f"sampling.temperature must be a number above 0, not {self.temperature}"
        require(0 < self.temperature < math.inf, fact, hint)
        fact = f"sampling.top_k must be a count, or 0 for all symbols, not {self.top_k}"
        require(self.top_k >= 0, fact)
        fact = f"sampling.top_p must be above 0 and at most 1, not {self.top_p}"
        require(0 < self.top_p <= 1, fact)
        fact = f"sampling.seed must be a number from 0 to 2^63 - 1, not {self.seed}"
        require(0 <= self.seed < 2**63, fact)


@final
class InferencePrecision(StrEnum):
    """The number format of inference, chosen by `load(…, precision=)` or `--precision`."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"  # weights and the inputs of products in 8 bits, all else in float32


AUTO = "auto"  # the fastest precision whose quality was shown on this kind of processor
INFERENCE_PRECISIONS = (*(precision.value for precision in InferencePrecision), AUTO)
