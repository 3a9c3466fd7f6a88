"""The functions that measure the claims, on layers, random vectors and small trained models.

Each function measures from one seed and returns its values by name. All trained models learn the
same sentences of the phrasebook, none of more than LONGEST_SENTENCE pieces, so that the development
set has sentences of lengths that no model was trained on.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from transduce.inference.load import load
from transduce.inference.pairs import TOKENS, encode_pairs, number_pairs, target_log_probs
from transduce.paper.model import Compatibility
from transduce.paper.operations import FULL_ATTENTION, build_padded_attention, compatibility_scores
from transduce.phrasebook import pairs
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
from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.recipe import Value, with_changes

Runs = Mapping[str, Path]
ROUNDS = 15  # how often each call is timed; the shortest time counts, because it is disturbed least
SIZES = ((64, 64), (256, 64), (512, 64), (256, 16), (256, 256))  # n and d_k of a head
WIDTHS = (16, 64, 256)  # values of d_k at which products q · k are measured
PAIRS, KEYS = 100_000, 64  # pairs of q and k; keys of a softmax
LAYER_KIND: Mapping[str, LayerKind] = {kind.name: kind for kind in LAYER_KINDS}
FULL, RESTRICTED = LAYER_KIND["self-attention"], LAYER_KIND["self-attention (restricted)"]
CONVOLUTION, SEPARABLE = (
    LAYER_KIND["convolutional, contiguous"],
    LAYER_KIND["separable convolutional"],
)


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


def count_layers(_seed: int, _runs: Runs) -> dict[str, float]:
    """Return the operations of section 4's layers by name; attention includes a feed-forward layer.

    Attention's projections are left out. The feed-forward network has d_ff = d: two d × d matrices.
    """

    def count(kind: LayerKind, n: int, d: int, k: int = 3) -> float:
        layer = build_layer(n, build_sizes(kind, d, k, r=5), dtype=EXACT)
        return float(count_operations(layer)[0])

    found: dict[str, float] = {f"convolution {k}": count(CONVOLUTION, 64, 64, k) for k in (3, 9)}
    found["LSTM"] = count(LAYER_KIND["recurrent (LSTM)"], 64, 64)
    for n, d in ((33, 64), (129, 64), (33, 256)):
        found[f"separable {n} {d}"] = count(SEPARABLE, n, d, k=n)
        found[f"attention {n} {d}"] = count(FULL, n, d) + 2 * 2 * n * d**2
    return found


def measure_attention_paths(_seed: int, _runs: Runs) -> dict[str, float]:
    """Return maximum path lengths of attention, restricted to r of n ("N R") and full ("full")."""
    found: dict[str, float] = {}
    for n, r in ((33, 5), (65, 5), (65, 9)):
        sizes = build_sizes(RESTRICTED, WIDE, 3, r)
        found[f"{n} {r}"] = float(measure_path_length(n, sizes, causal=False))
    full = build_sizes(FULL, WIDE, 3, 5)
    return found | {"full": float(measure_path_length(65, full, causal=False))}


# --- Small models that are trained ----------------------------------------------------------------

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
CHANGES: Mapping[str, Mapping[str, Value]] = {
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


def build_claim_recipe(name: str, changes: Mapping[str, Value]) -> Recipe:
    """Return `BASE` named claims/`name`, with `changes` (values by field) to its architecture."""
    recipe = replace(BASE, name=f"claims/{name}")
    return with_changes(recipe, {f"architecture.{path}": value for path, value in changes.items()})


ROWS: Mapping[str, Recipe] = {
    name: build_claim_recipe(name, changes) for name, changes in CHANGES.items()
}


def collect_cross_entropies(_seed: int, runs: Runs) -> dict[str, float]:
    """Return each row's development cross-entropy in nats per piece, without label smoothing."""
    found = {}
    for row, run in runs.items():
        result = read_result(run.parent)
        assert result is not None, "a claim is measured after its rows"
        found[row] = math.log(result.perplexity_per_piece)
    return found


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
