"""The paper's claims outside its tables: what measures each, and the range in which it holds.

Layers, random vectors and small trained models are measured; times and memory are those of this
machine. A function measures from one seed and returns its values by name. Where the paper gives no
number, the range is ours.
"""

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import torch
from torch import Tensor

from transduce.inference.load import load
from transduce.inference.pairs import TOKENS, encode_pairs, number_pairs, target_log_probs
from transduce.paper.model import Compatibility
from transduce.paper.operations import FULL_ATTENTION, build_padded_attention, compatibility_scores
from transduce.phrasebook import pairs
from transduce.recipes.printed import TABLE_2
from transduce.recipes.scale import Scale
from transduce.reproduce.layer_costs.layers import (
    EXACT,
    LAYER_KINDS,
    LayerKind,
    build_layer,
    build_sizes,
)
from transduce.reproduce.layer_costs.measure import (
    WIDE,
    count_operations,
    measure_path_length,
    measure_peak_bytes,
    measure_seconds,
)
from transduce.reproduce.result import read_result
from transduce.reproduce.table import STUDENT
from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.recipe import Value, with_changes

Runs = Mapping[str, Path]  # the run folders by trained row
Values = Mapping[str, float]  # what was measured from one seed, by name
Measure = Callable[[int, Runs], Values]  # takes the seed
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
        first, *others = (values[name] for name in self.names)
        if not others:
            return first
        return first / others[0] if " / " in self.value else first - others[0]

    @property
    def names(self) -> list[str]:
        """The names of values in the formula `value` ("a", "a / b" or "a - b")."""
        return re.split(" [/-] ", self.value)

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


# --- Printed numbers ------------------------------------------------------------------------------


def compute_printed_gains(_seed: int, _runs: Runs) -> dict[str, float]:
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

# --- Layers and random vectors --------------------------------------------------------------------

ROUNDS = 15  # how often each call is timed; the shortest time counts, because it is disturbed least
SIZES = ((64, 64), (256, 64), (512, 64), (256, 16), (256, 256))  # n and d_k of a head
WIDTHS = (16, 64, 256)  # values of d_k at which products q · k are measured
PAIRS, KEYS = 100_000, 64  # pairs of q and k; keys of a softmax
KINDS: Mapping[str, LayerKind] = {kind.name: kind for kind in LAYER_KINDS}


def measure_cost(name: str, update: Callable[[], None]) -> dict[str, float]:
    """Return the shortest time and peak memory of `update` as "NAME seconds" and "NAME bytes"."""
    peak = measure_peak_bytes(update)
    seconds = min(measure_seconds(update) for _ in range(ROUNDS))
    return {f"{name} seconds": seconds, f"{name} bytes": float(peak)}


def measure_compatibility_costs(seed: int, _runs: Runs) -> dict[str, float]:
    """Return seconds and bytes of one head's dot-product and additive attention by n and d_k."""
    found: dict[str, float] = {}
    for n, d_k in SIZES:
        generator = torch.Generator().manual_seed(seed)
        q, k, v = torch.randn(3, n, 1, d_k, generator=generator).requires_grad_().unbind()
        attend = build_padded_attention([n], [n], FULL_ATTENTION)
        for kind in ("scaled-dot", "additive"):
            compatibility = Compatibility(Architecture(heads=1, d_k=d_k, compatibility=kind))
            compatibility.initialise(generator)

            def update(compatibility: Compatibility = compatibility) -> None:
                attend(compatibility(q), k, v).sum().backward(retain_graph=True)  # noqa: B023

            found |= measure_cost(f"{kind} {n} {d_k}", update)
    return found


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


def measure_products(seed: int, _runs: Runs) -> dict[str, float]:
    """Return the variances of q · k for standard normal q and k, and the softmax's derivatives.

    The derivatives are the Frobenius norm of the Jacobian of a softmax over 64 keys, on average
    over queries, with and without the division by √d_k.
    """
    generator, found = torch.Generator().manual_seed(seed), {}
    for d_k in WIDTHS:
        q, k = torch.randn(2, PAIRS, d_k, generator=generator)
        found[f"variance {d_k}"] = float((q * k).sum(dim=1).var())
        scores = compatibility_scores(q[: 8 * KEYS], k[:KEYS])
        found[f"scaled {d_k}"] = measure_jacobian(scores)
        found[f"unscaled {d_k}"] = measure_jacobian(scores * d_k**0.5)
    return found


def measure_jacobian(scores: Tensor) -> float:
    """Return the mean Frobenius norm of the Jacobian diag(p) - p pᵀ of each row's softmax p."""
    p = scores.softmax(dim=-1)
    return float((p.diag_embed() - p[:, :, None] * p[:, None, :]).norm(dim=(1, 2)).mean())


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


def measure_head_costs(seed: int, _runs: Runs) -> dict[str, float]:
    """Return seconds, bytes and operations of self-attention by 8 heads and by 1 head.

    n is 128 for operations, and 128 + `seed` % 16 for seconds and bytes.
    """
    found: dict[str, float] = {}
    for heads in (8, 1):
        width = 512 // heads
        sizes = Architecture(heads=heads, d_k=width, d_v=width)
        layer = build_layer(128 + seed % 16, sizes)
        found |= measure_cost(f"{heads}", layer.build_update())
        exact = build_layer(128, sizes, dtype=EXACT)
        found[f"{heads} operations"] = float(sum(count_operations(exact)))
    return found


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


def count_layers(_seed: int, _runs: Runs) -> dict[str, float]:
    """Return the operations of section 4's layers by name; attention includes a feed-forward layer.

    Attention's projections are left out. The feed-forward network has d_ff = d: two d × d matrices.
    """

    def count(name: str, n: int, d: int, k: int = 3) -> float:
        layer = build_layer(n, build_sizes(KINDS[name], d, k, r=5), dtype=EXACT)
        return float(count_operations(layer)[0])

    found: dict[str, float] = {
        f"convolution {k}": count("convolutional, contiguous", 64, 64, k) for k in (3, 9)
    }
    found["LSTM"] = count("recurrent (LSTM)", 64, 64)
    for n, d in ((33, 64), (129, 64), (33, 256)):
        found[f"separable {n} {d}"] = count("separable convolutional", n, d, k=n)
        found[f"attention {n} {d}"] = count("self-attention", n, d) + 2 * 2 * n * d**2
    return found


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


def measure_attention_paths(_seed: int, _runs: Runs) -> dict[str, float]:
    """Return maximum path lengths of attention, restricted to r of n ("N R") and full ("full")."""
    found: dict[str, float] = {}
    for n, r in ((33, 5), (65, 5), (65, 9)):
        sizes = build_sizes(KINDS["self-attention (restricted)"], WIDE, 3, r)
        found[f"{n} {r}"] = float(measure_path_length(n, sizes, causal=False))
    full = build_sizes(KINDS["self-attention"], WIDE, 3, 5)
    return found | {"full": float(measure_path_length(65, full, causal=False))}


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

# --- Small models that are trained ----------------------------------------------------------------

# All learn the same sentences of the phrasebook, none of more than LONGEST_SENTENCE pieces, so that
# the development set has sentences of lengths that no model was trained on.
LONGEST_SENTENCE = 16  # pieces of a training sentence
DEVELOPMENT_PAIRS = 1_000
SCALE = Scale(
    name="claims",
    about="2 layers of width 64, 1,500 updates of 1,024 tokens, our own phrasebook",
    cost="a minute or two",
    visible_findings="what these small models show of each claim",
)
BASE = Recipe(
    name="claims/base",
    architecture=Architecture(
        layers=2, d_model=64, d_ff=256, heads=4, d_k=16, d_v=16, max_positions=128
    ),
    data=Data(
        corpus="phrasebook",
        vocabulary_size=1_000,
        source_tokens=1_024,
        target_tokens=1_024,
        max_pairs=30_000,
        max_length=LONGEST_SENTENCE,
    ),
    training=Training(steps=1_500, warmup=300, threads=1, snapshot_every=500, validate_lines=20),
    search=Search(beam=1),
    because="a claim wants three seeds of every row within the hour",
)
CHANGES: Mapping[str, Mapping[str, Value]] = {  # to the architecture of BASE, by row
    "base": {},
    "scaled-dk64": {"d_k": 64},
    "scaled-dk256": {"d_k": 256},
    "dot-dk16": {"compatibility": "dot"},
    "dot-dk64": {"d_k": 64, "compatibility": "dot"},
    "dot-dk256": {"d_k": 256, "compatibility": "dot"},
    "scaled-dk4": {"d_k": 4},
    "additive-dk4": {"d_k": 4, "compatibility": "additive"},
    "bilinear-dk4": {"d_k": 4, "compatibility": "bilinear"},
    "additive-dk16": {"compatibility": "additive"},
    "additive-dk64": {"d_k": 64, "compatibility": "additive"},
    "learned": {"positions": "learned"},
    "deep": {"layers": 6},
    "deep-glorot": {"layers": 6, "initialisation": "glorot"},
}
ROWS: Mapping[str, Recipe] = {
    name: with_changes(
        replace(BASE, name=f"claims/{name}"),
        {f"architecture.{path}": value for path, value in changes.items()},
    )
    for name, changes in CHANGES.items()
}


def collect_cross_entropies(_seed: int, runs: Runs) -> dict[str, float]:
    """Return each row's development cross-entropy in nats per piece, without label smoothing."""
    found = {}
    for row, run in runs.items():
        result = read_result(run.parent)
        assert result is not None, "a claim is measured after its rows"
        found[row] = math.log(result.perplexity_per_piece)
    return found


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


def measure_positions(seed: int, runs: Runs) -> dict[str, float]:
    """Return nats per piece by row, and as "ROW beyond" for sentences longer than in training.

    These have at most twice the length of the longest training sentence.
    """
    found = collect_cross_entropies(seed, runs)
    for row, run in runs.items():
        translator = load(run)
        encoded = encode_pairs([*number_pairs(pairs("dev", DEVELOPMENT_PAIRS))], translator.task)
        long = [
            one
            for one in encoded
            if LONGEST_SENTENCE < max(len(one.source), len(one.target)) <= 2 * LONGEST_SENTENCE
        ]
        sources, targets = [one.source for one in long], [one.target for one in long]
        log_probs = target_log_probs(translator.models, sources, targets, TOKENS)
        found[f"{row} beyond"] = -sum(log_probs) / sum(map(len, targets))
    return found


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

CLAIMS: Mapping[str, PaperClaim] = {
    claim.name: claim
    for claim in (
        *(ARITHMETIC, CONVOLUTIONS, RESTRICTED, PRODUCTS, SPEED, HEADS),
        *(INITIALISATION, POSITIONS, COMPATIBILITY, SCALING),
    )
}
