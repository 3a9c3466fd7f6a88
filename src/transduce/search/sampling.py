"""Outputs drawn from what the model says: each a function of seed, source and its own number."""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.search.batching import Result, searched, table_of
from transduce.search.beam_state import Growth, Hypotheses, Way
from transduce.search.counter_rng import gumbel, key_of, keyed
from transduce.search.decoder import END, Decoder, State
from transduce.search.stable_topk import highest
from transduce.settings import Search
from transduce.settings.fields import require
from transduce.settings.search import Sampling

# S sentences · N samples of each · R = S N rows · V symbols · P places, the likeliest first


def sample_unordered(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    sampling: Sampling,
    *,
    samples: int = 1,
    keys: Sequence[int] | None = None,
) -> Iterator[Result]:
    """So many samples of each source, in their order, each source as soon as it is final.

    A source's key stands for it in its draws; if unsaid, its place. Log P and score are the
    model's own, whatever the temperature.
    """
    require(samples > 0, f"{samples} samples are asked for", "ask for 1 or more")
    named = range(len(sources)) if keys is None else keys
    seeded = key_of(sampling.seed, decoder.device)
    draws = keyed(seeded, torch.tensor(named, dtype=torch.long, device=decoder.device))
    table = table_of(decoder, sources, search)
    grow = partial(drawn, sampling=sampling, keys=draws, divisors=table)
    return searched(decoder, sources, search, Way(samples, samples, samples, grow))


def drawn(
    hypotheses: Hypotheses,
    log_probs: Float[Tensor, "R V"],
    *,
    sampling: Sampling,
    keys: Int[Tensor, " sources"],
    divisors: Float[Tensor, " lengths"],
) -> Growth:
    """Every sample a symbol further, each in its row; at the last allowed place it must end."""
    written, shape = hypotheses.written[:, None], hypotheses.ids.shape
    samples = torch.arange(shape[1], device=written.device)
    own = keyed(keyed(keys[hypotheses.numbers][:, None], samples), written)  # [S N]
    symbols = draw(log_probs, own.flatten(), sampling)
    symbols = symbols.view(shape).masked_fill(written + 1 == hypotheses.longest[:, None], END)
    gained = log_probs.view(*shape, -1).gather(2, symbols[:, :, None])[:, :, 0]
    totals = hypotheses.log_probs + gained  # of samples that are over: -inf
    tokens = hypotheses.tokens.scatter(
        2, written[:, :, None].expand(*shape, 1), symbols[:, :, None]
    )
    ends = (symbols == END) & (hypotheses.log_probs > -torch.inf)
    scores = totals / divisors[hypotheses.written + 1][:, None]
    grown = hypotheses._replace(
        written=hypotheses.written + 1,
        ids=symbols,
        log_probs=totals.masked_fill(symbols == END, -torch.inf),
        tokens=tokens,
        finished_scores=scores.where(ends, hypotheses.finished_scores),
        finished_log_probs=totals.where(ends, hypotheses.finished_log_probs),
        finished_tokens=tokens.where(ends[:, :, None], hypotheses.finished_tokens),
    )
    return Growth(grown, None, (grown.log_probs == -torch.inf).all(dim=1))


def draw(
    log_probs: Float[Tensor, "R V"], keys: Int[Tensor, " R"], sampling: Sampling
) -> Int[Tensor, " R"]:
    """One symbol a row; its noise depends on key and symbol only."""
    values, symbols = likeliest(log_probs.float() / sampling.temperature, sampling)
    noise = gumbel(keyed(keys[:, None], symbols))
    return symbols.gather(1, (values + noise).argmax(dim=1, keepdim=True))[:, 0]


def likeliest(
    values: Float[Tensor, "R V"], sampling: Sampling
) -> tuple[Float[Tensor, "R P"], Int[Tensor, "R P"]]:
    """The symbols that may be drawn, others at -inf: first the top k, of these the top p."""
    symbols = values.shape[1]
    if not sampling.top_k and sampling.top_p == 1:
        return values, torch.arange(symbols, device=values.device).expand_as(values)
    values, places = highest(values, min(sampling.top_k or symbols, symbols))
    share = values.softmax(dim=1)
    before = share.cumsum(dim=1) - share
    return values.masked_fill(before >= sampling.top_p, -torch.inf), places
