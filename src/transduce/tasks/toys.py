"""Toy tasks with one correct output (copy, reverse, sort), to test that a model learns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from transduce.scores.score import Score
from transduce.settings import Data
from transduce.settings.description import ModelDescription
from transduce.tasks.task import SplitLevel, TaskKind
from transduce.tasks.text import TextToText
from transduce.vocabulary.files import Vocabularies


@final
@dataclass(frozen=True)
class Toy(TextToText):
    """A task from lines of letters to lines of letters, scored by exact match."""

    action: str  # what the model does to a line, such as "reverses"

    metrics: ClassVar[tuple[str, ...]] = ("exact-match",)
    has_words: ClassVar[bool] = False
    split_levels: ClassVar[tuple[SplitLevel, ...]] = ()  # never split

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """Return the percentage of outputs that equal their reference."""
        from transduce.scores.scoring import compute_score

        return compute_score("exact-match", outputs, references)

    def describe(self, data: Data) -> ModelDescription:  # noqa: ARG002 - letters have no language
        """Return the title and purpose of this toy model for its model card."""
        return ModelDescription(
            pipeline_tag="text2text-generation",
            title=f"{self.action} lines of letters",
            purpose=f"{self.action} lines of letters",
        )


def build_toy_kind(action: str) -> TaskKind:
    """Build the `TaskKind` of a toy task whose model card says `action`, such as "copies"."""

    def build(_data: Data, vocabularies: Vocabularies) -> Toy:
        return Toy(vocabularies.source, vocabularies.target, action=action)

    return TaskKind(build=build)


COPY, REVERSE, SORT = map(build_toy_kind, ("copies", "reverses", "sorts"))
