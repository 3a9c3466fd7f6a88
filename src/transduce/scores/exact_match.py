"""Exact match: the percentage of outputs that equal their reference, character by character."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from transduce.version import __version__


@final
@dataclass(frozen=True)
class ExactMatchResult:
    """The number of outputs that equal their reference, and the number of all outputs."""

    matches: int
    lines: int

    @property
    def score(self) -> float:
        """The percentage of outputs that equal their reference."""
        return 100 * self.matches / self.lines


@final
class ExactMatch:
    """The exact match metric, with the methods of sacreBLEU's metric classes."""

    def corpus_score(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> ExactMatchResult:
        """Count the outputs that equal the same line of any reference text."""
        statistics = self._extract_corpus_statistics(outputs, references)
        return ExactMatchResult(sum(match for match, _ in statistics), len(statistics))

    def get_signature(self) -> str:
        """Return the signature in sacreBLEU's notation: case-sensitive, whole lines, version."""
        return f"case:mixed|whole:line|version:{__version__}"

    def _extract_corpus_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[tuple[int, int]]:
        """Return a tuple for each line: 1 or 0 for a match with any reference, and the count 1."""
        return [
            (int(output in lines), 1) for output, *lines in zip(outputs, *references, strict=True)
        ]

    def _compute_score_from_stats(self, statistics: Iterable[Any]) -> ExactMatchResult:
        """Return the result for the summed counts of lines: matches, and all lines."""
        matches, lines = map(int, statistics)
        return ExactMatchResult(matches, lines)
