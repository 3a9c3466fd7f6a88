"""Sum EVALB's counts over sentences, and compute recall, precision and F1 from the sums."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, final

from transduce.scores.brackets.counting import FAILED, SCORED, SKIPPED, SentenceCounts


@final
@dataclass(frozen=True)
class BracketSummary:
    """Sums over sentences, with EVALB's scores and an F1 that includes failed sentences."""

    sentences: int
    errors: int
    skipped: int
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    correct_tags: int
    complete: int  # sentences whose constituents all match
    without_crossing: int  # sentences without a crossing constituent
    up_to_two_crossing: int  # sentences with at most two crossing constituents
    gold_constituents: int  # gold constituents of all sentences, failed and skipped ones too

    @property
    def valid(self) -> int:
        """The number of sentences that EVALB scores."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """The percentage of the gold constituents that match, over the sentences EVALB scores."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """The percentage of output constituents that match, over the sentences EVALB scores."""
        return percentage(self.matched, self.test)

    @property
    def f1(self) -> float:
        """EVALB's F1 in percent, over the sentences EVALB scores; nan if nothing matches."""
        both = self.recall + self.precision
        return 2 * self.precision * self.recall / both if both else math.nan

    @property
    def f1_of_all_sentences(self) -> float:
        """F1 in percent where failed and skipped sentences count as outputs without brackets."""
        return percentage(2 * self.matched, self.gold_constituents + self.test)

    @property
    def complete_match(self) -> float:
        """The percentage of EVALB's scored sentences in which all constituents match."""
        return percentage(self.complete, self.valid)

    @property
    def tag_accuracy(self) -> float:
        """The percentage of words with the gold part-of-speech tag, in sentences EVALB scores."""
        return percentage(self.correct_tags, self.words)

    def as_json(self) -> dict[str, Any]:
        """Return the counts and scores as plain values for JSON, with None for nan."""
        figures = ("recall", "precision", "f1", "f1_of_all_sentences", "complete_match")
        values = {name: getattr(self, name) for name in (*figures, "tag_accuracy")}
        values["f1"] = None if math.isnan(self.f1) else self.f1
        return {**asdict(self), "valid": self.valid, **values}


def summarise(sentences: Iterable[SentenceCounts]) -> BracketSummary:
    """Sum the counts of scored sentences, and count the failed and the skipped sentences."""
    every = list(sentences)
    valid = [one for one in every if one.status == SCORED]
    return BracketSummary(
        sentences=len(every),
        errors=sum(one.status == FAILED for one in every),
        skipped=sum(one.status == SKIPPED for one in every),
        matched=sum(one.matched for one in valid),
        gold=sum(one.gold for one in valid),
        test=sum(one.test for one in valid),
        crossing=sum(one.crossing for one in valid),
        words=sum(one.words for one in valid),
        correct_tags=sum(one.correct_tags for one in valid),
        complete=sum(one.is_complete for one in valid),
        without_crossing=sum(one.crossing == 0 for one in valid),
        up_to_two_crossing=sum(one.crossing <= 2 for one in valid),
        gold_constituents=sum(one.gold_constituents for one in every),
    )


def percentage(part: int, whole: int) -> float:
    """Return part / whole in percent, or 0 if `whole` is 0."""
    return 100 * part / whole if whole else 0.0
