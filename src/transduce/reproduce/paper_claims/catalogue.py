"""The paper's claims outside its tables: what measures each, and the range in which it holds.

Times and memory are those of this machine; trained models are those of `measures.py`. Where the
paper gives no number, the range is ours.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.recipes.printed import TABLE_2
from transduce.reproduce.paper_claims.measures import (
    SIZES,
    WIDTHS,
    collect_cross_entropies,
    count_layers,
    measure_attention_paths,
    measure_compatibility_costs,
    measure_head_costs,
    measure_positions,
    measure_products,
)
from transduce.reproduce.table_claims import STUDENT

Values = Mapping[str, float]  # what was measured from one seed, by name
# (seed, the run folders by trained row) -> what was measured
Measure = Callable[[int, Mapping[str, Path]], Values]
ROUNDING = 1e-9
P100 = 9.5e12  # operations a second in float32, footnote 5
HOUR, DAY = 3600, 86_400
SIMILAR = 0.05  # two rows are similar if they differ by at most this, in nats a piece


@final
@dataclass(frozen=True)
class Finding:
    """A formula over one seed's values, and the range of results that supports the claim."""

    says: str
    value: str  # the name of a value, or two names with " / " or " - " between them
    least: float = -math.inf
    most: float = math.inf

    @property
    def expected(self) -> str:
        """The range in which the number supports the claim, in words."""
        if self.least == self.most:
            return f"{self.least:.3g}"
        if math.isinf(self.most):
            return f"over {self.least:.3g}"
        if math.isinf(self.least):
            return f"under {self.most:.3g}"
        return f"{self.least:.3g} to {self.most:.3g}"

    def compute(self, values: Values) -> float:
        """Return the value, ratio or difference that `value` names, from the values of one seed."""
        first, divided, second = self.value.partition(" / ")
        if divided:
            return values[first] / values[second]
        first, _, second = self.value.partition(" - ")
        return values[first] - (values[second] if second else 0.0)

    @property
    def names(self) -> set[str]:
        """The names of values in the formula `value` ("a", "a / b" or "a - b")."""
        return {name for part in self.value.split(" / ") for name in part.split(" - ")}

    def judge(self, numbers: Sequence[float], *, is_exact: bool) -> str:
        """Return the verdict by the 95 % interval of the mean of the seeds' numbers.

        The verdict is "holds", "holds not" or "within chance". It is "one seed cannot tell" for a
        single number unless `is_exact`.
        """
        if len(numbers) == 1 and not is_exact:
            return "one seed cannot tell"
        low, high = compute_interval(numbers)
        slack = ROUNDING * max(abs(low), abs(high))
        if low >= self.least - slack and high <= self.most + slack:
            return "holds"
        return "holds not" if high < self.least or low > self.most else "within chance"


def compute_interval(numbers: Sequence[float]) -> tuple[float, float]:
    """Return (low, high) of the mean's 95 % interval by Student's t; a single number is both."""
    mean, count = statistics.fmean(numbers), len(numbers)
    if count == 1:
        return mean, mean
    quantile = STUDENT[min(count - 1, len(STUDENT)) - 1]
    half = quantile * statistics.stdev(numbers) / math.sqrt(count)
    return mean - half, mean + half


@final
@dataclass(frozen=True, kw_only=True)
class PaperClaim:
    """A sentence of the paper, the function that measures it, and the findings to judge.

    Differences and ratios are computed within each seed.
    """

    name: str
    section: str
    sentence: str  # the paper's sentence, in our words
    findings: Sequence[Finding]
    measure: Measure
    rows: Sequence[str] = ()  # the trained rows that `measure` needs
    is_exact: bool = False  # whether every seed gives the same numbers, as in arithmetic

    @property
    def names(self) -> set[str]:
        """The names of the values that the findings need."""
        return {name for finding in self.findings for name in finding.names}


def compute_printed_gains(_seed: int, _runs: Mapping[str, Path]) -> dict[str, float]:
    """Return training costs and gains by name, from what Table 2 and section 5.2 print."""
    ours = {row.row: row for row in TABLE_2 if row.row}
    others = [row for row in TABLE_2 if not row.row]
    best_german = max(float(row.bleu["en-de"]) for row in others if "en-de" in row.bleu)
    single = [row for row in others if "en-fr" in row.bleu and "Ensemble" not in row.model]
    best_french = max(single, key=lambda row: float(row.bleu["en-fr"]))
    return {
        "base": 12 * HOUR * 8 * P100,
        "big": 3.5 * DAY * 8 * P100,
        "base hours": 100_000 * 0.4 / HOUR,
        "big days": 300_000 * 1.0 / DAY,
        "gain": float(ours["big"].bleu["en-de"]) - best_german,
        "base gain": float(ours["base"].bleu["en-de"]) - best_german,
        "cost": float(ours["big"].cost["en-fr"]) / float(best_french.cost["en-fr"]),
        "french gain": 41.0 - float(best_french.bleu["en-fr"]),
        "french": float(ours["big"].bleu["en-fr"]),
    }


ARITHMETIC = PaperClaim(
    name="arithmetic",
    section="5.2, 6.1",
    sentence="What the text says of times, costs and gains follows from the printed numbers.",
    measure=compute_printed_gains,
    is_exact=True,
    findings=(
        Finding("12 hours on 8 P100 of 9.5 TFLOP/s: 3.3e18 operations", "base", 3.25e18, 3.35e18),
        Finding("3.5 days on 8 P100: 2.3e19 operations", "big", 2.25e19, 2.35e19),
        Finding("100,000 steps of 0.4 s take 12 hours", "base hours", 11.5, 12.5),
        Finding("300,000 steps of 1.0 s take 3.5 days", "big days", 3.45, 3.55),
        Finding("en-de: big gains over 2.0 BLEU on the best ensemble", "gain", 2.0),
        Finding("en-de: base surpasses all models and ensembles", "base gain", 0.0),
        Finding("en-fr: big costs less than a quarter of the best other", "cost", most=0.25),
        Finding("en-fr: the text's 41.0 BLEU surpasses all single models", "french gain", 0.0),
        Finding("en-fr: Table 2 prints the text's 41.0 BLEU for big", "french", 41.0, 41.0),
    ),
)

SPEED = PaperClaim(
    name="dot-speed",
    section="3.2.1",
    sentence="Dot-product attention is much faster and smaller than additive attention.",
    measure=measure_compatibility_costs,
    findings=tuple(
        Finding(
            f"additive ÷ dot-product, {unit}, n {n}, d_k {d_k}",
            f"additive {n} {d_k} {unit} / scaled-dot {n} {d_k} {unit}",
            1.0,
        )
        for n, d_k in SIZES
        for unit in ("seconds", "bytes")
    ),
)

PRODUCTS = PaperClaim(
    name="products",
    section="3.2.1, footnote 4",
    sentence="q · k has the variance d_k; a large one leaves the softmax with small gradients.",
    measure=measure_products,
    findings=(
        *(
            Finding(f"variance of q · k at d_k {d_k}", f"variance {d_k}", 0.95 * d_k, 1.05 * d_k)
            for d_k in WIDTHS
        ),
        Finding(
            "softmax derivatives, d_k 256 ÷ 16, not scaled", "unscaled 256 / unscaled 16", most=1.0
        ),
        Finding(
            "softmax derivatives, d_k 256 ÷ 16, divided by √d_k", "scaled 256 / scaled 16", 0.9, 1.1
        ),
    ),
)

SCALING = PaperClaim(
    name="scaling",
    section="3.2.1",
    sentence="At small d_k products need no scaling; at large d_k they train worse without it, "
    "and worse than additive attention.",
    measure=collect_cross_entropies,
    rows=(
        *("base", "scaled-dk64", "scaled-dk256", "dot-dk16", "dot-dk64", "dot-dk256"),
        *("additive-dk16", "additive-dk64"),
    ),
    findings=(
        *(
            Finding(f"nats: unscaled - {name}, d_k 16", f"dot-dk16 - {row}", -SIMILAR, SIMILAR)
            for name, row in (("scaled", "base"), ("additive", "additive-dk16"))
        ),
        *(
            Finding(f"nats: unscaled - scaled, d_k {d_k}", f"dot-dk{d_k} - scaled-dk{d_k}", 0.0)
            for d_k in (64, 256)
        ),
        Finding("nats: unscaled - additive, d_k 64", "dot-dk64 - additive-dk64", 0.0),
    ),
)

HEADS = PaperClaim(
    name="heads",
    section="3.2.2",
    sentence="8 heads of 64 numbers cost about as much as one of 512.",
    measure=measure_head_costs,
    findings=tuple(
        Finding(f"8 heads ÷ 1 head, {unit}", f"8 {unit} / 1 {unit}", low, high)
        for unit, low, high in (
            ("operations", 1.0, 1.0),
            ("seconds", 2 / 3, 1.5),
            ("bytes", 2 / 3, 1.5),
        )
    ),
)

POSITIONS = PaperClaim(
    name="positions",
    section="3.5",
    sentence="Sinusoids are as good as learned positions, and may extend to longer sentences.",
    measure=measure_positions,
    rows=("base", "learned"),
    findings=(
        Finding(
            "nats: learned - sinusoids, within the trained length",
            "learned - base",
            -SIMILAR,
            SIMILAR,
        ),
        Finding(
            "nats: learned - sinusoids, beyond it, up to twice the length",
            "learned beyond - base beyond",
            0.0,
        ),
        Finding(
            "nats: sinusoids beyond the trained length - within", "base beyond - base", most=SIMILAR
        ),
    ),
)

CONVOLUTIONS = PaperClaim(
    name="convolutions",
    section="4",
    sentence="A convolution is dearer than a recurrent layer by a factor of k; a separable one of "
    "k = n costs, up to a constant, as much as self-attention and a feed-forward layer.",
    measure=count_layers,
    is_exact=True,
    findings=(
        Finding("operations: convolution of k 9 ÷ k 3", "convolution 9 / convolution 3", 3.0, 3.0),
        *(
            Finding(f"operations: convolution of k {k} ÷ LSTM", f"convolution {k} / LSTM", k, k)
            for k in (3, 9)
        ),
        *(
            Finding(
                f"operations: attention + feed-forward ÷ separable, n {n}, d {d}",
                f"attention {n} {d} / separable {n} {d}",
                2.0,
                2.0,
            )
            for n, d in ((33, 64), (129, 64), (33, 256))
        ),
    ),
)

RESTRICTED = PaperClaim(
    name="restricted",
    section="4",
    sentence="Restricting self-attention to r positions makes the longest path O(n / r).",
    measure=measure_attention_paths,
    is_exact=True,
    findings=(
        Finding("path of full attention, n 65", "full", 1.0, 1.0),
        Finding("path at n 65 ÷ at n 33, r 5", "65 5 / 33 5", 1.8, 2.2),
        Finding("path at r 5 ÷ at r 9, n 65", "65 5 / 65 9", 1.8, 2.2),
    ),
)

COMPATIBILITY = PaperClaim(
    name="compatibility",
    section="6.2",
    sentence="Small keys hurt; a compatibility function beyond the dot product may help.",
    measure=collect_cross_entropies,
    rows=("base", "scaled-dk4", "additive-dk4", "bilinear-dk4"),
    findings=(
        Finding("nats: d_k 4 - d_k 16", "scaled-dk4 - base", 0.0),
        *(
            Finding(f"nats: dot-product - {kind}, d_k 4", f"scaled-dk4 - {kind}-dk4", 0.0)
            for kind in ("additive", "bilinear")
        ),
    ),
)

INITIALISATION = PaperClaim(
    name="initialisation",
    section="none: ours",
    sentence="Last matrices divided by √(sub-layers) learn sooner than Glorot's rule alone "
    "(decision 0014).",
    measure=collect_cross_entropies,
    rows=("deep", "deep-glorot"),
    findings=(Finding("nats: Glorot's rule - ours, 6 layers", "deep-glorot - deep", 0.0),),
)

CLAIMS: Mapping[str, PaperClaim] = {
    claim.name: claim
    for claim in (
        *(ARITHMETIC, CONVOLUTIONS, RESTRICTED, PRODUCTS, SPEED, HEADS),
        *(INITIALISATION, POSITIONS, COMPATIBILITY, SCALING),
    )
}
