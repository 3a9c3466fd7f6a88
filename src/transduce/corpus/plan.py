"""The sentence pairs of each update, as a pure function of (lengths, budgets, seed, step).

There is no state to save: with any number of processes, any split into micro-batches and after any
restart, a step has the same pairs. Sentence pairs are batched together by approximate length, and
an update holds about `source_tokens` source tokens and `target_tokens` target tokens (section
5.1). Both budgets count tokens without padding and are never exceeded.

Each text of a mixture is read in passes over all its pairs, one after another without end. An epoch
takes the next pairs of each text, in proportion to the shares. It has about as many pairs as
the texts read then have together. It ends early where a text begins or ceases to be read.
"""

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Int, Integer

from transduce.corpus.mixture import Share
from transduce.packed import greedy_cut
from transduce.text.arguments import ignore_event

# N: pairs of the corpus · M: of an epoch · P: of an update · K: texts · U: updates of an epoch

Lengths = tuple[Integer[np.ndarray, " N"], Integer[np.ndarray, " N"]]  # of sources, of targets
# takes an epoch's number and M pairs; returns the lengths of all N pairs, with the M pairs changed
Measure = Callable[[int, Int[np.ndarray, " M"]], Lengths]
WINDOW_UPDATES = 100  # pairs are sorted by length within windows of about this many updates


@final
class Plan:
    """The sentence pairs of each update, by its step; no pair may exceed a budget."""

    def __init__(  # noqa: PLR0913 - lengths, sizes of updates, and what decides the order
        self,
        source_lengths: Integer[np.ndarray, " N"],
        target_lengths: Integer[np.ndarray, " N"],
        *,
        source_tokens: int,
        target_tokens: int,
        seed: int,
        mixture: Sequence[Share] = (),
        measure: Measure | None = None,
        known_ends: Sequence[int] = (),
        on_epoch: Callable[[Sequence[int]], None] = ignore_event,
    ) -> None:
        """`known_ends` has the last step of each epoch that an equal plan has computed before.

        `on_epoch` is called with the last steps of all epochs so far when one more is computed.
        """
        assert len(source_lengths) == len(target_lengths) > 0, (
            "a store has pairs, each of two sides"
        )
        self.lengths = (source_lengths, target_lengths)
        self.measure = measure  # None if epochs change no lengths
        self.budgets = (source_tokens, target_tokens)
        self.seed = seed
        sides = zip(self.lengths, self.budgets, strict=True)
        updates = max(side.sum(dtype=np.int64) / budget for side, budget in sides)
        self.window = math.ceil(len(source_lengths) * WINDOW_UPDATES / updates)
        self.mixture = mixture or [Share(name="text", weight=1.0, pairs=len(source_lengths))]
        self.ends: list[int] = []  # the last step of each epoch computed so far
        self.taken = [np.zeros(len(self.mixture), np.int64)]  # drawn from each text before an epoch
        self.cached_epoch: Epoch | None = None
        self.on_epoch = on_epoch
        for end in known_ends:
            self.append_end(end)

    def select_pairs(self, step: int) -> Int[np.ndarray, " P"]:
        """Return the store indices of the P pairs that the update `step`, from 1, reads."""
        number, position = self.locate(step)
        return self.epoch(number).select_pairs(position)

    def locate(self, step: int) -> tuple[int, int]:
        """Return (epoch, position of the step in this epoch) for a step, all counted from 1."""
        assert step >= 1, f"steps are counted from 1, there is no step {step}"
        while not self.ends or self.ends[-1] < step:
            self.append_epoch()
        number = bisect.bisect_left(self.ends, step) + 1
        position = step - (self.ends[number - 2] if number > 1 else 0)
        if position > len(self.epoch(number)):  # `known_ends` are of another plan
            self.ends, self.taken = [], self.taken[:1]
            return self.locate(step)
        return number, position

    def append_epoch(self) -> None:
        """Append the next epoch's last step, or where a text begins or ceases; call `on_epoch`."""
        begin = self.ends[-1] + 1 if self.ends else 1
        end = begin - 1 + len(self.epoch(len(self.ends) + 1))
        changes = (step for share in self.mixture for step in (share.start - 1, share.stop))
        self.append_end(min([end, *(step for step in changes if step >= begin)]))
        self.on_epoch(self.ends)

    def append_end(self, end: int) -> None:
        """Append an epoch's last step to `ends`, and the pairs drawn from each text to `taken`."""
        begin = self.ends[-1] + 1 if self.ends else 1
        self.taken.append(self.taken[-1] + self.count_pairs(begin))
        self.ends.append(end)

    def epoch(self, number: int) -> "Epoch":
        """Return the epoch with this number, from 1; the last used epoch is cached."""
        if self.cached_epoch is None or self.cached_epoch.number != number:
            self.cached_epoch = None  # free memory before the next epoch is computed
            self.cached_epoch = self.draw_epoch(number)
        return self.cached_epoch

    def count_pairs(self, step: int) -> Int[np.ndarray, " K"]:
        """Return how many pairs of each of K texts are in an epoch that begins at `step`."""
        are_read = np.array([share.is_read(step) for share in self.mixture])
        assert are_read.any(), f"no text is read at step {step}"
        weights = np.array([share.weight for share in self.mixture]) * are_read
        total = sum(share.pairs for share in self.mixture if share.is_read(step))
        return np.maximum(np.rint(total * weights / weights.sum()), are_read).astype(np.int64)

    def select_epoch(self, number: int) -> Int[np.ndarray, " M"]:
        """Return the store indices of an epoch's M pairs, text by text."""
        while len(self.ends) < number - 1:
            self.append_epoch()
        begin = 1 if number == 1 else self.ends[number - 2] + 1
        taken, counts = self.taken[number - 1], self.count_pairs(begin)
        parts, first = list[Int[np.ndarray, " _"]](), 0
        for text, (share, start, count) in enumerate(zip(self.mixture, taken, counts, strict=True)):
            found = take_from_passes(share.pairs, int(start), int(count), (self.seed, text + 1))
            parts.append(first + found)
            first += share.pairs
        return np.concatenate(parts)

    def draw_epoch(self, number: int) -> "Epoch":
        """Draw an epoch at random: updates whose pairs have similar lengths, in random order.

        The pairs are shuffled, sorted by length inside windows, and cut into updates; then the
        updates are shuffled.
        """
        generator = np.random.Philox(np.random.SeedSequence([self.seed, number]))
        pairs = self.select_epoch(number)
        order = pairs[draw_permutation(len(pairs), generator)]
        lengths = self.measure(number, pairs) if self.measure else self.lengths
        sort_inside_windows(order, lengths, self.window)
        cuts = greedy_cut([side[order] for side in lengths], self.budgets)
        return Epoch(number, order, draw_permutation(len(cuts) - 1, generator), cuts, lengths)


@final
@dataclass(frozen=True, eq=False)
class Epoch:
    """An epoch's pairs, cut into updates, and the random order of the updates."""

    number: int
    order: Int[np.ndarray, " M"]  # the pairs' indices in the store
    update_order: Int[np.ndarray, " U"]  # for each update, the index of its part of `order`
    cuts: Int[np.ndarray, " U+1"]  # where each part of `order` begins, then M
    lengths: Lengths  # of the corpus's N pairs, after this epoch's changes to the M pairs

    def __len__(self) -> int:
        return len(self.update_order)

    def select_pairs(self, position: int) -> Int[np.ndarray, " P"]:
        """Return the store indices of the P pairs of this epoch's update `position`, from 1."""
        part = self.update_order[position - 1]
        return self.order[self.cuts[part] : self.cuts[part + 1]].copy()


def draw_permutation(count: int, generator: np.random.Philox) -> Int[np.ndarray, " N"]:
    """Return 0 to `count` - 1 in a random order that is the same in every version of numpy."""
    return np.argsort(generator.random_raw(count), kind="stable")


def take_from_passes(
    pairs: int, start: int, count: int, seed: tuple[int, int]
) -> Int[np.ndarray, " M"]:
    """Return pair indices `start` to `start + count` of endless passes; shuffle partial ones only.

    Each pass has another random order. A pass that is taken whole is in ascending order instead,
    since the epoch is shuffled anyway.
    """
    parts = []
    for number in range(start // pairs, -(-(start + count) // pairs)):
        first, last = max(start - number * pairs, 0), min(start + count - number * pairs, pairs)
        if last - first == pairs:
            parts.append(np.arange(pairs))
        else:
            generator = np.random.Philox(np.random.SeedSequence([*seed, number + 1]))
            parts.append(draw_permutation(pairs, generator)[first:last])
    return np.concatenate(parts) if parts else np.arange(0)


def sort_inside_windows(order: Int[np.ndarray, " M"], lengths: Lengths, window: int) -> None:
    """Sort every `window` consecutive pairs of `order` in place, by the length of the longer side.

    In measurements this order was better than by source length, by source then target length, or
    by the sum of both lengths. Neighbouring pairs have similar lengths on both sides, and both
    token budgets are filled, because pairs with longer sources and with longer targets stay mixed.
    Every second window is sorted from long to short, so that lengths are also similar where two
    windows touch.
    """
    for turn, first in enumerate(range(0, len(order), window)):
        inside = order[first : first + window]
        longer = np.maximum(lengths[0][inside], lengths[1][inside])
        key = -longer if turn % 2 else longer
        order[first : first + window] = inside[np.argsort(key, kind="stable")]
