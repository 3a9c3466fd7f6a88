"""What the demo shows: how well a model translates sentences that it never saw."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from transduce.inference.translator import Translator
from transduce.model.transformer import transformer
from transduce.runs.texts import GeneratedCorpus
from transduce.scores import Score

SPLITS = {
    "test": "sentences held out",
    "combinations": "words held apart: each was seen, never these together",
}


@final
@dataclass(frozen=True)
class Shown:
    """One split: what was to be translated, what came out, and how good that is."""

    about: str
    sources: list[str]
    outputs: list[str]
    references: list[str]
    score: Score
    untrained: Score


def shown(translator: Translator, lines: int) -> list[Shown]:
    """Both splits, translated by the model and by one of the same size with its first weights."""
    fresh = untrained(translator)
    found = []
    for split, about in SPLITS.items():
        pairs = list(GeneratedCorpus("phrasebook", split, lines).read())
        sources, references = (list(side) for side in zip(*pairs, strict=True))
        outputs, babble = translator(sources), fresh(sources[: lines // 10])
        found.append(
            Shown(
                about,
                sources,
                outputs,
                references,
                translator.task.score(outputs, references),
                translator.task.score(babble, references[: lines // 10]),
            )
        )
    return found


def untrained(translator: Translator) -> Translator:
    """The same model before its first update."""
    recipe = translator.recipe
    source, target = translator.task.source, translator.task.target
    model = transformer(recipe.architecture, len(source), len(target), recipe.training.seed)
    return replace(translator, model=model.to(translator.model.output.weight.device), hash="")


def telling(one: Shown, count: int) -> Sequence[tuple[str, str, str]]:
    """A few sentences to read, the same each time, of different lengths."""
    step = len(one.sources) // count
    order = sorted(range(len(one.sources)), key=lambda place: len(one.sources[place]))
    chosen = order[step // 2 :: step][:count]
    return [(one.sources[n], one.outputs[n], one.references[n]) for n in chosen]
