"""A model on a test set: its translations, their scores, and the perplexity of the references."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final

from transduce.errors import InputError
from transduce.inference.likelihood import target_log_probs
from transduce.inference.translator import Translator
from transduce.machine.environment import describe_environment
from transduce.scores import Perplexity, Score, compute_score
from transduce.scores.scoring import require_scorable
from transduce.settings.fields import require

TOKENS = 8_192  # of both sides at once


@final
@dataclass(frozen=True)
class Evaluation:
    """Scores of a model's translations of a test set, and its perplexity on the references."""

    scores: list[Score]
    perplexity: Perplexity
    left_out: int  # of the perplexity: lines that are too long


@final
@dataclass(frozen=True)
class EvaluationSet:
    """Sources and references line by line, the metrics to score by, the references' language."""

    sources: Sequence[str]
    references: Sequence[str]
    metrics: Sequence[str]
    language: str


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str],
) -> Evaluation:
    """Translate a test set and score it; its language is the recipe's target language."""
    language = translator.recipe.data.target_language
    test_set = EvaluationSet(sources, references, metrics, language)
    return score_outputs(translator, test_set, translate_sources(translator, test_set))


def translate_sources(translator: Translator, test_set: EvaluationSet) -> list[str]:
    """Return the best translation of every source; refuse first what could not be compute_score."""
    if len(test_set.sources) != len(test_set.references):
        raise InputError(
            f"the source has {len(test_set.sources):,} lines, but the reference has "
            f"{len(test_set.references):,}",
            "line i of one must be the translation of line i of the other",
        )
    require_scorable(test_set.metrics, test_set.references, test_set.language)
    return [best[0].text for best in translator.nbest_lines(test_set.sources)]


def score_outputs(
    translator: Translator, test_set: EvaluationSet, outputs: list[str]
) -> Evaluation:
    """Score the outputs by every metric, and compute the model's perplexity on the references."""
    scores = [
        compute_score(metric, outputs, test_set.references, language=test_set.language)
        for metric in test_set.metrics
    ]
    return Evaluation(scores, *perplexity(translator, test_set.sources, test_set.references))


def perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> tuple[Perplexity, int]:
    """Return the perplexity of the references per piece and per word, and how many lines it omits.

    It omits lines of more than data.max_length pieces on a side.
    """
    task, longest = translator.task, translator.recipe.data.max_length
    regular = ([task.normalise(line) for line in side] for side in (sources, references))
    ids = task.encode_sources(next(regular)), task.encode_targets(next(regular))
    every = zip(*ids, references, strict=True)
    fit = [line for line in every if max(len(line[0]), len(line[1])) <= longest]
    left_out = len(references) - len(fit)
    require(left_out == 0 or fit != [], f"every line has more than {longest} pieces on a side")
    words = sum(len(line.split()) + 1 for _, _, line in fit)  # END counts as one
    source_ids, target_ids = [line[0] for line in fit], [line[1] for line in fit]
    tokens = max(TOKENS, 2 * longest)
    log_probs = target_log_probs(translator.models, source_ids, target_ids, tokens)
    nats, pieces = -math.fsum(log_probs), sum(map(len, target_ids))
    return Perplexity(nats, pieces, words), left_out


def provenance(translator: Translator) -> dict[str, Any]:
    """Return what a figure depends on: model hashes, recipe, precision, versions, machine, date."""
    weight = translator.models[0].output.weight
    return {
        "models": list(translator.hashes),
        "recipe": translator.recipe.as_json(),
        "precision": str(weight.dtype).removeprefix("torch."),
        "environment": describe_environment(weight.device),
        "date": today(),
    }


def today() -> str:
    """Return the date in UTC as YYYY-MM-DD."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
