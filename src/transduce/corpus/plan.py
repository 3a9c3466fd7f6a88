"""Which pairs make up which update: a pure function of (lengths, budgets, seed, step).

No iterator, no shuffled buffer, nothing to save: any number of workers, any split into
micro-batches and any restart find the same pairs at the same step. Sentence pairs are batched
together by approximate length, and an update holds about so many source tokens and so many
target tokens (section 5.1): both are budgets that are never exceeded, counted in real tokens.
"""

import bisect
import math
from typing import final

import numpy as np
from jaxtyping import Int, Integer

from transduce.corpus.cut import greedy_cut
from transduce.errors import InputError

# N pairs · U updates of an epoch · P pairs of an update

WINDOW_UPDATES = 100  # pairs are sorted among so many updates' worth of them


@final
class Plan:
    """The pairs of every update. It remembers one epoch, to answer faster, never differently."""

    def __init__(
        self,
        source_lengths: Integer[np.ndarray, " N"],
        target_lengths: Integer[np.ndarray, " N"],
        *,
        source_tokens: int,
        target_tokens: int,
        seed: int,
    ) -> None:
        require_pairs(source_lengths, target_lengths)
        require_fit("source", source_lengths, source_tokens)
        require_fit("target", target_lengths, target_tokens)
        self.lengths = (source_lengths, target_lengths)
        self.budgets = (source_tokens, target_tokens)
        self.seed = seed
        self.window = window_pairs(self.lengths, self.budgets)
        self.ends: list[int] = []  # the last step of each epoch that is counted so far
        self.known: Epoch | None = None

    def update(self, step: int) -> Int[np.ndarray, " P"]:
        """The pairs of an update, steps counted from 1."""
        number, place = self.place(step)
        return self.epoch(number).update(place)

    def place(self, step: int) -> tuple[int, int]:
        """The epoch of a step and its place in that epoch, both counted from 1."""
        assert step >= 1, f"steps are counted from 1, there is no step {step}"
        while not self.ends or self.ends[-1] < step:
            before = self.ends[-1] if self.ends else 0
            self.ends.append(before + len(self.epoch(len(self.ends) + 1)))
        number = bisect.bisect_left(self.ends, step) + 1
        return number, step - (self.ends[number - 2] if number > 1 else 0)

    def updates_in(self, epoch: int) -> int:
        """How many updates an epoch has: not each the same, for each is cut anew."""
        return len(self.epoch(epoch))

    def epoch(self, number: int) -> "Epoch":
        """The cut of one epoch; the last one asked for is kept."""
        if self.known is None or self.known.number != number:
            self.known = None  # let its memory go first
            self.known = self.drawn(number)
        return self.known

    def drawn(self, number: int) -> "Epoch":
        """Permute, sort inside windows, cut, permute the updates."""
        draws = np.random.Philox(np.random.SeedSequence([self.seed, number]))
        order = permutation(len(self.lengths[0]), draws)
        sort_inside_windows(order, self.lengths, self.window)
        cuts = greedy_cut([row[order] for row in self.lengths], self.budgets)
        return Epoch(number, order, permutation(len(cuts) - 1, draws), cuts)


@final
class Epoch:
    """Every pair once: an order of pairs, cut into updates, which come in an order of their own."""

    def __init__(
        self,
        number: int,
        order: Int[np.ndarray, " N"],
        turns: Int[np.ndarray, " U"],
        cuts: Int[np.ndarray, " U+1"],
    ) -> None:
        self.number, self.order, self.turns, self.cuts = number, order, turns, cuts

    def __len__(self) -> int:
        return len(self.turns)

    def update(self, place: int) -> Int[np.ndarray, " P"]:
        """The pairs of the update whose turn it is."""
        turn = self.turns[place - 1]
        return self.order[self.cuts[turn] : self.cuts[turn + 1]].copy()


def permutation(count: int, draws: np.random.Philox) -> Int[np.ndarray, " N"]:
    """A random order. Only the generator's raw stream is promised to stay the same in numpy."""
    return np.argsort(draws.random_raw(count), kind="stable")


def sort_inside_windows(
    order: Int[np.ndarray, " N"],
    lengths: tuple[Integer[np.ndarray, " N"], Integer[np.ndarray, " N"]],
    window: int,
) -> None:
    """Sort each window, in place, by the longer side of a pair; equal ones stay in random order.

    Measured against sorting by source, by target within source, and by sum: this keeps both sides
    of a pair near its neighbours' and fills both budgets, for the ratio of the sides stays mixed.
    Every other window runs from long to short, so that like meets like where windows touch.
    """
    for turn, first in enumerate(range(0, len(order), window)):
        inside = order[first : first + window]
        longer = np.maximum(lengths[0][inside], lengths[1][inside])
        downwards = turn % 2 == 1
        key = -longer if downwards else longer
        order[first : first + window] = inside[np.argsort(key, kind="stable")]


def window_pairs(
    lengths: tuple[Integer[np.ndarray, " N"], Integer[np.ndarray, " N"]], budgets: tuple[int, int]
) -> int:
    """How many pairs make up about a hundred updates."""
    updates = max(
        row.sum(dtype=np.int64) / budget for row, budget in zip(lengths, budgets, strict=True)
    )
    return math.ceil(len(lengths[0]) * WINDOW_UPDATES / updates)


def require_pairs(source: Integer[np.ndarray, " N"], target: Integer[np.ndarray, " M"]) -> None:
    """Refuse what nothing can be trained on."""
    assert len(source) == len(target), "a pair has two sides"
    if not len(source):
        raise InputError("there is no pair to train on", "look at what the cleaning left out")


def require_fit(side: str, lengths: Integer[np.ndarray, " N"], budget: int) -> None:
    """Refuse a pair that no update could hold."""
    longest = int(lengths.argmax())
    if lengths[longest] > budget:
        raise InputError(
            f"pair {longest + 1} has {lengths[longest]} {side} pieces, "
            f"more than an update may hold (data.{side}_tokens = {budget})",
            f"raise data.{side}_tokens, or lower data.max_length",
        )
