"""BLEU, chrF and TER of lines, by sacreBLEU and always with its signature."""

from collections.abc import Sequence

from transduce.errors import InputError, nearest
from transduce.scores.metrics import METRICS
from transduce.scores.references import name_of
from transduce.scores.score import Score


def bleu(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Corpus BLEU of plain text, cased."""
    return scored("bleu", hypotheses, *references)


def chrf(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """F-score of character n-grams."""
    return scored("chrf", hypotheses, *references)


def ter(hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Edits a reference word, in percent."""
    return scored("ter", hypotheses, *references)


def scored(metric: str, hypotheses: Sequence[str], *references: Sequence[str]) -> Score:
    """Lines against one or several reference texts, by any of METRICS."""
    if metric not in METRICS:
        raise InputError(f"unknown score {metric!r}", nearest(metric, METRICS))
    demand_lines(hypotheses, references)
    chosen = METRICS[metric]
    sacre, prepare = chosen.make(), chosen.prepare or str
    texts = [[prepare(line) for line in text] for text in (hypotheses, *references)]
    result = sacre.corpus_score(texts[0], texts[1:])
    return Score(
        name=chosen.name,
        value=result.score,
        signature=f"{sacre.get_signature()}{chosen.mark}",
        lines=len(hypotheses),
        test_set=" + ".join(map(name_of, references)),
        details={detail: getattr(result, detail) for detail in chosen.details},
    )


def demand_lines(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Refuse what cannot be compared line by line."""
    if not references:
        raise InputError("there is no reference to score against")
    if not hypotheses:
        raise InputError("there are no lines to score", "look at the files")
    for text in references:
        if len(text) != len(hypotheses):
            raise InputError(
                f"{len(hypotheses)} lines are to be scored, but the reference has {len(text)}",
                "line n of the one belongs to line n of the other; an empty line counts",
            )
