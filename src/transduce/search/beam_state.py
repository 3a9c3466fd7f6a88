"""The state of a search: hypotheses as rows of a few tensors; how sentences come and go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.search.decoder import BEGIN, END, Decoder, State
from transduce.settings import Search

# S sentences · W width of the beam · N best finished hypotheses · L places · R = S W rows


class Hypotheses(NamedTuple):
    """All that grows, a row a sentence. Unwritten places hold END; dead ones are at -inf."""

    numbers: Int[Tensor, " S"]  # which sentences of the input they are, from 0
    written: Int[Tensor, " S"]  # symbols so far, the same for all of a sentence
    longest: Int[Tensor, " S"]  # symbols allowed, END among them
    ids: Int[Tensor, "S W"]  # the symbols written last
    log_probs: Float[Tensor, "S W"]  # best first
    tokens: Int[Tensor, "S W L"]
    finished_scores: Float[Tensor, "S N"]  # best first
    finished_log_probs: Float[Tensor, "S N"]
    finished_tokens: Int[Tensor, "S N L"]


class Growth(NamedTuple):
    """What a step makes of them."""

    hypotheses: Hypotheses
    rows: Int[Tensor, " R"] | None  # the row that each grew from; None if every row stayed
    over: Bool[Tensor, " S"]  # sentences that have all that was asked for


@final
@dataclass(frozen=True)
class Way:
    """How hypotheses grow: what beam search and sampling do not share."""

    width: int  # hypotheses of a sentence
    living: int  # of these, before the first symbol
    kept: int  # finished ones
    grow: Callable[[Hypotheses, Float[Tensor, "R V"]], Growth]


@final
@dataclass(frozen=True)
class Beam(Generic[State]):
    """The sentences that are being translated."""

    state: State
    hypotheses: Hypotheses


def max_output_length(source: Sequence[int], extra: int) -> int:
    """The longest output: input length + extra, END counted on neither side    (section 6.1)"""
    return len(source) - 1 + extra


def started(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    numbers: Sequence[int],
    search: Search,
    way: Way,
) -> Beam[State]:
    """Sentences before their first symbol: one row each in the state, for all begin alike."""
    count, width, device = len(numbers), way.width, decoder.device
    chosen = [sources[number] for number in numbers]
    longest = torch.tensor(
        [max_output_length(source, search.extra_length) + 1 for source in chosen], device=device
    )
    dead = torch.full((count, width + way.kept), -torch.inf, device=device)
    tokens = torch.full((count, width + way.kept, int(longest.max())), END, device=device)
    hypotheses = Hypotheses(
        numbers=torch.tensor(numbers, device=device),
        written=torch.zeros_like(longest),
        longest=longest,
        ids=torch.full((count, width), BEGIN, device=device),
        log_probs=dead[:, :width].index_fill(1, torch.arange(way.living, device=device), 0.0),
        tokens=tokens[:, :width],
        finished_scores=dead[:, width:],
        finished_log_probs=dead[:, width:],
        finished_tokens=tokens[:, width:],
    )
    return Beam(decoder.start(chosen), hypotheses)


def joined(decoder: Decoder[State], first: Beam[State], second: Beam[State]) -> Beam[State]:
    """The sentences of both."""
    places = max(first.hypotheses.tokens.shape[2], second.hypotheses.tokens.shape[2])
    both = zip(
        with_places(first.hypotheses, places), with_places(second.hypotheses, places), strict=True
    )
    return Beam(
        decoder.concatenate(first.state, second.state),
        Hypotheses(*map(torch.cat, both)),
    )


def of_sentences(hypotheses: Hypotheses, sentences: Sequence[int]) -> Hypotheses:
    """Some of the sentences, with no more places than these need."""
    index = torch.tensor(sentences, device=hypotheses.ids.device)
    some = Hypotheses(*(tensor[index] for tensor in hypotheses))
    return with_places(some, int(some.longest.max()))


def with_places(hypotheses: Hypotheses, places: int) -> Hypotheses:
    """Room for so many symbols."""
    change = (0, places - hypotheses.tokens.shape[2])  # pad also cuts
    return hypotheses._replace(
        tokens=pad(hypotheses.tokens, change, value=END),
        finished_tokens=pad(hypotheses.finished_tokens, change, value=END),
    )
