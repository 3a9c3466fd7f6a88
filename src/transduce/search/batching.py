"""Beam search over any number of sources: the best hypotheses of each    (section 6.1)"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.errors import InputError, NotFiniteError
from transduce.search.beam_state import (
    Beam,
    Growth,
    Hypotheses,
    Way,
    joined,
    max_output_length,
    of_sentences,
    started,
)
from transduce.search.beam_step import grown
from transduce.search.decoder import END, Decoder, State
from transduce.search.penalties import divisors
from transduce.settings import Search


@final
@dataclass(frozen=True)
class Hypothesis:
    """A finished output: ids without END, log P over the length penalty, log P in nats."""

    ids: tuple[int, ...]
    score: float
    log_prob: float


Result = tuple[int, list[Hypothesis]]  # the number of a source, from 0, and its best, best first


def beam_search(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    *,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """The `nbest` best hypotheses of each source, best first; fewer where fewer exist.

    In input order. What is found for a source does not depend on its company.
    """
    found = dict(beam_search_unordered(decoder, sources, search, nbest=nbest))
    return [found[number] for number in range(len(sources))]


def beam_search_unordered(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    *,
    nbest: int = 1,
) -> Iterator[Result]:
    """The same, each as soon as it is final; long sources are begun first."""
    if not 1 <= nbest <= search.beam:
        raise InputError(
            f"{nbest} best hypotheses are asked for, but the beam holds {search.beam}",
            "ask for 1 or more, and at most as many as search.beam",
        )
    table = table_of(decoder, sources, search)
    way = Way(search.beam, 1, nbest, partial(grown, divisors=table))
    return searched(decoder, sources, search, way)


def table_of(
    decoder: Decoder[State], sources: Sequence[Sequence[int]], search: Search
) -> Float[Tensor, " lengths"]:
    """The length penalties that these sources may need."""
    longest = max(
        (max_output_length(source, search.extra_length) + 1 for source in sources), default=0
    )
    return divisors(search, longest).to(decoder.device)


def searched(
    decoder: Decoder[State], sources: Sequence[Sequence[int]], search: Search, way: Way
) -> Iterator[Result]:
    """Step by step; when half the places are free, waiting sources take them."""
    waiting = deque(sorted(range(len(sources)), key=lambda n: len(sources[n]), reverse=True))
    beam: Beam[State] | None = None
    while waiting or beam:
        free = search.batch_size - (len(beam.hypotheses.numbers) if beam else 0)
        with torch.inference_mode():
            if waiting and free >= search.batch_size / 2:
                numbers = [waiting.popleft() for _ in range(min(free, len(waiting)))]
                fresh = started(decoder, sources, numbers, search, way)
                begun, results = begin(decoder, fresh, way)
                beam = joined(decoder, beam, begun) if beam and begun else beam or begun
            else:
                assert beam
                beam, results = advanced(decoder, beam, way)
        yield from results


def begin(
    decoder: Decoder[State], beam: Beam[State], way: Way
) -> tuple[Beam[State] | None, list[Result]]:
    """The first symbol of all hypotheses of a sentence, from the one row that they share."""
    hypotheses = beam.hypotheses
    log_probs, state = decoder.step(beam.state, hypotheses.ids[:, 0])
    growth = way.grow(hypotheses, log_probs.repeat_interleave(way.width, dim=0))
    rows = torch.arange(len(log_probs), device=log_probs.device).repeat_interleave(way.width)
    return settled(decoder, state, growth._replace(rows=rows))


def advanced(
    decoder: Decoder[State], beam: Beam[State], way: Way
) -> tuple[Beam[State] | None, list[Result]]:
    """The sentences that go on, a symbol further, and the results of those that are over."""
    log_probs, state = decoder.step(beam.state, beam.hypotheses.ids.flatten())
    return settled(decoder, state, way.grow(beam.hypotheses, log_probs))


def settled(
    decoder: Decoder[State], state: State, growth: Growth
) -> tuple[Beam[State] | None, list[Result]]:
    """Rows where they belong after a step, and the results of sentences that are over."""
    hypotheses, rows, over = growth
    flags: list[bool] = over.tolist()  # here the device is waited for, and when a cache makes room
    if not any(flags):
        return Beam(state if rows is None else decoder.reorder(state, rows), hypotheses), []
    results = results_of(hypotheses, [sentence for sentence, flag in enumerate(flags) if flag])
    goes_on = staying(flags)
    if not goes_on:
        return None, results
    rows = torch.arange(hypotheses.ids.numel(), device=over.device) if rows is None else rows
    state = decoder.reorder(state, rows.view(len(flags), -1)[goes_on].flatten())
    return Beam(state, of_sentences(hypotheses, goes_on)), results


def staying(over: Sequence[bool]) -> list[int]:
    """The sentences that go on: the last ones in the places of those that are over."""
    count = over.count(False)
    last = (sentence for sentence in range(count, len(over)) if not over[sentence])
    return [next(last) if over[place] else place for place in range(count)]


def results_of(hypotheses: Hypotheses, ended: Sequence[int]) -> list[Result]:
    """The finished hypotheses of some sentences, moved from the device at once."""
    numbers = hypotheses.numbers[ended].tolist()
    scores = hypotheses.finished_scores[ended].tolist()
    log_probs = hypotheses.finished_log_probs[ended].tolist()
    tokens = hypotheses.finished_tokens[ended].tolist()
    results = []
    for number, *finished in zip(numbers, tokens, scores, log_probs, strict=True):
        found = [
            Hypothesis(tuple(ids[: ids.index(END)]), score, log_prob)
            for ids, score, log_prob in zip(*finished, strict=True)
            if score > -math.inf
        ]
        if not found:
            raise NotFiniteError(
                f"no translation of sentence {number + 1} has a finite probability",
                "the weights are damaged: verify the model, or take an older checkpoint",
            )
        results.append((number, found))
    return results
