"""The bounds of a search: when it stops (`search.stop`), and how much memory it may use

A recipe may come from a stranger, and with it the width of the beam. Hypotheses have cached keys
and values, so a beam of 10,000 takes gigabytes and most of a minute for one short line.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.allowance import BEAM_BYTES, BEAM_VARIABLE, require_affordable
from transduce.errors import InputError, NotEnoughMemoryError, is_out_of_memory, short_repr
from transduce.paper.operations import PLAIN, Operations
from transduce.paper.search import (
    BeamState,
    DecodingStrategy,
    LengthScore,
    Result,
    State,
    StepResult,
    StepwiseModel,
    beam_strategy,
    find_done,
    max_output_length,
    run_continuous_batching,
)
from transduce.settings import Architecture, Search


def choose_beam_strategy(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    nbest: int = 1,
    *,
    operations: Operations = PLAIN,
) -> DecodingStrategy:
    """Return a beam search for `nbest` outputs per source, which ends by the rule `search.stop`.

    With the rule "early" a source has up to W hypotheses, best first; the caller takes the first
    `nbest`. Raise InputError if `nbest` is over `search.beam`.
    """
    exact = beam_strategy(model, sources, search, nbest, operations=operations)
    if search.stop == "exact":
        return exact
    whole = beam_strategy(model, sources, search, search.beam, operations=operations)
    length_score = LengthScore.of_sources(model, sources, search)

    def expand(beams: BeamState, log_probs: Float[Tensor, "R V"]) -> StepResult:
        result = whole.expand(beams, log_probs)
        scores = result.beams.finished_scores
        best = result.beams._replace(finished_scores=scores[:, :nbest])
        have_ended = scores[:, -1] > -torch.inf  # W hypotheses
        return result._replace(is_leaving=find_done(best, length_score) | have_ended)

    return replace(whole, expand=expand)


def search_in_memory(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    strategy: DecodingStrategy,
) -> Iterator[Result]:
    """Yield (source index, hypotheses) of each source; halve the batches if memory runs out.

    The unfinished sources are then decoded anew. Raise NotEnoughMemoryError if there is too little
    memory for a batch of one.
    """
    unfinished = set(range(len(sources)))
    size = min(search.batch_size, len(sources))
    while unfinished:
        attempt = run_continuous_batching(
            model,
            sources,
            replace(search, batch_size=size),
            strategy,
            indices=sorted(unfinished),
        )
        try:
            for index, hypotheses in attempt:
                unfinished.discard(index)
                yield index, hypotheses
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if size == 1:
                raise NotEnoughMemoryError(
                    "there is not enough memory to search a single sentence",
                    "try a smaller beam, shorter lines, or fewer --workers",
                ) from None
        size = max(1, min(size, len(unfinished)) // 2)


FLOAT = 4  # bytes of a float32
COPIES = 4  # of the log P of all symbols of a hypothesis: logits, sums, keys of the top-k
SAMPLING_COPIES = 14  # the same in sampling, with random keys in int64 and noise in float64
# `fast/kv_cache.py` has masks, two bools and a float32, for each pair of hypotheses and each of the
# last steps. They are 3.6 of the 4.2 GB that a beam of 10,000 of the smallest model took.
LIVE_STEPS, MASK_BYTES = 6, 2 + FLOAT
WIDEST = 21  # the paper's widest beam (section 6.3), which only free memory limits


def estimate_bytes(
    sizes: Architecture,
    symbols: int,
    length: int,
    search: Search,
    width: int,
    copies: int = COPIES,
) -> int:
    """Estimate the bytes of a search with `width` hypotheses for a source of `length` pieces.

    `symbols` is the size of the target vocabulary. `copies` of the log P of all symbols are in
    memory at once, counted in float32.
    """
    steps = max_output_length(length, search.extra_length)
    # numbers in the cached keys and values of one token, over all layers
    cached = sizes.decoder_depth * sizes.heads * (sizes.d_k + sizes.d_v)
    # 2 ·: for a copy of each number; 8: bytes of a token
    own = width * steps * (2 * cached * FLOAT + 2 * 8)
    own += width * width * min(steps, LIVE_STEPS) * MASK_BYTES
    return own + length * cached * FLOAT + width * symbols * FLOAT * copies


def require_affordable_beam(needed: int, length: int, width: int) -> None:
    """Raise InputError if `width` is over 21 and `needed` bytes exceed the limit for one beam.

    The limit is `BEAM_BYTES`, or the gigabytes in the environment variable TRANSDUCE_BEAM_GB.
    Raise InputError also if that is no number.
    """
    if width <= WIDEST:
        return
    given, most = os.environ.get(BEAM_VARIABLE), BEAM_BYTES
    if given is not None:
        try:
            most = max(int(float(given) * 1e9), 0)
        except (ValueError, OverflowError):
            fact = f"{BEAM_VARIABLE} is not a number of gigabytes: {short_repr(given)}"
            raise InputError(fact, f"{BEAM_VARIABLE}=8, for example") from None
    require_affordable(
        f"a sentence of {length:,} pieces with {width:,} hypotheses",
        needed,
        most,
        "a smaller beam (search.beam, --beam), fewer samples, or shorter lines; the environment "
        f"variable {BEAM_VARIABLE}={math.ceil(needed / 1e9)} allows this one",
    )
