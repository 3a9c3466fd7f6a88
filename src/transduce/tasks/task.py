"""The protocol of a task: how text is encoded, how ids are decoded, how outputs are scored.

Preparing, validation, inference, evaluation and the model card depend on the task; training,
search and checkpoints do not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

from transduce.scores import Score
from transduce.settings import Data, Search
from transduce.settings.description import ModelDescription
from transduce.text.clean import normalise
from transduce.text.files import read_pairs_tsv
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.files import Vocabularies

if TYPE_CHECKING:
    from transduce.search import Constraint


@final
@dataclass(frozen=True)
class SplitLevel:
    """One way to split an input that is longer than the model takes, such as into sentences."""

    name: str
    split: Callable[[str], list[str]]
    joint: str  # the string that joins the parts to the same text


@runtime_checkable
class Task(Protocol):
    """A kind of input and output, such as translation: how both are encoded, decoded, scored."""

    @property
    def source(self) -> Vocabulary:
        """The vocabulary of the inputs."""
        ...

    @property
    def target(self) -> Vocabulary:
        """The vocabulary of the outputs."""
        ...

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the metrics that evaluation uses by default."""
        ...

    @property
    def has_words(self) -> bool:
        """Whether outputs consist of words, so that a perplexity per word is meaningful."""
        ...

    @property
    def split_levels(self) -> Sequence[SplitLevel]:
        """The ways to split an input that is too long, coarsest first; empty if it is refused."""
        ...

    def normalise(self, line: str) -> str:
        """Return the normalised form of a line, which the encode methods expect."""
        ...

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the source token ids of normalised lines, each list closed by END."""
        ...

    def encode_targets(self, lines: Sequence[str]) -> Sequence[list[int] | None]:
        """Return the target token ids of normalised lines, each list closed by END.

        A line that the vocabulary cannot express, such as with a label unseen in training, is None.
        """
        ...

    def decode(self, ids: Sequence[int], line: str) -> str:
        """Return the output line of target token ids, for the normalised input line."""
        ...

    def find_fault(self, ids: Sequence[int], line: str) -> str:
        """Return what `decode` had to repair in an output, such as brackets; "" if nothing."""
        ...

    def fallback(self, line: str) -> str | None:
        """Return the output for an input that is too long for the model; None to refuse it."""
        ...

    def present(self, output: str) -> object:
        """Return an output line as the value that Python users get: text, or a tree."""
        ...

    def join(self, parts: Sequence[str]) -> str:
        """Join the outputs of an input's parts into the output of the whole input."""
        ...

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """Score outputs against references by the task's main score, as validation reports it."""
        ...

    def constraint(self, line: str, search: Search) -> "Constraint | None":
        """Return the constraint on the output for a normalised input line; None if it is free."""
        ...

    def describe(self, data: Data) -> ModelDescription:
        """Return the words of a model card for a model of this task with these data settings."""
        ...


def list_single_file(path: Path, _split: str) -> list[Path]:
    """Return the path itself: a text of most tasks is one file."""
    return [path]


@final
@dataclass(frozen=True, kw_only=True)
class TaskKind:
    """What `data.task` names: how a task's files are read, its vocabularies learned, it is built.

    `target_symbols` returns the symbols of a target line, whose closed list is then the target
    vocabulary; None for a learned vocabulary of text. `tagged_words` returns the (word, tag) pairs
    of a target line, from which a lexicon of tags is learned; None for a task without one.
    """

    build: Callable[[Data, Vocabularies], Task]
    read_file: Callable[[Path], Iterator[tuple[str, str]]] = read_pairs_tsv
    tests_in_one_file: bool = False  # test sets are files that `read_file` reads, such as trees
    options: str = "--source FILE --target FILE, or --pairs FILE"  # that name a training text
    list_files: Callable[[Path, str], Sequence[Path]] = list_single_file
    normalise: Callable[[str], str] = normalise
    source_text: Callable[[str], str] = str  # the text of a source line that is cut into pieces
    target_symbols: Callable[[Data, str], Sequence[str]] | None = None
    tagged_words: Callable[[str], Iterable[tuple[str, str]]] | None = None


def constrain_source(ids: list[int], task: Task, line: str, search: Search) -> Sequence[int]:
    """Attach the task's constraint on the output to a source; if it has none, return it as is."""
    if not search.constrained:
        return ids
    constraint = task.constraint(line, search)
    if constraint is None:
        return ids
    from transduce.search import ConstrainedSource  # imports torch

    return ConstrainedSource(ids, constraint)
