"""Tasks from text to text: translation, and toys with one correct output (copy, reverse, sort)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, final

from transduce.settings import Data
from transduce.settings.data import ModelDescription
from transduce.tasks.task import SplitLevel, Task, TaskKind
from transduce.text.clean import normalise
from transduce.text.sentences import split_clauses, split_sentences
from transduce.vocabulary import END, Vocabulary


@dataclass(frozen=True)
class TextToText(Task):
    """A task from lines of text to lines of text, without a constraint on the outputs."""

    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the target token ids of normalised lines, each list closed by END."""
        return [[*ids, END] for ids in self.target.encode_batch(lines)]

    def decode(self, ids: Sequence[int], line: str = "") -> str:  # noqa: ARG002 - ids suffice
        """Return target token ids as one normalised line of text, with invalid UTF-8 as U+FFFD."""
        return normalise(self.target.decode(list(ids)))


@final
@dataclass(frozen=True)
class Translation(TextToText):
    """The task of translating lines of one language into lines of another, scored by BLEU."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "ter")
    has_words: ClassVar[bool] = True
    split_levels: ClassVar[tuple[SplitLevel, ...]] = (
        SplitLevel("sentences", split_sentences, " "),
        SplitLevel("clauses", split_clauses, " "),
        SplitLevel("words", str.split, " "),
        SplitLevel("characters", list, ""),
    )

    def describe(self, data: Data) -> ModelDescription:
        """Return a translator's title, purpose, example files and hub tags for its model card."""
        source, target = data.source_language, data.target_language
        pair = f"{source} to {target}" if len(data.languages) == 2 else ""
        return ModelDescription(
            pipeline_tag="translation",
            languages=tuple(dict.fromkeys(data.languages)),
            title=pair or "translation",
            purpose=f"translates {pair}" if pair else "translates; its languages were not named",
            files=(f"input.{source}", f"output.{target}"),
        )


@final
@dataclass(frozen=True)
class Toy(TextToText):
    """A task from lines of letters to lines of letters, scored by exact match."""

    action: str  # what the model does to a line, such as "reverses"

    metrics: ClassVar[tuple[str, ...]] = ("exact-match",)

    def describe(self, data: Data) -> ModelDescription:  # noqa: ARG002 - letters have no language
        """Return the title, purpose and hub tag of this toy model for its model card."""
        return ModelDescription(
            pipeline_tag="text2text-generation",
            title=f"{self.action} lines of letters",
            purpose=f"{self.action} lines of letters",
        )


def build_kind(build: Callable[[Vocabulary, Vocabulary], Task]) -> TaskKind:
    """Return a `TaskKind` that passes only the source and target vocabularies to `build`."""
    return TaskKind(build=lambda _data, both: build(both.source, both.target))


TRANSLATION = replace(build_kind(Translation), sides=("", ""))
KINDS: Mapping[str, TaskKind] = {
    "translation": TRANSLATION,
    "copy": build_kind(partial(Toy, action="copies")),
    "reverse": build_kind(partial(Toy, action="reverses")),
    "sort": build_kind(partial(Toy, action="sorts")),
}
