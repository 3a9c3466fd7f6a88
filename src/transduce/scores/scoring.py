"""Scoring of output lines by a metric; each score has a signature and its test set's name."""

from collections.abc import Sequence

from transduce.allowance import require_short_line
from transduce.errors import InputError, suggest_names
from transduce.scores.metric import Metric, Texts
from transduce.scores.metrics import METRICS
from transduce.scores.paper_bleu import describe_paper_comparability
from transduce.scores.score import Score
from transduce.scores.test_sets import identify_test_set


def compute_score(
    metric: str | Metric, hypotheses: Sequence[str], *references: Sequence[str], language: str = ""
) -> Score:
    """Score output lines against one or several reference texts by a metric or its name.

    `language` is the language of the text; the paper's BLEU refuses any text not given as "de".
    """
    chosen = find_metric(metric, language)
    require_parallel(hypotheses, references)
    texts, suffix = preprocess_texts(chosen, (hypotheses, *references))
    test_set = " + ".join(map(identify_test_set, references))
    comparable = describe_paper_comparability(metric, test_set) if isinstance(metric, str) else ""
    result = chosen.scorer.score(texts)
    return Score(
        name=chosen.name,
        value=result.value,
        signature=f"{result.signature}{suffix}",
        lines=len(hypotheses),
        test_set=test_set,
        details=result.details,
        paper_comparability=comparable,
        higher_is_better=chosen.higher_is_better,
    )


def find_metric(name: str | Metric, language: str) -> Metric:
    """Return the metric of this name if it can score text in `language`; a `Metric` stays itself.

    Raise InputError if the name is unknown or its metric is for another language.
    """
    if isinstance(name, Metric):
        return name
    if name not in METRICS:
        raise InputError(f"unknown score {name!r}", suggest_names(name, METRICS))
    chosen = METRICS[name]
    if chosen.language not in ("", language):
        given = repr(language) if language else "not given"
        raise InputError(
            f"{name} is for German only, and the language of this text is {given}",
            f"--language {chosen.language} if it is German; --metric bleu is for any language",
        )
    return chosen


def require_scorable(metrics: Sequence[str], references: Sequence[str], language: str) -> None:
    """Raise InputError if a metric cannot use these references; outputs are not needed yet."""
    for metric in metrics:
        preprocess_texts(find_metric(metric, language), ([], references))


def preprocess_texts(chosen: Metric, texts: Texts) -> tuple[Texts, str]:
    """Return the preprocessed texts for a metric's scorer, and the suffix of its signature.

    Raise InputError for a line that is too long to be scored.
    """
    for text in texts:
        for number, line in enumerate(text, start=1):
            require_short_line(line, number)
    return chosen.preprocess(texts)


def require_parallel(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raise InputError if a text is missing or empty or the numbers of lines differ."""
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
