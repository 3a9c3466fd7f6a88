"""Contrast sets: a test set in other forms, which show what makes a model's translations worse

A form, such as upper case, changes the source. It also changes the reference if a translation
should follow. The form's scores are compared with the plain test set's.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import final

from transduce.inference.translator import Translator
from transduce.scores.score import Score
from transduce.scores.scoring import compute_score
from transduce.settings.data import CHANGES
from transduce.text.changes import CHANGE

SEED = 1  # of typing errors and copied tokens
WORDS = 200  # most words that are translated alone
MOST_WORDS = 3  # of a translation of one word; a longer one runs on


@final
@dataclass(frozen=True)
class Contrast:
    """The scores of a test set in another form, and how many of its lines have that form."""

    form: str
    changed: int
    scores: Sequence[Score]


def measure_contrast(
    translator: Translator,
    sides: tuple[Sequence[str], Sequence[str]],
    metrics: Sequence[str],
    language: str,
) -> Iterator[Contrast]:
    """Yield a test set's scores in each form, then the scores of its words translated alone."""
    translator = replace(translator, keep=False)
    languages = (translator.recipe.data.source_language, language)
    pairs = list(zip(*sides, strict=True))
    for form in reversed(CHANGES):
        changed = [
            CHANGE[form](pair, languages, random.Random(f"{SEED} {number}"))
            for number, pair in enumerate(pairs)
        ]
        sources, references = map(list, zip(*changed, strict=True))
        outputs = list(translator.translate_lines(sources))
        scores = [
            replace(score, signature=f"{score.signature}|contrast:{form}|seed:{SEED}")
            for score in (
                compute_score(one, outputs, references, language=language) for one in metrics
            )
        ]
        count = sum(new != old for new, old in zip(changed, pairs, strict=True))
        yield Contrast(form, count, scores)
    if words := list_words(sides[0]):
        outputs = list(translator.translate_lines(words))
        yield Contrast("one_word", len(words), [score_run_on(outputs)])


def list_words(lines: Sequence[str]) -> list[str]:
    """Return the first 200 different words of lines, except words with digits or other signs."""
    words = (word.strip(".,;:!?…\"'“”„«»()") for line in lines for word in line.split())
    return list(islice(dict.fromkeys(word for word in words if word.isalpha()), WORDS))


def score_run_on(outputs: Sequence[str]) -> Score:
    """Return the percentage of outputs, each of one word, that are too long or repeat a word."""
    found = [output.lower().split() for output in outputs]
    run_on = sum(len(words) > MOST_WORDS or len(set(words)) < len(words) for words in found)
    return Score(
        "run-on outputs, %",
        100 * run_on / len(found),
        f"contrast:one_word|over:{MOST_WORDS} words or one twice",
        len(found),
        "single words",
        higher_is_better=False,
    )
