"""How good a model is on a test set: its translations, their scores, its perplexity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from transduce.corpus.batch import Batch
from transduce.errors import InputError
from transduce.packed import Packed
from transduce.scores import Perplexity, Score, scored
from transduce.tasks.translate import Translator
from transduce.training.validate import nats_of

PAIRS = 64  # at once


@final
@dataclass(frozen=True)
class Evaluation:
    """What a model said, and how good that is."""

    outputs: list[str]
    scores: list[Score]
    perplexity: Perplexity


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str],
) -> Evaluation:
    """Translate a test set and score it."""
    if len(sources) != len(references):
        raise InputError(
            f"the source has {len(sources)} lines, but the reference has {len(references)}",
            "line i of one must be the translation of line i of the other",
        )
    outputs = [best[0].text for best in translator.lines(sources)]
    scores = [scored(metric, outputs, references) for metric in metrics]
    return Evaluation(outputs, scores, perplexity(translator, sources, references))


def perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> Perplexity:
    """How well the model foresees the references, per piece and per word."""
    task = translator.task
    pairs = list(zip(task.read(sources), task.read_target(references), strict=True))
    pairs.sort(key=lambda pair: (len(pair[0]), len(pair[1])))
    device = translator.model.output.weight.device
    parts = [pairs[first : first + PAIRS] for first in range(0, len(pairs), PAIRS)]
    batches = (
        Batch(*(Packed.of(side) for side in zip(*part, strict=True))).to(device) for part in parts
    )
    nats, pieces = nats_of(translator.model, batches)
    words = sum(len(line.split()) + 1 for line in references)  # END counts as one
    return Perplexity(nats, pieces, words)
