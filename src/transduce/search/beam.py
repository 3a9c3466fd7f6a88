"""Beam search: the best hypotheses of every source (section 6.1).

One step finds the 2 W best continuations of the W hypotheses of a sentence. Continuations that end
in END are finished; the best W without END stay live. At most W of the 2 W can end in END, so the
beam stays full, and a beam wide enough for every prefix finds every output. A beam of 1 is greedy
search: it appends the likeliest symbol until that is END.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.errors import InputError
from transduce.machine.device import is_any_true
from transduce.search.beam_state import BeamState, DecodingStrategy, StepResult
from transduce.search.continuous_batching import (
    Hypothesis,
    Result,
    run_continuous_batching,
    tabulate_length_score,
)
from transduce.search.decoder import END, Decoder, State
from transduce.search.length_score import LengthScore
from transduce.search.stable_topk import stable_topk, stable_topk_sums
from transduce.settings import Search

# S sentences · W width of the beam · R = S W rows, one per hypothesis · V symbols
# N finished hypotheses kept for each sentence
# C candidates of a sentence · L symbols of an output


class Candidates(NamedTuple):
    """The best continuations, by one symbol, of each sentence's live hypotheses; best first."""

    log_probs: Float[Tensor, "S C"]  # log P of a candidate, the sum over its symbols
    parents: Int[Tensor, "S C"]  # index in the beam of the hypothesis that a candidate extends
    symbols: Int[Tensor, "S C"]  # the symbol that a candidate appends
    ends: Bool[Tensor, "S C"]  # whether that symbol is END
    lengths: Int[Tensor, "S 1"]  # symbols of each candidate of a sentence


def beam_search(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    *,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """Return the `nbest` best hypotheses of each source, best first, in input order.

    A source has fewer hypotheses if fewer exist. The result does not depend on other sources.
    """
    found = dict(beam_search_unordered(decoder, sources, search, nbest=nbest))
    return [found[index] for index in range(len(sources))]


def beam_search_unordered(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    *,
    nbest: int = 1,
) -> Iterator[Result]:
    """Yield (source index, its `nbest` best hypotheses) as soon as the search of a source ends.

    Long sources are decoded first.
    """
    if not 1 <= nbest <= search.beam:
        raise InputError(
            f"{nbest} best hypotheses are asked for, but the beam holds {search.beam}",
            "ask for 1 or more, and at most as many as search.beam",
        )
    strategy = build_beam_strategy(decoder, sources, search, nbest)
    return run_continuous_batching(decoder, sources, search, strategy)


def build_beam_strategy(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    nbest: int,
    *,
    end_candidates: int | None = None,
) -> DecodingStrategy:
    """Build the strategy of beam search that keeps `nbest` finished hypotheses of each source.

    With `end_candidates` a hypothesis ends only if it is one of so many best continuations, as in
    other programs; by default any of the 2 W may end.
    """
    length_score = tabulate_length_score(decoder, sources, search)
    expand = partial(expand_beams, length_score=length_score, end_candidates=end_candidates)
    return DecodingStrategy(search.beam, initially_live=1, finished_kept=nbest, expand=expand)


def expand_beams(
    beams: BeamState,
    log_probs: Float[Tensor, "R V"],
    length_score: LengthScore,
    end_candidates: int | None = None,
) -> StepResult:
    """Do one step of beam search: extend all hypotheses, keep the best, find finished sentences.

    With a beam of 1 the decoder's rows need no reordering.
    """
    candidates = find_best_continuations(beams, log_probs)
    rows = torch.arange(beams.log_probs.shape[0], device=log_probs.device)[:, None]
    finished = candidates
    if end_candidates is not None:
        ranks = torch.arange(candidates.ends.shape[1], device=log_probs.device)
        finished = candidates._replace(ends=candidates.ends & (ranks < end_candidates))
    beams = update_finished(beams, finished, rows, length_score)
    beams, parents = update_live(beams, candidates, rows)
    width = parents.shape[1]
    parent_rows = (rows * width + parents).flatten() if width > 1 else None
    return StepResult(beams, parent_rows, is_done(beams, length_score))


def find_best_continuations(beams: BeamState, log_probs: Float[Tensor, "R V"]) -> Candidates:
    """Return the 2 W best continuations of each sentence's W hypotheses; only 1 if W is 1.

    At the length limit every hypothesis must end: its only continuation is END.
    """
    width, symbols = beams.log_probs.shape[1], log_probs.shape[1]
    count = 1 if width == 1 else min(2 * width, width * symbols)
    totals, columns = stable_topk_sums(beams.log_probs, log_probs, count)
    lengths = beams.lengths[:, None] + 1
    at_limit = lengths == beams.max_lengths[:, None]
    if is_any_true(at_limit):
        end_totals, end_columns = append_end(beams, log_probs, count)
        totals, columns = totals.where(~at_limit, end_totals), columns.where(~at_limit, end_columns)
    found = columns % symbols
    return Candidates(totals, columns // symbols, found, found == END, lengths)


def append_end(
    beams: BeamState, log_probs: Float[Tensor, "R V"], count: int
) -> tuple[Float[Tensor, "S C"], Int[Tensor, " C"]]:
    """Return log P of each sentence's W hypotheses with END appended, and their columns.

    The column of symbol v after hypothesis w is w V + v. Beyond W, up to C = `count`, log P is
    -inf.
    """
    width, symbols = beams.log_probs.shape[1], log_probs.shape[1]
    ended = beams.log_probs + log_probs[:, END].view_as(beams.log_probs)
    parents = torch.arange(count, device=log_probs.device) % width
    return pad(ended, (0, count - width), value=-torch.inf), parents * symbols + END


def update_finished(
    beams: BeamState, candidates: Candidates, rows: Int[Tensor, "S 1"], length_score: LengthScore
) -> BeamState:
    """Add each sentence's candidates that end in END to its finished hypotheses; keep the best.

    Of two hypotheses with equal scores the older is kept.
    """
    if not is_any_true(candidates.ends):
        return beams
    scores = length_score.score(candidates.log_probs, candidates.lengths)
    scores = scores.where(candidates.ends, -torch.inf)
    nbest = beams.finished_scores.shape[1]
    scores, kept = stable_topk(torch.cat([beams.finished_scores, scores], dim=1), nbest)  # [S N]
    log_probs = torch.cat([beams.finished_log_probs, candidates.log_probs], dim=1)
    old = torch.arange(nbest, device=kept.device).expand_as(kept)
    origins = torch.cat([old, candidates.parents + nbest], dim=1).gather(1, kept)
    tokens = torch.cat([beams.finished_tokens, beams.tokens], dim=1)
    return beams._replace(
        finished_scores=scores,
        finished_log_probs=log_probs.gather(1, kept),
        finished_tokens=tokens[rows, origins],
    )


def update_live(
    beams: BeamState, candidates: Candidates, rows: Int[Tensor, "S 1"]
) -> tuple[BeamState, Int[Tensor, "S W"]]:
    """Make the W best candidates without END live; return the beams, and the parents' indices.

    If there are fewer than W such candidates, dead hypotheses fill the beam.
    """
    log_probs, ids, parents = keep_live(candidates, beams.last_ids.shape[1])
    position = beams.lengths[:, None, None].expand(*ids.shape, 1)
    tokens = beams.tokens[rows, parents].scatter_(2, position, ids[:, :, None])
    beams = beams._replace(
        lengths=candidates.lengths[:, 0], last_ids=ids, log_probs=log_probs, tokens=tokens
    )
    return beams, parents


def keep_live(
    candidates: Candidates, width: int
) -> tuple[Float[Tensor, "S W"], Int[Tensor, "S W"], Int[Tensor, "S W"]]:
    """Return the W = `width` best candidates without END: log P, symbols, and parents.

    Where there are fewer, candidates with END and log P of -inf follow.
    """
    log_probs, parents, symbols, ends, _ = candidates
    if not is_any_true(ends):
        return log_probs[:, :width], symbols[:, :width], parents[:, :width]
    order = ends.sort(dim=1, stable=True).indices[:, :width]  # [S W]
    log_probs = log_probs.masked_fill(ends, -torch.inf).gather(1, order)
    return log_probs, symbols.gather(1, order), parents.gather(1, order)


def is_done(beams: BeamState, length_score: LengthScore) -> Bool[Tensor, " S"]:
    """Return which sentences are done: no live hypothesis can beat the worst finished one kept.

    No better hypothesis is lost, since the bound holds for all lengths up to the limit. A sentence
    at the limit is done.
    """
    reachable = length_score.upper_bound(beams.log_probs[:, 0], beams.max_lengths)
    beaten = reachable <= beams.finished_scores[:, -1]
    return beaten | (beams.lengths == beams.max_lengths)
