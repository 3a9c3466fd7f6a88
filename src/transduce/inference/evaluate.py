"""How good a model is on a test set: its translations, their scores, its perplexity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final

from transduce.errors import InputError
from transduce.inference.likelihood import log_probs_of
from transduce.inference.translator import Translator
from transduce.machine.environment import environment
from transduce.scores import Perplexity, Score, compute_score
from transduce.scores.scoring import require_scorable
from transduce.settings.fields import require

TOKENS = 8_192  # of both sides at once


@final
@dataclass(frozen=True)
class Evaluation:
    """How good what a model said is."""

    scores: list[Score]
    perplexity: Perplexity
    left_out: int  # of the perplexity: lines that are too long


@final
@dataclass(frozen=True)
class Trial:
    """What is to be translated, what should come out, and by which scores it is measured."""

    sources: Sequence[str]
    references: Sequence[str]
    metrics: Sequence[str]
    language: str  # of the references


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str],
) -> Evaluation:
    """Translate a test set in the language of the recipe, and score it."""
    trial = Trial(sources, references, metrics, translator.recipe.data.target_language)
    return judged(translator, trial, translated(translator, trial))


def translated(translator: Translator, trial: Trial) -> list[str]:
    """The best translation of every line; what could not be scored is refused before the work."""
    if len(trial.sources) != len(trial.references):
        raise InputError(
            f"the source has {len(trial.sources):,} lines, but the reference has "
            f"{len(trial.references):,}",
            "line i of one must be the translation of line i of the other",
        )
    require_scorable(trial.metrics, trial.references, trial.language)
    return [best[0].text for best in translator.lines(trial.sources)]


def judged(translator: Translator, trial: Trial, outputs: list[str]) -> Evaluation:
    """How good the outputs are, and how well the references were foreseen."""
    scores = [
        compute_score(metric, outputs, trial.references, language=trial.language)
        for metric in trial.metrics
    ]
    return Evaluation(scores, *perplexity(translator, trial.sources, trial.references))


def perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> tuple[Perplexity, int]:
    """How well the model foresees the references, per piece and per word.

    Lines longer than the model has seen are left out; how many they are.
    """
    task, longest = translator.task, translator.recipe.data.max_length
    every = zip(task.read(sources), task.read_target(references), references, strict=True)
    fit = [line for line in every if max(len(line[0]), len(line[1])) <= longest]
    left_out = len(references) - len(fit)
    require(left_out == 0 or fit != [], f"every line has more than {longest} pieces on a side")
    words = sum(len(line.split()) + 1 for _, _, line in fit)  # END counts as one
    known, wanted = [line[0] for line in fit], [line[1] for line in fit]
    log_probs = log_probs_of(translator.models, known, wanted, max(TOKENS, 2 * longest))
    nats, pieces = -math.fsum(log_probs), sum(map(len, wanted))
    return Perplexity(nats, pieces, words), left_out


def made_by(translator: Translator) -> dict[str, Any]:
    """What a figure is of, beside the text: models, recipe, precision, versions, machine, day."""
    weight = translator.model.output.weight
    return {
        "models": [translator.hash, *(other.hash for other in translator.others)],
        "recipe": translator.recipe.as_json(),
        "precision": str(weight.dtype).removeprefix("torch."),
        "environment": environment(weight.device),
        "date": today(),
    }


def today() -> str:
    """The date, where clocks say UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
