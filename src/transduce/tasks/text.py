"""The base class of tasks from text to text, such as translation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transduce.settings import Search
from transduce.text.clean import normalise
from transduce.vocabulary import END, Vocabulary


@dataclass(frozen=True)
class TextToText:
    """A task from lines of text to lines of text, without a constraint on the outputs."""

    source: Vocabulary
    target: Vocabulary

    def normalise(self, line: str) -> str:
        """Return a line in NFC with single blanks and without invisible characters."""
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
        """Join with blanks the outputs for the parts of a split input line."""
        return " ".join(parts)

    def constraint(self, line: str, search: Search) -> None:  # noqa: ARG002 - nothing is forbidden
        """Return None, since the output may be any text."""
        return


def encode_lines(vocabulary: Vocabulary, lines: Iterable[str]) -> list[list[int]]:
    """Return the token ids of normalised lines, each list closed by END."""
    return [[*ids, END] for ids in vocabulary.encode_batch(lines)]
