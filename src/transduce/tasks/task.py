"""What a task decides: how text becomes ids, how ids become text, and how outputs are scored.

Preparing, validation, inference, evaluation and the model card ask the task; training, search and
checkpoints never learn which task it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

from transduce.scores import Score
from transduce.settings import Data
from transduce.settings.description import ModelDescription
from transduce.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transduce.search import Constraint


@final
@dataclass(frozen=True)
class SplitLevel:
    """One way to cut a text that is longer than the model takes: at its sentences, for instance."""

    name: str
    split: Callable[[str], list[str]]
    joint: str  # the parts of a text, with this between them, are the text again


@runtime_checkable
class Task(Protocol):
    """A kind of examples, with everything that depends on what they mean."""

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
        """The names of the scores that evaluation takes unless others are asked for."""
        ...

    @property
    def has_words(self) -> bool:
        """Whether outputs consist of words, so that a perplexity per word means something."""
        ...

    @property
    def split_levels(self) -> Sequence[SplitLevel]:
        """The ways to cut an input that is too long, coarsest first; empty if none is allowed."""
        ...

    def normalise(self, line: str) -> str:
        """Return the regular form of a line, which encoding expects."""
        ...

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the source ids of regular lines, each closed by END."""
        ...

    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the target ids of regular lines, each closed by END."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of target ids as one regular line."""
        ...

    def join(self, parts: Sequence[str]) -> str:
        """Join the outputs of an input's parts into the output of the whole input."""
        ...

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """Score outputs against references by the task's main score, as validation reports it."""
        ...

    def constraint(self, source_ids: Sequence[int]) -> "Constraint | None":
        """Return what the output of a source must obey; None if it may be anything."""
        ...

    def describe(self, data: Data) -> ModelDescription:
        """Return what a model card says about a model of this task, trained on such data."""
        ...
