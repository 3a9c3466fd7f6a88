"""What the model of the text weighs, and where the printed counts of Table 3 do not follow.

Not a section of the paper: the sums that its section 3 implies, beside Table 3's last column.
"""

import pytest
from tests.paper.differences import FROM_BASE

from transduce.recipes import by_name
from transduce.settings.counts import count_parameters

PRINTED = {  # millions
    "base": 65,
    "B-dk16": 58,
    "B-dk32": 60,
    "C-N2": 36,
    "C-N4": 50,
    "C-N8": 80,
    "C-d256": 28,
    "C-d1024": 168,
    "C-ff1024": 53,
    "C-ff4096": 90,
}


def weight(row: str, symbols: int) -> int:
    return count_parameters(by_name(f"table3/{row}").architecture, symbols, symbols)


@pytest.mark.parametrize("symbols", [258, 37_000, 41_100])
def test_base_has_44_101_632_and_512_for_every_symbol(symbols):
    assert weight("base", symbols) == 44_101_632 + 512 * symbols


@pytest.mark.parametrize(("row", "more"), FROM_BASE.items())
def test_rows_differ_from_base_by_exactly(row, more):
    assert weight(row, 37_000) - weight("base", 37_000) == more


def follow(symbols: int) -> bool:
    """Whether all printed counts, big's aside, follow from so many symbols."""
    return all(round(weight(row, symbols) / 1e6) == millions for row, millions in PRINTED.items())


def test_known_disagreement_base_has_63_not_65_million_parameters():
    """With the 37,000 shared symbols of section 5.1 the sum is 63 M; Table 3 prints 65."""
    assert weight("base", 37_000) == 63_045_632


def test_the_printed_counts_follow_from_41_004_to_41_208_symbols_only():
    assert [follow(symbols) for symbols in (41_003, 41_004, 41_208, 41_209)] == [0, 1, 1, 0]
    assert not follow(37_000)


def test_known_disagreement_the_213_million_of_big_want_fewer_symbols_than_all_other_rows():
    fits = [round(weight("big", v) / 1e6) == 213 for v in (35_367, 35_368, 36_344, 36_345)]
    assert fits == [False, True, True, False]


def test_learned_positions_add_a_table_to_each_stack():
    """Row (E) prints no count; 1,024 places are ours."""
    assert weight("E-learned", 37_000) - weight("base", 37_000) == 2 * 1_024 * 512
