"""Recipes of Table 3: variations of the base model; each row changes settings of base.

The paper scores English to German on newstest2013 by beam search, without averaging.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from transduce.settings import Recipe, Training
from transduce.settings.recipe import Value, with_changes

SCORED = "(newstest2013, nothing averaged)"
BASE = Recipe(
    name="table3/base",
    about=f"the base model {SCORED}",
)


def _build_row(
    name: str, about: str, training: Training = BASE.training, **architecture: Value
) -> Recipe:
    """Build the recipe of a row of Table 3: base with the settings of some columns changed."""
    sizes = {f"architecture.{column}": value for column, value in architecture.items()}
    row = replace(BASE, name=f"table3/{name}", about=f"{about} {SCORED}", training=training)
    return with_changes(row, sizes)


ROWS = (
    BASE,
    _build_row("A-h1", "one head, as wide as all eight", heads=1, d_k=512, d_v=512),
    _build_row("A-h4", "4 heads at constant computation", heads=4, d_k=128, d_v=128),
    _build_row("A-h16", "16 heads at constant computation", heads=16, d_k=32, d_v=32),
    _build_row("A-h32", "32 heads at constant computation", heads=32, d_k=16, d_v=16),
    _build_row("B-dk16", "keys of 16 numbers", d_k=16),
    _build_row("B-dk32", "keys of 32 numbers", d_k=32),
    _build_row("C-N2", "2 layers", layers=2),
    _build_row("C-N4", "4 layers", layers=4),
    _build_row("C-N8", "8 layers", layers=8),
    _build_row("C-d256", "a narrower model", d_model=256, d_k=32, d_v=32),
    _build_row("C-d1024", "a wider model", d_model=1024, d_k=128, d_v=128),
    _build_row("C-ff1024", "a narrower feed-forward network", d_ff=1024),
    _build_row("C-ff4096", "a wider feed-forward network", d_ff=4096),
    _build_row("D-drop0.0", "no dropout", dropout=0.0),
    _build_row("D-drop0.2", "more dropout", dropout=0.2),
    _build_row("D-ls0.0", "no label smoothing", Training(label_smoothing=0.0)),
    _build_row("D-ls0.2", "more label smoothing", Training(label_smoothing=0.2)),
    _build_row("E-learned", "learned positions in place of sinusoids", positions="learned"),
    _build_row(
        "big",
        "the big model",
        # 600 steps are 10 minutes at 1.0 s a step
        Training(steps=300_000, snapshot_every=600, average_last=20),
        d_model=1024,
        d_ff=4096,
        heads=16,
        dropout=0.3,
    ),
)

TABLE_3: Mapping[str, Recipe] = MappingProxyType(
    {recipe.name.removeprefix("table3/"): recipe for recipe in ROWS}
)
