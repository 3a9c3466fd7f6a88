"""Sampling of a model's outputs

A sample depends only on the seed, its source, the source's key, and its index among the source's
samples.
"""

from collections.abc import Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.machine.device import accumulation_dtype
from transduce.packed import move_to_device
from transduce.paper.operations import PLAIN, HighestSums, Operations
from transduce.paper.search import (
    BeamState,
    DecodingStrategy,
    LengthScore,
    State,
    StepResult,
    StepwiseModel,
)
from transduce.settings import Search
from transduce.settings.fields import require
from transduce.settings.search import Sampling
from transduce.vocabulary import END

GOLDEN = -0x61C8864680B583EB  # SplitMix64's increment: 2^64 / golden ratio, as a signed number
# Lower temperatures count as this one, since log P / temperature could overflow float32. Even at
# 1e-20 the noise, at most 40 nats, decides only between symbols of equal log P.
COLDEST = 1e-30
HOTTEST = 1e30  # higher temperatures count as this one; some would be infinite in float32
# the shift and the factor of each round of SplitMix64
ROUNDS = ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15))


def mix_bits(bits: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Hash 64-bit integers one to one; each output bit depends on all bits    (SplitMix64, 2014)"""
    for shift, factor in ROUNDS:
        bits = (bits ^ shift_right(bits, shift)) * factor  # integers wrap around
    return bits ^ shift_right(bits, 31)


def shift_right(bits: Int[Tensor, "*shape"], count: int) -> Int[Tensor, "*shape"]:
    """Shift 64-bit integers to the right by `count` bits, with zeros from the left."""
    return (bits >> count) & ((1 << (64 - count)) - 1)


def derive_key(
    key: Int[Tensor, "*#shape"], number: Int[Tensor, "*#shape"] | int
) -> Int[Tensor, "*shape"]:
    """Derive a random key from `key` and `number`; different numbers give different keys."""
    return mix_bits((key ^ number) + GOLDEN)


def key_from_seed(seed: int, device: torch.device) -> Int[Tensor, ""]:
    """Derive a random key on a device from a user's seed."""
    return derive_key(torch.zeros((), dtype=torch.long, device=device), seed)


def uniform_noise(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return one uniform float64 number in the open interval (0, 1) for each key.

    The numbers are computed on the CPU if the device has no float64.
    """
    bits = shift_right(key, 12)
    wide = bits if accumulation_dtype(key.device) == torch.float64 else bits.cpu()
    return (wide.double() + 0.5) * 2.0**-52


def gumbel_noise(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return Gumbel noise for each key: -log(-log u) with u uniform in (0, 1).

    The argmax of log p + noise over symbols is a sample from p.
    """
    noise = -(-uniform_noise(key).log()).log()
    return noise.to(key.device, accumulation_dtype(key.device))


# S sentences · N samples of each · R = S N rows · V symbols · C candidates, the likeliest first


def sampling_strategy(  # noqa: PLR0913 - as `beam_strategy`, and what draws depend on
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    sampling: Sampling,
    *,
    samples: int = 1,
    keys: Sequence[int] | None = None,
    operations: Operations = PLAIN,
) -> DecodingStrategy:
    """Return a strategy that draws `samples` outputs per source; InputError if that is below 1.

    A source's random numbers depend on the seed and its element of `keys`, by default its index.
    The log P and scores of samples are those of the model at temperature 1, without top-k and
    top-p.
    """
    require(samples > 0, f"{samples} samples are asked for", "ask for 1 or more")
    chosen_keys = range(len(sources)) if keys is None else keys
    seed = key_from_seed(sampling.seed, model.device)
    keys_on_host = torch.tensor(chosen_keys, dtype=torch.long)
    source_keys = derive_key(seed, move_to_device(keys_on_host, model.device))
    expand = partial(
        append_samples,
        sampling=sampling,
        source_keys=source_keys,
        length_score=LengthScore.of_sources(model, sources, search),
        highest_sums=operations.highest_sums,
    )
    return DecodingStrategy(samples, samples, samples, expand)


def append_samples(
    beams: BeamState,
    log_probs: Float[Tensor, "R V"],
    *,
    sampling: Sampling,
    source_keys: Int[Tensor, " sources"],
    length_score: LengthScore,
    highest_sums: HighestSums,
) -> StepResult:
    """Append a random symbol to every sample, or END to a sample at its length limit."""
    lengths, shape = beams.lengths[:, None], beams.last_ids.shape
    samples = torch.arange(shape[1], device=lengths.device)
    keys = derive_key(derive_key(source_keys[beams.sentences][:, None], samples), lengths)  # [S N]
    symbols = sample_symbols(log_probs, keys.flatten(), sampling, highest_sums).view(shape)
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
    log_probs: Float[Tensor, "R V"],
    keys: Int[Tensor, " R"],
    sampling: Sampling,
    highest_sums: HighestSums = PLAIN.highest_sums,
) -> Int[Tensor, " R"]:
    """Draw one symbol per row by the Gumbel-max trick, with noise from the row's random key."""
    temperature = min(max(sampling.temperature, COLDEST), HOTTEST)
    scaled = log_probs.float() / temperature
    logits, symbols = filter_candidates(scaled, sampling, highest_sums)
    noise = gumbel_noise(derive_key(keys[:, None], symbols))
    return symbols.gather(1, (logits + noise).argmax(dim=1, keepdim=True))[:, 0]


def filter_candidates(
    logits: Float[Tensor, "R V"],
    sampling: Sampling,
    highest_sums: HighestSums = PLAIN.highest_sums,
) -> tuple[Float[Tensor, "R C"], Int[Tensor, "R C"]]:
    """Return the top-k logits of each row, -inf where top-p drops one, and their symbol ids.

    Without top-k, C = V. The logits are descending if anything is filtered, else in their old
    order.
    """
    symbols = logits.shape[1]
    if not sampling.top_k and sampling.top_p == 1:
        return logits, torch.arange(symbols, device=logits.device).expand_as(logits)
    nothing = logits.new_zeros(len(logits), 1)
    logits, kept = highest_sums(nothing, logits, min(sampling.top_k or symbols, symbols))
    probabilities = logits.softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities
    return logits.masked_fill(before >= sampling.top_p, -torch.inf), kept
