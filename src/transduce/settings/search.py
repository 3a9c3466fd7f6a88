"""How a translation is found    (section 6.1)"""

from dataclasses import dataclass
from typing import final

from transduce.settings.fields import chosen, demand, demand_one_of, demand_positive, stated

PENALTIES = {  # how a hypothesis is scored; n counts its symbols, END among them
    "gnmt": "log P / ((5 + n) / 6)^alpha",
    "average": "log P / n",
    "none": "log P",
}


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """Beam search with a length penalty."""

    beam: int = stated(4, "6.1", "a beam of 4")
    alpha: float = stated(0.6, "6.1", "length penalty alpha = 0.6")
    penalty: str = stated("gnmt", "6.1", "score = log P / ((5 + |Y|) / 6)^alpha, Wu et al. 2016")
    extra: int = stated(50, "6.1", "output of at most input length + 50")
    batch: int = chosen(64, "sentences in the search at once; the texts do not depend on it")

    def __post_init__(self) -> None:
        demand_positive(self, "beam", "extra", "batch")
        demand_one_of(self, "penalty", tuple(PENALTIES))
        demand(self.alpha >= 0, f"search.alpha must not be negative, it is {self.alpha}")
