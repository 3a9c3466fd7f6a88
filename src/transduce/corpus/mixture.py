"""The texts of a mixture, such as human and synthetic pairs, and their shares of training pairs.

A store holds the texts end to end, each once; its manifest says how updates read them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, final

from transduce.errors import InputError

MIXTURE = "mixture"  # the manifest's entry on a mixture


@final
@dataclass(frozen=True, kw_only=True)
class Share:
    """A training text's share of the pairs that are read: weight, first and last update, and tag.

    An epoch takes its pairs from the texts that are read then, in proportion to their weights. The
    weight of an added text is relative to the sum of the weights of all texts that are not added.
    In a store this sum is 1. Before `resolve_shares`, a text that is not added may have weight 0,
    which stands for its number of pairs.
    """

    name: str
    weight: float = 0.0
    start: int = 1  # the first update that reads the text
    stop: int = 0  # the last update; 0 for no end
    is_tagged: bool = False  # whether its sources begin with BEGIN; untagged sources have no BEGIN
    is_added: bool = False  # whether it is an addition, such as old, silver or synthetic pairs
    pairs: int = 0  # number of the text's pairs in the store

    def is_read(self, step: int) -> bool:
        """Return whether the update `step`, from 1, draws pairs from this text."""
        return self.start <= step and (step <= self.stop or not self.stop)


def resolve_shares(shares: Sequence[Share], counts: Sequence[int]) -> list[Share]:
    """Return the shares with pair `counts` and normalised weights; InputError if a count is 0."""
    both = list(zip(shares, counts, strict=True))
    for share, count in both:
        if not count:
            fact = f"no pair of the {share.name} text is left, and it cannot be mixed in"
            raise InputError(fact, "are all of them too long, or in the other texts too?")
    main = sum(share.weight or count for share, count in both if not share.is_added)
    return [
        replace(
            share,
            pairs=count,
            weight=share.weight if share.is_added else (share.weight or count) / main,
        )
        for share, count in both
    ]


def list_rows(mixture: Sequence[Share]) -> list[list[str]]:
    """Return a row for each text: name, pairs, percentage, span of updates, whether it is tagged.

    The percentage is the text's share while all texts are read.
    """
    total = sum(share.weight for share in mixture)
    return [
        [
            share.name,
            f"{share.pairs:,}",
            f"{share.weight / total:.1%}",
            f"{share.start:,} to {f'{share.stop:,}' if share.stop else 'the last'}",
            "yes" if share.is_tagged else "no",
        ]
        for share in mixture
    ]


def describe_mixture(shares: Sequence[Share]) -> dict[str, Any]:
    """Return {"mixture": shares as dicts} for a store's manifest; {} if there are no shares."""
    return {MIXTURE: [asdict(share) for share in shares]} if shares else {}
