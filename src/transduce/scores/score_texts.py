"""Scoring files or lines by several metrics at once: `transduce.score`."""

from collections.abc import Sequence
from typing import overload

from transduce.scores.bootstrap import SAMPLES, SEED, Comparison, compare_outputs
from transduce.scores.score import Score
from transduce.scores.scoring import compute_score
from transduce.text.arguments import Text, check_lines, read_text, require_lines

USUAL_METRICS = ("bleu", "chrf", "ter")


@overload
def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = ...,
    language: str = ...,
    against: None = None,
) -> list[Score]:
    """Score hypotheses against one or several references by each metric, with its signature."""


@overload
def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = ...,
    language: str = ...,
    against: Text,
    samples: int = ...,
    seed: int = ...,
) -> list[Comparison]:
    """Compare hypotheses with the other output `against` by each metric, by resampling."""


def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = USUAL_METRICS,
    language: str = "",
    against: Text | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Score] | list[Comparison]:
    """Score hypotheses against one or several references by each metric, with its signature.

        for score in transduce.score(["A dog runs."], ["A dog ran."], metrics=["bleu", "chrf"]):
            print(score)

    Texts are files or lists of lines. `language` is the language of the texts, such as "de"; the
    paper's BLEU is for German only. If `against` is another output of the same lines, the result is
    one comparison for each metric: both scores, and a test of their difference by paired bootstrap
    resampling, with `samples` test sets drawn by `seed`.
    """
    require_lines("metrics", metrics)
    metrics = list(check_lines("metrics", metrics))
    ours = read_text("hypotheses", hypotheses)
    texts = [read_text("references", one) for one in references]
    if against is None:
        return [compute_score(metric, ours, *texts, language=language) for metric in metrics]
    both, draws = (ours, read_text("against", against)), {"samples": samples, "seed": seed}
    return [compare_outputs(m, both, *texts, language=language, **draws) for m in metrics]
