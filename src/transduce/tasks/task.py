"""The protocol of a task: how text is encoded, how ids are decoded, how outputs are scored.

Preparing, validation, inference, evaluation and the model card depend on the task; training,
search and checkpoints do not.
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

    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the target token ids of normalised lines, each list closed by END."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of target token ids as one normalised line."""
        ...

    def join(self, parts: Sequence[str]) -> str:
        """Join the outputs of an input's parts into the output of the whole input."""
        ...

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """Score outputs against references by the task's main score, as validation reports it."""
        ...

    def constraint(self, source_ids: Sequence[int]) -> "Constraint | None":
        """Return the constraint on the output for these source ids; None allows any output."""
        ...

    def describe(self, data: Data) -> ModelDescription:
        """Return the words of a model card for a model of this task with these data settings."""
        ...
