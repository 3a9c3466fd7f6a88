"""Paired bootstrap resampling (Koehn 2004): the significance of a difference of two scores.

The procedure and its defaults are sacreBLEU's: test sets of equal size are drawn from the lines of
the given test set, with replacement, and both outputs are scored on every drawn set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from transduce.errors import short_repr
from transduce.scores.metric import Metric, Texts
from transduce.scores.score import Score
from transduce.scores.scoring import compute_score, find_metric, preprocess_texts
from transduce.settings.fields import require

SAMPLES, SEED = 1_000, 12_345  # sacreBLEU's defaults
MOST_SAMPLES = 1_000_000
SIGNIFICANCE_LEVEL = 0.05


@final
@dataclass(frozen=True)
class Comparison:
    """Two outputs' scores by one metric, and the significance of the scores' difference."""

    ours: Score
    theirs: Score
    low: float  # 95 % of the resampled differences lie between low and high
    high: float
    p: float  # probability of a difference this large if the outputs were equally good
    samples: int  # number of resampled test sets
    seed: int

    @property
    def difference(self) -> float:
        """The score of the first output (`ours`) minus that of the second (`theirs`)."""
        return self.ours.value - self.theirs.value

    def __str__(self) -> str:
        better = "" if self.ours.higher_is_better else " (lower is better)"
        verdict = "more than chance" if self.p < SIGNIFICANCE_LEVEL else "may be chance"
        return (
            f"{self.ours.name} {self.difference:+.2f}, the first minus the second{better}"
            f" | {self.low:+.2f} to {self.high:+.2f} in 95 %"
            f" of {self.samples:,} resampled test sets"
            f" | p = {self.p:.4f}, {verdict} | paired bootstrap, seed {self.seed}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        return {"name": self.ours.name, "difference": self.difference, **asdict(self)}


def compare_outputs(
    metric: str | Metric,
    outputs: tuple[Sequence[str], Sequence[str]],
    *references: Sequence[str],
    language: str = "",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Score two outputs against the same references and test the difference by resampling."""
    require(samples >= 40, f"{short_repr(samples)} samples have no 95 % of them", "--samples 1000")
    fact = f"{short_repr(samples)} samples are more than {MOST_SAMPLES:,}"
    require(samples <= MOST_SAMPLES, fact, "--samples 1000")
    require(0 <= seed < 1 << 64, f"a seed is 0 or more, up to 2^64 - 1, not {short_repr(seed)}")
    ours, theirs = (compute_score(metric, one, *references, language=language) for one in outputs)
    chosen = find_metric(metric, language, references)
    a, b = (list(resample_scores(chosen, (one, *references), samples, seed)) for one in outputs)
    low, high, p = measure_significance(ours.value - theirs.value, a, b)
    return Comparison(ours, theirs, low, high, p, samples, seed)


def resample_scores(chosen: Metric, texts: Texts, samples: int, seed: int) -> Iterator[float]:
    """Yield an output's score on each of `samples` test sets that are drawn from its lines.

    The output is the first of `texts`, its references follow. Lines are drawn with replacement.
    Equal seeds draw the same lines, so that two outputs are scored on the same test sets.
    """
    import numpy as np

    texts, _ = preprocess_texts(chosen, texts)
    counts = np.array(chosen.scorer.count_lines(texts), np.float32)
    draw = np.random.default_rng(seed)
    for _ in range(samples):
        lines = draw.choice(len(counts), size=len(counts), replace=True)
        yield chosen.scorer.score_sums(counts[lines].sum(0))


def measure_significance(
    difference: float, ours: Sequence[float], theirs: Sequence[float]
) -> tuple[float, float, float]:
    """Return a 95 % interval of two outputs' score difference, and p, from resampled scores.

    Returns (low, high, p); 95 % of the samples' differences lie between low and high. p is the
    share of samples whose |a - b| exceeds the mean of |a - b| by more than |difference|.
    """
    import numpy as np

    a, b = np.array(ours), np.array(theirs)
    spread = np.abs(a - b) - np.abs(a - b).mean()
    beyond = int((spread > abs(difference)).sum())
    cut = len(a) // 40
    inner = np.sort(a - b)[cut : len(a) - cut]
    # Outputs with equal scores on every sample get p = 1; sacreBLEU's formula would give almost 0.
    p = (beyond + 1) / (len(a) + 1) if (a != b).any() else 1.0
    return float(inner[0]), float(inner[-1]), p
