"""How good a model is on a test set: its translations, their scores, its perplexity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from transduce.corpus.batch import Batch
from transduce.corpus.shard import micro_batches
from transduce.errors import InputError
from transduce.packed import Packed
from transduce.scores import Perplexity, Score, scored
from transduce.scores.translation import demand_scores
from transduce.settings.fields import demand
from transduce.tasks.translate import Translator
from transduce.training.validate import nats_of

TOKENS = 8_192  # of both sides at once


@final
@dataclass(frozen=True)
class Evaluation:
    """What a model said, and how good that is."""

    outputs: list[str]
    scores: list[Score]
    perplexity: Perplexity
    left_out: int  # of the perplexity: lines that are too long


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str],
    language: str | None = None,
) -> Evaluation:
    """Translate a test set and score it; its language is the recipe's, if no other is said."""
    if len(sources) != len(references):
        raise InputError(
            f"the source has {len(sources)} lines, but the reference has {len(references)}",
            "line i of one must be the translation of line i of the other",
        )
    language = language or translator.recipe.data.target_language
    demand_scores(metrics, references, language)
    outputs = [best[0].text for best in translator.lines(sources)]
    scores = [scored(metric, outputs, references, language=language) for metric in metrics]
    return Evaluation(outputs, scores, *perplexity(translator, sources, references))


def perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> tuple[Perplexity, int]:
    """How well the model foresees the references, per piece and per word.

    Lines longer than the model has seen are left out; how many they are.
    """
    task, longest = translator.task, translator.recipe.data.longest
    every = zip(task.read(sources), task.read_target(references), references, strict=True)
    fit = [line for line in every if max(len(line[0]), len(line[1])) <= longest]
    left_out = len(references) - len(fit)
    demand(left_out == 0 or fit != [], f"every line has more than {longest} pieces on a side")
    pairs = [(source, target) for source, target, _ in fit]
    words = sum(len(line.split()) + 1 for _, _, line in fit)  # END counts as one
    device = translator.model.output.weight.device
    batches = (batch.to(device) for batch in batches_of(pairs, max(TOKENS, 2 * longest)))
    nats, pieces = nats_of(translator.model, batches)
    return Perplexity(nats, pieces, words), left_out


def batches_of(pairs: Sequence[tuple[list[int], list[int]]], tokens: int) -> Iterator[Batch]:
    """Pairs in as few batches as fit, one at a time."""
    source, target = (np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1))
    for part in micro_batches(np.arange(len(pairs)), source, target, tokens):
        yield Batch(*(Packed.of([pairs[n][side] for n in part]) for side in (0, 1)))
