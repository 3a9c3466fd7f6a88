"""Table 3: variations on the Transformer architecture.

"Unlisted values are identical to those of the base model."
"""

import csv

import pytest

from transduce.recipes import by_name, difference, names
from transduce.settings.counts import TextSize, count_forward_operations
from transduce.settings.recipe import Value

COLUMNS = {
    "N": "architecture.layers",
    "d_model": "architecture.d_model",
    "d_ff": "architecture.d_ff",
    "h": "architecture.heads",
    "d_k": "architecture.d_k",
    "d_v": "architecture.d_v",
    "p_drop": "architecture.dropout",
    "eps_ls": "training.label_smoothing",
    "steps": "training.steps",
    "positions": "architecture.positions",
}
BASE: dict[str, Value] = {
    "N": 6,
    "d_model": 512,
    "d_ff": 2048,
    "h": 8,
    "d_k": 64,
    "d_v": 64,
    "p_drop": 0.1,
    "eps_ls": 0.1,
    "steps": 100_000,
    "positions": "sinusoidal",
}
LISTED: dict[str, dict[str, Value]] = {
    "base": {},
    "A-h1": {"h": 1, "d_k": 512, "d_v": 512},
    "A-h4": {"h": 4, "d_k": 128, "d_v": 128},
    "A-h16": {"h": 16, "d_k": 32, "d_v": 32},
    "A-h32": {"h": 32, "d_k": 16, "d_v": 16},
    "B-dk16": {"d_k": 16},
    "B-dk32": {"d_k": 32},
    "C-N2": {"N": 2},
    "C-N4": {"N": 4},
    "C-N8": {"N": 8},
    "C-d256": {"d_model": 256, "d_k": 32, "d_v": 32},
    "C-d1024": {"d_model": 1024, "d_k": 128, "d_v": 128},
    "C-ff1024": {"d_ff": 1024},
    "C-ff4096": {"d_ff": 4096},
    "D-drop0.0": {"p_drop": 0.0},
    "D-drop0.2": {"p_drop": 0.2},
    "D-ls0.0": {"eps_ls": 0.0},
    "D-ls0.2": {"eps_ls": 0.2},
    "E-learned": {"positions": "learned"},
    "big": {"d_model": 1024, "d_ff": 4096, "h": 16, "p_drop": 0.3, "steps": 300_000},
}


def test_the_recipes_are_the_rows_of_the_table():
    assert [n for n in names() if n.startswith("table3/")] == [f"table3/{row}" for row in LISTED]


@pytest.mark.parametrize("row", LISTED)
def test_a_row_has_the_values_of_its_columns_and_else_those_of_base(row):
    settings = by_name(f"table3/{row}").flat_settings()
    assert {column: settings[path] for column, path in COLUMNS.items()} == BASE | LISTED[row]


@pytest.mark.parametrize("row", LISTED)
def test_a_row_differs_from_base_in_its_columns_alone(row):
    changed = {path for path, *_ in difference(by_name("table3/base"), by_name(f"table3/{row}"))}
    clock = {"training.snapshot_every", "training.average_last"} if row == "big" else set()
    assert changed == {COLUMNS[column] for column in LISTED[row]} | clock


def test_rows_a_take_the_same_amount_of_computation():
    """Section 6.2: heads, keys and values vary "keeping the amount of computation constant"."""
    text = TextSize(*[25_000.0] * 5)
    rows = [row for row in LISTED if row == "base" or row.startswith("A-")]
    sizes = [by_name(f"table3/{row}").architecture for row in rows]
    assert len(sizes) == 5
    assert len({count_forward_operations(one, 37_000, text) for one in sizes}) == 1


def test_the_rows_are_those_of_the_printed_table(facts):
    with (facts / "printed/table3.csv").open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    assert [row["row"] for row in printed] == list(LISTED)
    for row in printed:
        settings = by_name(f"table3/{row['row']}").flat_settings()
        assert {c: type(BASE[c])(row[c]) for c in COLUMNS} == {
            c: settings[path] for c, path in COLUMNS.items()
        }


def test_big_writes_its_snapshots_by_the_clock_of_its_slower_steps():
    """Section 6.1: every 10 minutes, the last 20; section 5.2: 1.0 seconds a step."""
    big = by_name("table3/big").training
    assert (big.snapshot_every, big.average_last) == (600, 20)


def test_base_writes_its_snapshots_by_its_own_clock():
    """Section 6.1: every 10 minutes, the last 5; section 5.2: 0.4 seconds a step."""
    base = by_name("table3/base").training
    assert (base.snapshot_every, base.average_last) == (1_500, 5)
