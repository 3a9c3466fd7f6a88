"""The state of a search: all hypotheses as rows of a few tensors, and batches of sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.search.decoder import BEGIN, END, Decoder, State
from transduce.settings import Search

# S sentences · W width of the beam · N finished hypotheses kept · L symbols · R = S W rows


class BeamState(NamedTuple):
    """The live and finished hypotheses of S sentences; every tensor has a row a sentence.

    Tokens not written yet are END; dead hypotheses have log-probability -inf.
    """

    sentences: Int[Tensor, " S"]  # their indices in the input, from 0
    lengths: Int[Tensor, " S"]  # symbols written, the same for all hypotheses of a sentence
    max_lengths: Int[Tensor, " S"]  # symbols allowed, END included
    last_ids: Int[Tensor, "S W"]  # the symbols written last
    log_probs: Float[Tensor, "S W"]  # of live hypotheses; beam search keeps the best first
    tokens: Int[Tensor, "S W L"]
    finished_scores: Float[Tensor, "S N"]  # beam search keeps the best first
    finished_log_probs: Float[Tensor, "S N"]
    finished_tokens: Int[Tensor, "S N L"]


class StepResult(NamedTuple):
    """The beam state after one step, the row that each row extends, and the finished sentences."""

    beams: BeamState
    parent_rows: Int[Tensor, " R"] | None  # the row each row extends; None if every row its own
    is_done: Bool[Tensor, " S"]  # True for sentences that need no further step


@final
@dataclass(frozen=True)
class DecodingStrategy:
    """What distinguishes beam search from sampling: how many hypotheses, and how they expand."""

    width: int  # hypotheses of a sentence
    initially_live: int  # of these, before the first symbol
    finished_kept: int
    expand: Callable[[BeamState, Float[Tensor, "R V"]], StepResult]


@final
@dataclass(frozen=True)
class ActiveBatch(Generic[State]):
    """The sentences being decoded: the decoder's state and the beam state, row for row."""

    decoder_state: State
    beams: BeamState


def max_output_length(source: Sequence[int], extra: int) -> int:
    """Return the length limit of an output, input length + extra, without END (section 6.1)."""
    return len(source) - 1 + extra


def start_batch(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    sentences: Sequence[int],
    search: Search,
    strategy: DecodingStrategy,
) -> ActiveBatch[State]:
    """Build the batch of some sentences before their first symbol.

    The decoder's state has one row a sentence, for all its hypotheses begin alike.
    """
    count, width, device = len(sentences), strategy.width, decoder.device
    chosen = [sources[sentence] for sentence in sentences]
    limits = [max_output_length(source, search.extra_length) + 1 for source in chosen]
    dead = torch.full((count, width + strategy.finished_kept), -torch.inf, device=device)
    tokens = torch.full((*dead.shape, max(limits)), END, device=device)
    live = torch.arange(strategy.initially_live, device=device)
    max_lengths = torch.tensor(limits, device=device)
    beams = BeamState(
        sentences=torch.tensor(sentences, device=device),
        lengths=torch.zeros_like(max_lengths),
        max_lengths=max_lengths,
        last_ids=torch.full((count, width), BEGIN, device=device),
        log_probs=dead[:, :width].index_fill(1, live, 0.0),
        tokens=tokens[:, :width],
        finished_scores=dead[:, width:],
        finished_log_probs=dead[:, width:],
        finished_tokens=tokens[:, width:],
    )
    return ActiveBatch(decoder.start(chosen), beams)


def merge_batches(
    decoder: Decoder[State], first: ActiveBatch[State], second: ActiveBatch[State]
) -> ActiveBatch[State]:
    """Concatenate the sentences of two batches, those of the first batch first."""
    length = max(batch.beams.tokens.shape[2] for batch in (first, second))
    both = zip(resize_tokens(first.beams, length), resize_tokens(second.beams, length), strict=True)
    return ActiveBatch(
        decoder.concatenate(first.decoder_state, second.decoder_state),
        BeamState(*map(torch.cat, both)),
    )


def select_sentences(beams: BeamState, rows: Sequence[int]) -> BeamState:
    """Return the beam state of some sentences, its token tensors no longer than these need."""
    index = torch.tensor(rows, device=beams.last_ids.device)
    selected = BeamState(*(tensor[index] for tensor in beams))
    return resize_tokens(selected, int(selected.max_lengths.max()))


def resize_tokens(beams: BeamState, length: int) -> BeamState:
    """Return the beam state with room for `length` symbols an output, padded by END or cut."""
    change = (0, length - beams.tokens.shape[2])  # a negative pad cuts
    return beams._replace(
        tokens=pad(beams.tokens, change, value=END),
        finished_tokens=pad(beams.finished_tokens, change, value=END),
    )
