"""Labelled F1 of brackets as a metric with sacreBLEU's interface, computed from summed counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from transduce.errors import InputError
from transduce.scores.brackets.counting import FAILED, SCORED, SKIPPED, count_sentence
from transduce.scores.brackets.parameters import COLLINS, BracketParameters
from transduce.scores.brackets.summary import percentage
from transduce.version import __version__


@final
@dataclass(frozen=True)
class BracketResult:
    """The summed counts of matching, gold and output constituents, and of unscored sentences.

    A failed or skipped output counts as a tree without constituents.
    """

    matched: int
    gold: int
    test: int
    failed: int
    skipped: int

    @property
    def score(self) -> float:
        """F1 in percent: twice the matches, divided by the sum of gold and output constituents."""
        return percentage(2 * self.matched, self.gold + self.test)

    @property
    def recall(self) -> float:
        """The percentage of the gold constituents that match."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """The percentage of the output's constituents that match."""
        return percentage(self.matched, self.test)


@final
@dataclass(frozen=True)
class BracketF1:
    """The bracket F1 metric over all sentences, with the methods of sacreBLEU's metric classes."""

    parameters: BracketParameters = COLLINS

    def corpus_score(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> BracketResult:
        """Score output trees, one per line, against the one gold text in `references`."""
        counts = self._extract_corpus_statistics(outputs, references)
        return BracketResult(*map(sum, zip(*counts, strict=True)))

    def get_signature(self) -> str:
        """Return the signature in sacreBLEU's notation: parameters, failed sentences, version."""
        return f"params:{self.parameters.name}|failed:no match|version:{__version__}"

    def _extract_corpus_statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[tuple[int, ...]]:
        """Return the counts of each line, in the order of the fields of `BracketResult`."""
        if len(references) != 1:
            raise InputError("brackets are scored against one reference", "name one gold file")
        return [
            count_line(gold, output, self.parameters)
            for output, gold in zip(outputs, references[0], strict=True)
        ]

    def _compute_score_from_stats(self, statistics: Iterable[Any]) -> BracketResult:
        """Return the result for the summed counts of lines, which may be numpy numbers."""
        return BracketResult(*map(int, statistics))


def count_line(gold: str, output: str, parameters: BracketParameters) -> tuple[int, ...]:
    """Return the fields of `BracketResult`, counted for an output tree and its gold tree."""
    counts, _ = count_sentence(gold, output, parameters)
    scored = counts.status == SCORED
    return (
        counts.matched if scored else 0,
        counts.gold_constituents,
        counts.test if scored else 0,
        int(counts.status == FAILED),
        int(counts.status == SKIPPED),
    )


def extract_bracket_counts(result: BracketResult) -> dict[str, Any]:
    """Return recall and precision in percent and the counts that a bracket F1 is computed from."""
    return {
        "recall": result.recall,
        "precision": result.precision,
        "matched": result.matched,
        "gold": result.gold,
        "test": result.test,
        "failed": result.failed,
        "skipped": result.skipped,
    }
