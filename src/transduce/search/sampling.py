"""Sampling of a model's outputs: each depends only on the seed, its source, and two numbers.

The two are the key of the source, and the index of the sample among those of the source.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.packed import move_to_device
from transduce.search.beam_state import BeamState, DecodingStrategy, StepResult
from transduce.search.continuous_batching import (
    Result,
    run_continuous_batching,
    tabulate_length_score,
)
from transduce.search.counter_rng import derive_key, gumbel_noise, key_from_seed
from transduce.search.decoder import END, Decoder, State
from transduce.search.length_score import LengthScore
from transduce.search.stable_topk import stable_topk
from transduce.settings import Search
from transduce.settings.fields import require
from transduce.settings.search import Sampling

# S sentences · N samples of each · R = S N rows · V symbols · C candidates, the likeliest first


def sample_unordered(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    sampling: Sampling,
    *,
    samples: int = 1,
    keys: Sequence[int] | None = None,
) -> Iterator[Result]:
    """Yield (source index, samples) as each source's samples end; `keys` seed the sources.

    The random numbers of a source depend on the seed and its key, by default its index. Log P and
    score are those of the model at temperature 1, without top-k and top-p.
    """
    require(samples > 0, f"{samples} samples are asked for", "ask for 1 or more")
    numbers = range(len(sources)) if keys is None else keys
    seed = key_from_seed(sampling.seed, decoder.device)
    keys_on_host = torch.tensor(numbers, dtype=torch.long)
    source_keys = derive_key(seed, move_to_device(keys_on_host, decoder.device))
    length_score = tabulate_length_score(decoder, sources, search)
    expand = partial(
        append_samples, sampling=sampling, source_keys=source_keys, length_score=length_score
    )
    strategy = DecodingStrategy(samples, samples, samples, expand)
    return run_continuous_batching(decoder, sources, search, strategy)


def append_samples(
    beams: BeamState,
    log_probs: Float[Tensor, "R V"],
    *,
    sampling: Sampling,
    source_keys: Int[Tensor, " sources"],
    length_score: LengthScore,
) -> StepResult:
    """Append a random symbol to every sample, or END to a sample at its length limit."""
    lengths, shape = beams.lengths[:, None], beams.last_ids.shape
    samples = torch.arange(shape[1], device=lengths.device)
    keys = derive_key(derive_key(source_keys[beams.sentences][:, None], samples), lengths)  # [S N]
    symbols = sample_symbols(log_probs, keys.flatten(), sampling).view(shape)
    symbols = symbols.masked_fill(lengths + 1 == beams.max_lengths[:, None], END)
    gained = log_probs.view(*shape, -1).gather(2, symbols[:, :, None])[:, :, 0]
    totals = beams.log_probs + gained  # -inf for samples that have ended
    position = lengths[:, :, None].expand(*shape, 1)
    tokens = beams.tokens.scatter(2, position, symbols[:, :, None])
    ends = (symbols == END) & (beams.log_probs > -torch.inf)
    scores = length_score.score(totals, lengths + 1)
    beams = beams._replace(
        lengths=beams.lengths + 1,
        last_ids=symbols,
        log_probs=totals.masked_fill(symbols == END, -torch.inf),
        tokens=tokens,
        finished_scores=scores.where(ends, beams.finished_scores),
        finished_log_probs=totals.where(ends, beams.finished_log_probs),
        finished_tokens=tokens.where(ends[:, :, None], beams.finished_tokens),
    )
    return StepResult(beams, None, (beams.log_probs == -torch.inf).all(dim=1))


def sample_symbols(
    log_probs: Float[Tensor, "R V"], keys: Int[Tensor, " R"], sampling: Sampling
) -> Int[Tensor, " R"]:
    """Draw one symbol per row by the Gumbel-max trick, with noise from the row's random key."""
    values, symbols = filter_candidates(log_probs.float() / sampling.temperature, sampling)
    noise = gumbel_noise(derive_key(keys[:, None], symbols))
    return symbols.gather(1, (values + noise).argmax(dim=1, keepdim=True))[:, 0]


def filter_candidates(
    values: Float[Tensor, "R V"], sampling: Sampling
) -> tuple[Float[Tensor, "R C"], Int[Tensor, "R C"]]:
    """Return the C values that top-k keeps, -inf where top-p drops them, and their symbols."""
    symbols = values.shape[1]
    if not sampling.top_k and sampling.top_p == 1:
        return values, torch.arange(symbols, device=values.device).expand_as(values)
    values, kept = stable_topk(values, min(sampling.top_k or symbols, symbols))
    probabilities = values.softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities
    return values.masked_fill(before >= sampling.top_p, -torch.inf), kept
