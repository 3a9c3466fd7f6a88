"""Tasks from text to text: translation, and toys with one correct output (copy, reverse, sort)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, final

from transduce.settings import Data, Search
from transduce.settings.data import ModelDescription
from transduce.tasks.task import SplitLevel, TaskKind
from transduce.text.clean import normalise
from transduce.text.sentences import split_clauses, split_sentences
from transduce.vocabulary import END, Vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

if TYPE_CHECKING:
    from transduce.scores.score import Score


@dataclass(frozen=True)
class TextToText:
    """A task from lines of text to lines of text, without a constraint on the outputs."""

    source: Vocabulary
    target: Vocabulary

    def normalise(self, line: str) -> str:
        """Return a line in NFC with single spaces and without invisible characters."""
        return normalise(line)

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the source token ids of normalised lines, each list closed by END."""
        return encode_lines(self.source, lines)

    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the target token ids of normalised lines, each list closed by END."""
        return encode_lines(self.target, lines)

    def decode(self, ids: Sequence[int], line: str = "") -> str:  # noqa: ARG002 - ids suffice
        """Return target token ids as one normalised line of text, with invalid UTF-8 as U+FFFD."""
        return normalise(self.target.decode(list(ids)))

    def find_fault(self, ids: Sequence[int], line: str) -> str:  # noqa: ARG002
        """Return "", since every output is a valid text and needs no repair."""
        return ""

    def fallback(self, line: str) -> None:  # noqa: ARG002
        """Return None, since there is no substitute for the output of a line that is too long."""
        return

    def parse_output(self, output: str) -> str:
        """Return the output line unchanged."""
        return output

    def join(self, parts: Sequence[str]) -> str:
        """Join with spaces the outputs for the parts of a split input line."""
        return " ".join(parts)

    def constraint(self, line: str, search: Search) -> None:  # noqa: ARG002 - nothing is forbidden
        """Return None, since the output may be any text."""
        return


def encode_lines(vocabulary: Vocabulary, lines: Iterable[str]) -> list[list[int]]:
    """Return the token ids of normalised lines, each list closed by END."""
    return [[*ids, END] for ids in vocabulary.encode_batch(lines)]


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

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> "Score":
        """Return the corpus BLEU of outputs against references, with the metric's signature."""
        from transduce.scores.scoring import compute_score

        return compute_score("bleu", outputs, references)

    def describe(self, data: Data) -> ModelDescription:
        """Return the title, purpose and example command of this translator for its model card."""
        source, target = data.source_language, data.target_language
        pair = f"{source} to {target}" if len(data.languages) == 2 else ""
        return ModelDescription(
            pipeline_tag="translation",
            languages=tuple(dict.fromkeys(data.languages)),
            title=pair or "translation",
            purpose=f"translates {pair}" if pair else "translates; its languages were not named",
            files=(f"input.{source}", f"output.{target}"),
        )


def build_translation(_data: Data, vocabularies: Vocabularies) -> Translation:
    """Build the translation task from vocabularies."""
    return Translation(vocabularies.source, vocabularies.target)


TRANSLATION = TaskKind(build=build_translation)


@final
@dataclass(frozen=True)
class Toy(TextToText):
    """A task from lines of letters to lines of letters, scored by exact match."""

    action: str  # what the model does to a line, such as "reverses"

    metrics: ClassVar[tuple[str, ...]] = ("exact-match",)
    has_words: ClassVar[bool] = False
    split_levels: ClassVar[tuple[SplitLevel, ...]] = ()  # never split

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> "Score":
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
KINDS: Mapping[str, TaskKind] = MappingProxyType(
    {"translation": TRANSLATION, "copy": COPY, "reverse": REVERSE, "sort": SORT}
)
