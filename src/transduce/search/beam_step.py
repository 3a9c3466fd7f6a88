"""One step of beam search: every hypothesis grows by a symbol, the best of each sentence stay.

From the W hypotheses of a sentence come its 2 W best continuations. Those that end in END are
finished, all of them; the best W others live on. At most W of the 2 W can end, so the beam stays
full, and a width that holds every prefix finds every sentence. A beam of 1 is greedy search: the
one best symbol, until it is END.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transduce.search.beam_state import Growth, Hypotheses
from transduce.search.decoder import END
from transduce.search.stable_topk import highest, highest_sums

# S sentences · W width of the beam · R = S W rows · V symbols · N best finished hypotheses
# C candidates of a sentence


class Candidates(NamedTuple):
    """The best continuations of each sentence, best first."""

    log_probs: Float[Tensor, "S C"]
    parents: Int[Tensor, "S C"]  # which hypothesis of the sentence grew
    symbols: Int[Tensor, "S C"]  # by what


def grown(
    hypotheses: Hypotheses, log_probs: Float[Tensor, "R V"], divisors: Float[Tensor, " lengths"]
) -> Growth:
    """All a symbol further. A beam of 1 never changes the order of its rows."""
    candidates = best_continuations(hypotheses, log_probs)
    hypotheses = with_finished(hypotheses, candidates, divisors)
    hypotheses, parents = with_live(hypotheses, candidates)
    firsts = torch.arange(len(parents), device=parents.device)[:, None] * parents.shape[1]
    rows = (firsts + parents).flatten() if parents.shape[1] > 1 else None
    return Growth(hypotheses, rows, over(hypotheses, divisors))


def best_continuations(hypotheses: Hypotheses, log_probs: Float[Tensor, "R V"]) -> Candidates:
    """Over all hypotheses of a sentence; at the last allowed place every one of them must end."""
    (sentences, width), symbols = hypotheses.log_probs.shape, log_probs.shape[1]
    count = 1 if width == 1 else min(2 * width, width * symbols)
    totals, places = highest_sums(hypotheses.log_probs, log_probs, count)
    last = (hypotheses.written + 1 == hypotheses.longest)[:, None]
    ended = torch.full_like(totals, -torch.inf)
    ended[:, :width] = hypotheses.log_probs + log_probs[:, END].view(sentences, width)
    rows = torch.arange(count, device=places.device) % width
    return Candidates(
        totals.where(~last, ended),
        (places // symbols).where(~last, rows),
        (places % symbols).masked_fill(last, END),
    )


def with_finished(
    hypotheses: Hypotheses, candidates: Candidates, divisors: Float[Tensor, " lengths"]
) -> Hypotheses:
    """Keep the N best of the finished ones, old and new; of equals the older."""
    ends = candidates.symbols == END
    scores = candidates.log_probs / divisors[hypotheses.written + 1][:, None]
    scores = torch.cat([hypotheses.finished_scores, scores.where(ends, -torch.inf)], dim=1)
    log_probs = torch.cat([hypotheses.finished_log_probs, candidates.log_probs], dim=1)
    nbest = hypotheses.finished_scores.shape[1]
    scores, kept = highest(scores, nbest)  # [S N]
    old = torch.arange(nbest, device=kept.device).expand_as(kept)
    origins = torch.cat([old, nbest + candidates.parents], dim=1).gather(1, kept)
    tokens = torch.cat([hypotheses.finished_tokens, hypotheses.tokens], dim=1)
    return hypotheses._replace(
        finished_scores=scores,
        finished_log_probs=log_probs.gather(1, kept),
        finished_tokens=rows_of(tokens, origins),
    )


def with_live(
    hypotheses: Hypotheses, candidates: Candidates
) -> tuple[Hypotheses, Int[Tensor, "S W"]]:
    """The best W that did not end, and their parents; where these are too few, dead ones."""
    ends = candidates.symbols == END
    order = ends.sort(dim=1, stable=True).indices[:, : hypotheses.ids.shape[1]]  # [S W]
    ids, parents = candidates.symbols.gather(1, order), candidates.parents.gather(1, order)
    log_probs = candidates.log_probs.masked_fill(ends, -torch.inf).gather(1, order)
    place = hypotheses.written[:, None, None].expand(*ids.shape, 1)
    tokens = rows_of(hypotheses.tokens, parents).scatter_(2, place, ids[:, :, None])
    grown = hypotheses._replace(
        written=hypotheses.written + 1, ids=ids, log_probs=log_probs, tokens=tokens
    )
    return grown, parents


def rows_of(tokens: Int[Tensor, "S A L"], rows: Int[Tensor, "S B"]) -> Int[Tensor, "S B L"]:
    """Some of the hypotheses of each sentence."""
    return tokens[torch.arange(len(rows), device=rows.device)[:, None], rows]


def over(hypotheses: Hypotheses, divisors: Float[Tensor, " lengths"]) -> Bool[Tensor, " S"]:
    """No live hypothesis can beat the N-th best finished one, or the limit is reached.

    More symbols make log P no larger and the divisor at most that of the longest output.
    """
    reachable = hypotheses.log_probs[:, 0] / divisors[hypotheses.longest]
    beaten = reachable <= hypotheses.finished_scores[:, -1]
    return beaten | (hypotheses.written == hypotheses.longest)
