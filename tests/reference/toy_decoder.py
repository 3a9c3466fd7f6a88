"""A decoder around a plain function, row by row, that checks the guarantees of the search."""

import functools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tests.reference.exhaustive_search import Model

from transduce.vocabulary import BEGIN


@dataclass(frozen=True)
class ToyState:
    """The source and the ids written so far of every row."""

    sources: tuple[tuple[int, ...], ...]
    prefixes: tuple[tuple[int, ...], ...]  # with BEGIN, once it was appended


class ToyDecoder:
    """A decoder on Python tuples that counts its calls of `step`."""

    device = torch.device("cpu")

    def __init__(self, model: Model, beam: int) -> None:
        self.model, self.beam, self.steps = model, beam, 0

    def start(self, sources: Sequence[Sequence[int]]) -> ToyState:
        assert sources
        return ToyState(tuple(map(tuple, sources)), ((),) * len(sources))

    def step(self, state: ToyState, ids: torch.Tensor) -> tuple[torch.Tensor, ToyState]:
        self.steps += 1
        assert len(ids) == len(state.sources)
        width = self.beam if any(state.prefixes) else 1
        assert len(ids) % width == 0
        for first in range(0, len(ids), width):
            assert len(set(state.sources[first : first + width])) == 1
            assert len({len(p) for p in state.prefixes[first : first + width]}) == 1
        prefixes = tuple((*p, i) for p, i in zip(state.prefixes, ids.tolist(), strict=True))
        assert all(prefix[0] == BEGIN for prefix in prefixes)
        rows = [self.model(s, p[1:]) for s, p in zip(state.sources, prefixes, strict=True)]
        return torch.tensor(rows), ToyState(state.sources, prefixes)

    def reorder(self, state: ToyState, rows: torch.Tensor) -> ToyState:
        chosen = rows.tolist()
        return ToyState(
            tuple(state.sources[row] for row in chosen),
            tuple(state.prefixes[row] for row in chosen),
        )

    def concatenate(self, first: ToyState, second: ToyState) -> ToyState:
        return ToyState(first.sources + second.sources, first.prefixes + second.prefixes)


def random_model(seed: int, symbols: int, sharpness: float = 2.0) -> Model:
    """Build a model with a random but fixed distribution after every prefix of every source."""

    @functools.cache
    def log_probs(source: Sequence[int], prefix: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {source} {prefix}")
        logits = [draw.gauss(0, sharpness) for _ in range(symbols)]
        total = math.log(sum(math.exp(logit) for logit in logits))
        return [logit - total for logit in logits]

    return log_probs
