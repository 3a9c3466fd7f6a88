"""The task of translating: how text becomes ids, ids become text, and how good the text is.

Training, search and checkpoints never ask which task it is; another one brings these three.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from transduce.scores import Score, bleu
from transduce.text.clean import normalise
from transduce.vocabulary import END, Vocabulary


@final
@dataclass(frozen=True)
class Translation:
    """Lines of one language into lines of another."""

    source: Vocabulary
    target: Vocabulary

    def read(self, lines: Sequence[str]) -> list[list[int]]:
        """Source ids of lines, each closed by END."""
        return encoded(self.source, lines)

    def read_target(self, lines: Sequence[str]) -> list[list[int]]:
        """Target ids of lines, each closed by END."""
        return encoded(self.target, lines)

    def say(self, ids: Sequence[int]) -> str:
        """The text of target ids: one regular line, whatever a model made up."""
        return normalise(self.target.decode(list(ids)))

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """BLEU, with its signature."""
        return bleu(outputs, references)


def encoded(vocabulary: Vocabulary, lines: Sequence[str]) -> list[list[int]]:
    """Ids of lines made regular, each closed by END."""
    cleaned = [normalise(line) for line in lines]
    return [[*ids, END] for ids in vocabulary.encode_batch(cleaned)]
