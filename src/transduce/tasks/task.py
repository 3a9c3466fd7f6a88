"""The class `Task`: how text is encoded, how ids are decoded, how outputs are scored.

Preparing, validation, inference, evaluation and the model card depend on the task; training,
search and checkpoints do not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from transduce.settings import Data, Search
from transduce.settings.data import UNNAMED, ModelDescription
from transduce.settings.recipe import Value
from transduce.text.clean import EMPTY, normalise
from transduce.text.files import read_pairs_tsv
from transduce.text.words import normalise_blanks, to_source_text
from transduce.vocabulary import END, Vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

if TYPE_CHECKING:
    from transduce.scores.score import Score
    from transduce.search.constraints import Constraint


@final
@dataclass(frozen=True)
class SplitLevel:
    """One way to split an input line that is too long for the model, such as into sentences."""

    name: str
    split: Callable[[str], list[str]]
    joint: str  # the string between the parts when they are joined again


@dataclass(frozen=True)
class Task(ABC):
    """A task such as translation: it encodes inputs, and it decodes and scores outputs.

    Methods that a task does not override do what is right for lines of text.
    """

    source: Vocabulary  # of the inputs
    target: Vocabulary  # of the outputs

    has_words: ClassVar[bool] = False  # whether a perplexity per word of outputs is meaningful
    split_levels: ClassVar[Sequence[SplitLevel]] = ()  # for a long line, coarsest first

    @property
    @abstractmethod
    def metrics(self) -> Sequence[str]:
        """The names of an evaluation's metrics; validation uses the first one."""

    def normalise(self, line: str) -> str:
        """Return a line normalised as `encode_sources` and `encode_targets` expect it."""
        return normalise(line)

    def encode_sources(self, lines: Iterable[str]) -> list[list[int]]:
        """Return the source token ids of normalised lines, each list closed by END."""
        return [[*ids, END] for ids in self.source.encode_batch(lines)]

    @abstractmethod
    def encode_targets(self, lines: Sequence[str]) -> Sequence[list[int] | None]:
        """Return target ids of normalised lines, END last; None for a line with an unknown symbol.

        A symbol, such as a label, is unknown if the training data lacks it.
        """

    @abstractmethod
    def decode(self, ids: Sequence[int], line: str) -> str:
        """Return target token ids as an output line, given the normalised input line."""

    @abstractmethod
    def describe(self, data: Data) -> ModelDescription:
        """Return a model's title, purpose, example command and hub tags for its model card."""

    def find_fault(self, ids: Sequence[int], line: str) -> str:  # noqa: ARG002
        """Return a phrase that says what `decode` has to repair in an output, or "" if nothing."""
        return ""

    def fallback(self, line: str) -> str | None:  # noqa: ARG002
        """Return an output for a line that is too long for the model; None if the task has none."""
        return None

    def parse_output(self, output: str) -> object:
        """Convert an output line to what Python users get: a str, a Tree, labels or grey levels."""
        return output

    def join(self, parts: Sequence[str]) -> str:
        """Join the outputs for the parts of a split input line into one output line."""
        return " ".join(parts)

    def constraint(self, line: str, search: Search) -> "Constraint | None":  # noqa: ARG002
        """Return the constraint on a normalised input line's output; None if there is none."""
        return None

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> "Score":
        """Score outputs against references by the first metric, as validation reports it."""
        from transduce.scores.scoring import compute_score

        return compute_score(self.metrics[0], outputs, references)


@dataclass(frozen=True)
class SentenceTask(Task):
    """A task from tokenised sentences to symbols of a fixed vocabulary."""

    card: ClassVar[ModelDescription]  # {} stands for the language in its title and its purpose

    def normalise(self, line: str) -> str:
        """Return a line with single spaces between its words, and the words unchanged."""
        return normalise_blanks(line)

    def encode_sources(self, lines: Iterable[str]) -> list[list[int]]:
        """Return the source token ids of sentences, each list closed by END."""
        return super().encode_sources(map(to_source_text, lines))

    def encode_targets(self, lines: Sequence[str]) -> list[list[int] | None]:
        """Return symbol ids, each list closed by END; None for a line with an unknown symbol."""
        found = [self.target.lookup(self.list_symbols(line)) for line in lines]
        return [None if ids is None else [*ids, END] for ids in found]

    @abstractmethod
    def list_symbols(self, line: str) -> list[str]:
        """Return the symbols of an output line."""

    def describe(self, data: Data) -> ModelDescription:
        """Return this model's title, purpose, example command and hub tags for its model card."""
        source = data.source_language
        languages = () if source == UNNAMED[0] else (source,)  # an output such as trees has none
        named = languages[0] if languages else "language not named"
        texts = {name: getattr(self.card, name).format(named) for name in ("title", "purpose")}
        return replace(self.card, languages=languages, **texts)


@final
@dataclass(frozen=True, kw_only=True)
class TaskKind:
    """The functions that read files and build the task, for one value of `data.task`.

    - `read_file` reads a file with both sides. If `read_file` is `read_pairs_tsv`, `TaskFiles` also
      takes CSV, TMX and XLIFF.
    - `read_test_file` reads a test set that is one file with both sides, and refuses malformed
      lines; None if a test set is two text files. `test_file` says what such a file holds.
    - `find_mismatch` returns why a target cannot belong to a source (such as other words), or "".
    - `check_targets` yields the target lines of a training text, and refuses lines that the
      settings do not allow.
    - `infer_settings` returns the settings that fit cleaned pairs, such as a label scheme.
    - `format_output` returns what a file of outputs holds for a source line and its output.
    - `target_symbols` returns the symbols of a target line. All symbols of the training data are
      the target vocabulary. `target_symbols` is None if the vocabulary is learned from text.
    - `list_tagged_words` returns the (word, tag) pairs of a target line, to learn a lexicon of
      tags; None for a task without a lexicon.
    - `is_tokenised` says whether spaces separate all words and punctuation of a source line.
    """

    build: Callable[[Data, Vocabularies], Task]
    read_file: Callable[[Path], Iterator[tuple[str, str]]] = read_pairs_tsv
    read_test_file: Callable[[Path], Iterator[tuple[str, str]]] | None = None
    test_file: str = ""
    # the command-line options that name a text of this task
    options: str = "--source FILE --target FILE, or --pairs FILE"
    sides: tuple[str, str] = ("symbols", "symbols")  # words for the two sides; "" for a language
    unit: str = "pair"  # the word for one item of a text of this task
    unusable: str = EMPTY  # the words for items that the cleaning leaves out as empty
    list_files: Callable[[Path, str], Sequence[Path]] = lambda path, _split: [path]
    normalise: Callable[[str], str] = normalise
    find_mismatch: Callable[[str, str], str] = lambda _source, _target: ""
    check_targets: Callable[[Data, Iterable[str]], Iterator[str]] = lambda _, lines: iter(lines)
    infer_settings: Callable[[Iterable[tuple[str, str]]], Mapping[str, Value]] = lambda _pairs: {}
    format_output: Callable[[str, str], str] = lambda _source, output: f"{output}\n"
    source_text: Callable[[str], str] = str  # returns the text to encode for a source line
    target_symbols: Callable[[Data, str], Sequence[str]] | None = None
    list_tagged_words: Callable[[str], Iterable[tuple[str, str]]] | None = None
    is_tokenised: bool = False
    has_languages: bool = True  # whether a side may be in a language

    @property
    def is_text(self) -> bool:
        """Whether both sides are text, and neither side has labels, trees or signals."""
        return self.has_languages and self.target_symbols is None

    def count(self, items: int) -> str:
        """Return a number with the unit of this task, such as "1 pair" or "2,300 trees"."""
        return f"{items:,} {self.unit}{'s' * (items != 1)}"


def constrain_source(ids: list[int], task: Task, line: str, search: Search) -> Sequence[int]:
    """Return `ids`, with the task's constraint attached if it has one and `search.constrained`."""
    if not search.constrained:
        return ids
    constraint = task.constraint(line, search)
    if constraint is None:
        return ids
    from transduce.search.constraints import ConstrainedSource  # imports torch

    return ConstrainedSource(ids, constraint)
