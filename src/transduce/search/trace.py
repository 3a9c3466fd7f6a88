"""Beam search of one source that also returns the live hypotheses of every step"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from jaxtyping import Float
from torch import Tensor

from transduce.paper.operations import PLAIN, HighestSums, Operations
from transduce.paper.search import BeamState, Hypothesis, State, StepResult, StepwiseModel
from transduce.search.bounds import choose_beam_strategy, search_in_memory
from transduce.settings import Search

# R rows, one per hypothesis · V symbols


@final
@dataclass(frozen=True)
class LiveHypothesis:
    """A live hypothesis before a step of the search, and its most probable next symbols."""

    ids: tuple[int, ...]
    log_prob: float  # the sum of log P over its symbols, in nats
    following: tuple[tuple[int, float], ...]  # allowed next symbols with log P, best first


@final
@dataclass(frozen=True)
class SearchTrace:
    """The best hypothesis of one source, and the live hypotheses before each step, best first."""

    best: Hypothesis
    steps: list[list[LiveHypothesis]]


def trace_beam_search(
    model: StepwiseModel[State],
    source: Sequence[int],
    search: Search,
    alternatives: int,
    *,
    operations: Operations = PLAIN,
) -> SearchTrace:
    """Search one source; return the best hypothesis, and the live ones before each step.

    Each live hypothesis has at most `alternatives` next symbols.
    """
    strategy = choose_beam_strategy(model, [source], search, operations=operations)
    steps = list[list[LiveHypothesis]]()

    def expand_and_record(beams: BeamState, log_probs: Float[Tensor, "R V"]) -> StepResult:
        steps.append(list_live_hypotheses(beams, log_probs, alternatives, operations.highest_sums))
        return strategy.expand(beams, log_probs)

    recording = replace(strategy, expand=expand_and_record)
    ((_, hypotheses),) = search_in_memory(model, [source], search, recording)
    return SearchTrace(hypotheses[0], steps)


def list_live_hypotheses(
    beams: BeamState,
    log_probs: Float[Tensor, "R V"],
    alternatives: int,
    highest_sums: HighestSums,
) -> list[LiveHypothesis]:
    """Return one sentence's live hypotheses, each with at most `alternatives` next symbols."""
    nothing = log_probs.new_zeros(len(log_probs), 1)
    values, ids = highest_sums(nothing, log_probs, min(alternatives, log_probs.shape[1]))
    written = beams.tokens[0, :, : int(beams.lengths[0])].tolist()
    rows = zip(written, beams.log_probs[0].tolist(), ids.tolist(), values.tolist(), strict=True)
    return [
        LiveHypothesis(
            tuple(one),
            log_prob,
            tuple(pair for pair in zip(symbols, chances, strict=True) if pair[1] > -math.inf),
        )
        for one, log_prob, symbols, chances in rows
        if log_prob > -math.inf
    ]
