"""Encodes pairs of lines, and scores their targets as the search would score them

All positions of a target are computed in one forward pass (teacher forcing).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transduce.allowance import require_short_line
from transduce.checkpoint.weights import require_finite_numbers
from transduce.errors import InputError, NotEnoughMemoryError, is_out_of_memory
from transduce.inference.lines import LineWarning, Pair
from transduce.packed import Packed, split_update
from transduce.paper.model import Transformer
from transduce.paper.search import LengthScore, max_output_length
from transduce.search.ensemble import log_mean_exp
from transduce.settings import Data, Recipe, Search
from transduce.settings.fields import require
from transduce.tasks import Task, find_task_kind
from transduce.text.arguments import check_pairs
from transduce.vocabulary import BEGIN

TOKENS = 8_192  # tokens of a batch, source and target together
Sentences = Sequence[Sequence[int]]


@final
@dataclass(frozen=True)
class EncodedPair:
    """The ids of both sides of a pair, each ending with END, and its line number.

    The target ids are empty if the target has a symbol that the vocabulary lacks.
    """

    number: int
    source: list[int]
    target: list[int]


def number_pairs(pairs: Iterable[Any]) -> Iterator[Pair]:
    """Yield pairs with their line numbers; refuse items that are not pairs of strings."""
    for number, pair in enumerate(check_pairs("pairs", pairs), start=1):
        yield Pair(number, *pair)


def encode_pairs(pairs: Sequence[Pair], task: Task) -> list[EncodedPair]:
    """Encode both sides of every pair as ids; refuse a line that needs too much memory."""
    for pair in pairs:
        require_short_line(pair.source, pair.number)
        require_short_line(pair.target, pair.number)
    sources = task.encode_sources([task.normalise(pair.source) for pair in pairs])
    targets = task.encode_targets([task.normalise(pair.target) for pair in pairs])
    return [
        EncodedPair(pair.number, source, target or [])
        for pair, source, target in zip(pairs, sources, targets, strict=True)
    ]


def require_matches(pairs: Iterable[Pair], data: Data) -> None:
    """Raise InputError if a target cannot belong to its source, such as a tree of other words."""
    kind = find_task_kind(data)
    for pair in pairs:
        try:
            mismatch = kind.find_mismatch(pair.source, pair.target)
        except InputError as error:  # a target that is malformed in itself
            fact = error.fact.removeprefix("line 1, ")  # a target has only this line
            raise InputError(f"line {pair.number}, target: {fact}", error.hint) from error
        require(not mismatch, f"line {pair.number}: {mismatch}", "compare the two sides")


def find_unscorable(pair: EncodedPair, recipe: Recipe) -> LineWarning | None:
    """Return a warning if the model cannot score a pair, such as one too long, else None."""
    if not pair.target:
        fact = "a target with a label that is unknown to the model"
        return LineWarning(pair.number, fact, "unknown label")
    longest = recipe.data.max_length
    limits = {"source": longest, "target": max_output_length(longest, recipe.search.extra_length)}
    for side, most in limits.items():
        count = len(getattr(pair, side))
        if count > most:
            fact = f"a {side} of {count:,} pieces, and this model takes {most:,}"
            return LineWarning(pair.number, fact)
    return None


def score_pairs(
    models: Sequence[Transformer], pairs: Sequence[EncodedPair], recipe: Recipe
) -> list[tuple[float, float]]:
    """Return (score, log P) of each pair's target, as the search would compute them."""
    if not pairs:
        return []
    longest = recipe.data.max_length
    tokens = max(TOKENS, longest + max_output_length(longest, recipe.search.extra_length))
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    log_probs = target_log_probs(models, sources, targets, tokens)
    scores = score_log_probs(log_probs, list(map(len, targets)), recipe.search)
    return list(zip(scores, log_probs, strict=True))


def score_log_probs(
    log_probs: Sequence[float], lengths: Sequence[int], search: Search
) -> list[float]:
    """Return the search's scores of outputs, given their log P and lengths, END included."""
    length_score = LengthScore.tabulate(search, max(lengths, default=0))
    exact = torch.tensor(log_probs, dtype=torch.float64)
    return length_score.score(exact, torch.tensor(lengths, dtype=torch.int64)).tolist()


Result = TypeVar("Result")


def compute_in_batches(
    sources: Sentences,
    targets: Sentences,
    tokens: int,
    compute: Callable[[Packed, Packed], Result],
) -> Iterator[tuple[list[int], Result]]:
    """Yield, for each batch, its pairs' indices and what `compute` returns for its packed sides.

    Batches have pairs of similar length, and at most `tokens` tokens, source and target together. A
    batch is halved when memory runs out.
    """
    sides = (sources, targets)
    source_lengths, target_lengths = (np.array(list(map(len, side)), np.int64) for side in sides)
    pending = split_update(np.arange(len(sources)), source_lengths, target_lengths, tokens)[::-1]
    while pending:
        batch = pending.pop()
        try:
            result = compute(*(Packed.from_sentences([side[n] for n in batch]) for side in sides))
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise NotEnoughMemoryError(
                    "there is not enough memory for a single pair of sentences",
                    "try shorter lines, or fewer --workers",
                ) from None
            pending += np.array_split(batch, 2)[::-1]
        else:
            yield batch.tolist(), result


# T target tokens of a batch


@torch.inference_mode()
def target_log_probs(
    models: Sequence[Transformer], sources: Sentences, targets: Sentences, tokens: int
) -> list[float]:
    """Return each pair's log P(target | source) in nats.

    The ids of every source and target end with END. Batches hold at most `tokens` tokens, source
    and target together. Several models score as an ensemble.
    """
    totals = [0.0] * len(sources)

    def compute(source: Packed, target: Packed) -> Float[Tensor, " T"]:
        return log_mean_exp([token_log_probs(model, source, target) for model in models]).cpu()

    for batch, by_token in compute_in_batches(sources, targets, tokens, compute):
        require_finite_numbers(by_token, "a pair")
        by_pair = by_token.double().split([len(targets[index]) for index in batch])
        for index, log_probs in zip(batch, by_pair, strict=True):
            totals[index] = float(log_probs.sum())
    return totals


def token_log_probs(model: Transformer, source: Packed, target: Packed) -> Float[Tensor, " T"]:
    """Return one model's log P of every target token, given the source and the tokens before it."""
    device = model.output.weight.device
    memory = model.eval().encode(source.to(device))
    states = model.decode(target.to(device).shift_right(BEGIN), memory)
    return model.target_log_probs(states, target.ids.to(device))
