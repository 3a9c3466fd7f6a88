"""The demo's evaluation: a trained and an untrained model on held-out sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from transduce.equip import equip_for_inference
from transduce.inference.translator import Translator
from transduce.mixing import find_mixing
from transduce.paper.model import build_transformer
from transduce.runs.texts import GeneratedCorpus
from transduce.scores.score import Score

SPLITS = {  # held-out split of the phrasebook -> what it tests
    "test": "sentences held out",
    "combinations": "words held apart: each was seen, never these together",
}


@final
@dataclass(frozen=True)
class SplitEvaluation:
    """A model's outputs and score on one held-out split, and the score of an untrained model."""

    about: str  # description of what the split tests
    sources: list[str]
    outputs: list[str]
    references: list[str]
    score: Score
    untrained: Score  # score before the first update, on a tenth of the lines


def evaluate_splits(translator: Translator, line_count: int) -> list[SplitEvaluation]:
    """Translate and score the first `line_count` sentences of each held-out phrasebook split.

    An untrained model translates a tenth of these sentences.
    """
    translator = replace(translator, keep=False)  # so that the model alone is evaluated
    untrained = build_untrained_translator(translator)
    found = list[SplitEvaluation]()
    for split, about in SPLITS.items():
        pairs = list(GeneratedCorpus("phrasebook", split, line_count).read())
        sources, references = (list(side) for side in zip(*pairs, strict=True))
        outputs, baseline = translator(sources), untrained(sources[: line_count // 10])
        score = translator.task.score(outputs, references)
        untrained_score = translator.task.score(baseline, references[: line_count // 10])
        found.append(SplitEvaluation(about, sources, outputs, references, score, untrained_score))
    return found


def build_untrained_translator(translator: Translator) -> Translator:
    """Return a translator whose model has the initial weights, as before its first update."""
    recipe, device = translator.recipe, translator.models[0].output.weight.device
    source, target = translator.task.source, translator.task.target
    sizes, seed = recipe.architecture, recipe.training.seed
    model = build_transformer(sizes, len(source), len(target), seed, find_mixing(sizes)).to(device)
    equip_for_inference(model)
    return replace(translator, models=(model,), hashes=(), reload=None)


def choose_examples(split: SplitEvaluation, count: int) -> Sequence[tuple[str, str, str]]:
    """Return `count` (source, output, reference) triples, evenly spread from short to long."""
    step = len(split.sources) // count
    order = sorted(range(len(split.sources)), key=lambda index: len(split.sources[index]))
    chosen = order[step // 2 :: step][:count]
    return [(split.sources[n], split.outputs[n], split.references[n]) for n in chosen]
