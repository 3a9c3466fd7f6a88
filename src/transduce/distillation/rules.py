"""Rules that a teacher's translation must keep to be training text, and their report."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np
from jaxtyping import Float

from transduce.errors import InputError
from transduce.text.languages import can_detect_languages, rank_languages

EXAMPLES = 5
SHOWN = 200  # characters of an example's side
MOST_RATIO, FEWEST = 3.0, 20  # of the lengths of both sides, if the longer one has 20 characters
SURE = 0.5  # finds 95 % of French among English, and drops 1 of 2,500 English lines
REPEATS, LONGEST_REPEAT = 4, 4  # a phrase of up to 4 words, 4 times in a row


def repeats(text: str) -> int:
    """Return how often the most repeated phrase of 1 to 4 words stands in a row."""
    words, most = text.split(), 1
    for size in range(1, LONGEST_REPEAT + 1):
        run = 0  # words that equal the word `size` places before
        for word, before in zip(words[size:], words, strict=False):
            run = run + 1 if word == before else 0
            most = max(most, run // size + 1)
    return most


def is_unequal(source: str, target: str) -> bool:
    """Return whether one side has over three times the characters of the other."""
    shorter, longer = sorted((len(source), len(target)))
    return longer >= FEWEST and longer > MOST_RATIO * shorter


RULES: Mapping[str, str] = MappingProxyType(
    {
        "empty": "the output is empty",
        "copy": "the output is the source",
        "length": "one side has over three times the characters of the other",
        "repetition": "the output repeats a phrase more often than the source",
        "language": "the output reads like another language",
        "improbable": "the output is among the least probable",
    }
)


def reads_otherwise(text: str, language: str) -> bool:
    """Return whether py3langid gives another language more than `SURE`; refuse without py3langid.

    Names of a language's variants, such as pt-BR, count as the language.
    """
    if not can_detect_languages():
        fact = "languages are not detected here: py3langid is not installed"
        raise InputError(fact, "pip install py3langid")
    code, share = rank_languages(text)[0]
    return share > SURE and code.split("-")[0] != language.split("-")[0]


def find_rules_broken(source: str, target: str, language: str = "") -> list[str]:
    """Return the rules that a pair breaks by its text alone; `language` is the target's, or ""."""
    if not target:
        return ["empty"]
    is_repeated = repeats(target) >= REPEATS and repeats(target) > repeats(source)
    found = {
        "copy": source == target,
        "length": is_unequal(source, target),
        "repetition": is_repeated,
        "language": bool(language) and reads_otherwise(target, language),
    }
    return [name for name, is_broken in found.items() if is_broken]


def find_lowest(rates: Float[np.ndarray, " N"], share: float) -> set[int]:
    """Return the indices of the lowest ⌊share · N⌋ rates; of equal ones the first."""
    return set(np.argsort(rates, kind="stable")[: int(share * len(rates))].tolist())


def choose_nearest(outputs: Sequence[str], reference: str) -> int:
    """Return the index of the output with the highest sentence BLEU; of equal ones the first."""
    if len(outputs) == 1:
        return 0
    from sacrebleu import sentence_bleu

    scores = [sentence_bleu(output, [reference]).score for output in outputs]
    return scores.index(max(scores))


@final
@dataclass
class RuleReport:
    """How many pairs broke each rule, how many broke it alone, and a few of each."""

    read: int = 0
    kept: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    alone: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[list[str]]] = field(default_factory=dict)

    def add(self, pair: tuple[str, str], rules: Collection[str]) -> None:
        """Count a pair for the rules that it breaks."""
        for name in rules:
            self.broken[name] = self.broken.get(name, 0) + 1
            self.alone[name] = self.alone.get(name, 0) + (len(rules) == 1)
            examples = self.examples.setdefault(name, [])
            if len(examples) < EXAMPLES:
                examples.append([side[:SHOWN] for side in pair])
