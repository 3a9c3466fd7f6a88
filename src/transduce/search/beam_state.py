"""The state of beam search or sampling: all hypotheses of a batch as rows of a few tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.packed import move_to_device
from transduce.search.decoder import BEGIN, END, Decoder, State
from transduce.settings import Search

# S sentences · W live and N finished hypotheses of each · R = S W rows, one per live hypothesis
# L symbols of the longest output · V symbols of the vocabulary


class BeamState(NamedTuple):
    """The live and finished hypotheses of S sentences; every tensor has one row per sentence.

    Tokens that are not written yet are END; dead hypotheses have log-probability -inf.
    """

    sentences: Int[Tensor, " S"]  # index of each sentence in the input, from 0
    lengths: Int[Tensor, " S"]  # symbols written, the same for all hypotheses of a sentence
    max_lengths: Int[Tensor, " S"]  # symbols allowed, END included
    last_ids: Int[Tensor, "S W"]  # the symbols written last
    log_probs: Float[Tensor, "S W"]  # log P of live hypotheses; in beam search the best come first
    tokens: Int[Tensor, "S W L"]
    finished_scores: Float[Tensor, "S N"]  # in beam search the best come first
    finished_log_probs: Float[Tensor, "S N"]
    finished_tokens: Int[Tensor, "S N L"]


class StepResult(NamedTuple):
    """The result of one step: new beams, their parent rows, and which sentences are done."""

    beams: BeamState
    parent_rows: Int[Tensor, " R"] | None  # the row that each new row extends; None: the same row
    is_done: Bool[Tensor, " S"]  # True for sentences that need no further step


@final
@dataclass(frozen=True)
class DecodingStrategy:
    """Beam search or sampling: the number of hypotheses, and the function that extends them."""

    width: int  # rows of each sentence, for live hypotheses
    initially_live: int  # live hypotheses of a sentence before the first symbol
    finished_kept: int  # finished hypotheses stored for each sentence
    expand: Callable[[BeamState, Float[Tensor, "R V"]], StepResult]  # called with log P of symbols


@final
@dataclass(frozen=True)
class ActiveBatch(Generic[State]):
    """The sentences that are being decoded: the decoder's state and the state of their beams."""

    decoder_state: State
    beams: BeamState


def max_output_length(source: Sequence[int], extra: int) -> int:
    """Return how many symbols an output may have before END: input length + extra (section 6.1)."""
    return len(source) - 1 + extra


def start_batch(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    sentences: Sequence[int],
    search: Search,
    strategy: DecodingStrategy,
) -> ActiveBatch[State]:
    """Build a batch of the given sentences (indices into `sources`) before their first symbol.

    The decoder's state has one row per sentence, since all hypotheses of a sentence begin equal.
    """
    count, width, device = len(sentences), strategy.width, decoder.device
    chosen = [sources[sentence] for sentence in sentences]
    limits = [max_output_length(source, search.extra_length) + 1 for source in chosen]
    dead = torch.full((count, width + strategy.finished_kept), -torch.inf, device=device)
    tokens = torch.full((*dead.shape, max(limits)), END, device=device)
    live = torch.arange(strategy.initially_live, device=device)
    max_lengths = move_to_device(torch.tensor(limits), device)
    beams = BeamState(
        sentences=move_to_device(torch.tensor(sentences), device),
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
    """Return the given sentences' beams (rows), with tokens cut to their highest length limit."""
    index = move_to_device(torch.tensor(rows), beams.last_ids.device)
    selected = BeamState(*(tensor[index] for tensor in beams))
    return resize_tokens(selected, int(selected.max_lengths.max()))


def resize_tokens(beams: BeamState, length: int) -> BeamState:
    """Cut the tokens of all hypotheses to `length` symbols, or pad them with END."""
    change = (0, length - beams.tokens.shape[2])  # a negative pad cuts
    return beams._replace(
        tokens=pad(beams.tokens, change, value=END),
        finished_tokens=pad(beams.finished_tokens, change, value=END),
    )
