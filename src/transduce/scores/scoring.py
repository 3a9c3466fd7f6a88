"""BLEU, chrF and TER of lines, by sacreBLEU and always with its signature."""

from collections.abc import Sequence
from typing import Any

from transduce.errors import InputError, suggest_names
from transduce.scores.comparability import paper_comparability
from transduce.scores.metrics import METRICS, Metric
from transduce.scores.paper_bleu import Texts
from transduce.scores.score import Score
from transduce.scores.test_sets import identify_test_set


def bleu(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Corpus BLEU of plain text, cased."""
    return compute_score("bleu", hypotheses, *references)


def chrf(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """F-score of character n-grams."""
    return compute_score("chrf", hypotheses, *references)


def ter(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Edits a reference word, in percent."""
    return compute_score("ter", hypotheses, *references)


def compute_score(
    metric: str, hypotheses: Sequence[str], *references: Sequence[str], language: str = ""
) -> Score:
    """Lines against one or several reference texts, by any of METRICS.

    `language` is that of the text; the paper's BLEU is for German ("de") only and wants it said.
    """
    chosen = metric_for(metric, language)
    require_lines(hypotheses, references)
    texts, mark = prepared(chosen, (hypotheses, *references))
    sacre: Any = chosen.make()  # one of several classes of equal methods
    test_set = " + ".join(map(identify_test_set, references))
    result = sacre.corpus_score(texts[0], texts[1:])
    return Score(
        name=chosen.name,
        value=result.score,
        signature=f"{sacre.get_signature()}{mark}",
        lines=len(hypotheses),
        test_set=test_set,
        details=chosen.details(result),
        paper_comparability=paper_comparability(metric, test_set),
        higher_is_better=chosen.higher_is_better,
    )


def metric_for(name: str, language: str) -> Metric:
    """The metric of that name, if there is one and it is for the language."""
    if name not in METRICS:
        raise InputError(f"unknown score {name!r}", suggest_names(name, METRICS))
    chosen = METRICS[name]
    if chosen.language not in ("", language):
        said = f"said to be {language!r}" if language else "not said"
        raise InputError(
            f"{name} is for German only, and the language of this text is {said}",
            f"--language {chosen.language} if it is German; --metric bleu is for any language",
        )
    return chosen


def require_scorable(metrics: Sequence[str], references: Sequence[str], language: str) -> None:
    """Refuse before the work of translating what would be refused after it."""
    for metric in metrics:
        prepared(metric_for(metric, language), ([], references))


def prepared(chosen: Metric, texts: Texts) -> tuple[Texts, str]:
    """What sacreBLEU is given, and what its signature does not say."""
    return chosen.prepare(texts) if chosen.prepare else (texts, "")


def require_lines(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Refuse what cannot be compared line by line."""
    if not references:
        raise InputError("there is no reference to score against")
    if not hypotheses:
        raise InputError("there are no lines to score", "look at the files")
    for text in references:
        if len(text) != len(hypotheses):
            raise InputError(
                f"{len(hypotheses):,} lines are to be scored, but the reference has {len(text):,}",
                "line n of the one belongs to line n of the other; an empty line counts",
            )
