"""The small models that claims train, and what is measured of them besides their result

All rows learn the same sentences of the phrasebook, none of more than LONGEST pieces, so that the
development set has sentences of lengths that no row was trained on.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transduce.inference.load import load
from transduce.inference.pairs import TOKENS, encode_pairs, number_pairs, target_log_probs
from transduce.phrasebook import pairs
from transduce.recipes.scale import Scale
from transduce.reproduce.result import read_result
from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.recipe import Value, with_changes

LONGEST = 16  # pieces of a training sentence
PAIRS = 1_000  # development pairs
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
        max_length=LONGEST,
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


def measure_nats(_seed: int, runs: Mapping[str, Path]) -> dict[str, float]:
    """Return each trained row's nats a piece on the development set, without label smoothing."""
    found = {}
    for row, run in runs.items():
        result = read_result(run.parent)
        assert result is not None, "a claim is measured after its rows"
        found[row] = math.log(result.perplexity["per_piece"])
    return found


def measure_positions(seed: int, runs: Mapping[str, Path]) -> dict[str, float]:
    """Return nats a piece by row, and as "ROW beyond" for sentences longer than in training."""
    found = measure_nats(seed, runs)
    for row, run in runs.items():
        translator = load(run)
        encoded = encode_pairs([*number_pairs(pairs("dev", PAIRS))], translator.task)
        long = [
            one for one in encoded if LONGEST < max(len(one.source), len(one.target)) <= 2 * LONGEST
        ]
        sources, targets = [one.source for one in long], [one.target for one in long]
        log_probs = target_log_probs(translator.models, sources, targets, TOKENS)
        found[f"{row} beyond"] = -sum(log_probs) / sum(map(len, targets))
    return found
