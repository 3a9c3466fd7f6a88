import pytest

from transduce.reproduce.report import Panel, draw_panel, wrap_single_values


@pytest.mark.parametrize(
    ("costs", "ends"),
    [
        ({"base": 8.0e13, "big": 8.1e13}, (1e13, 1e14)),
        ({"base": 3.3e18, "big": 1.8e20}, (1e18, 1e21)),
    ],
)
def test_a_logarithmic_axis_ends_at_powers_of_ten_even_if_all_rows_are_nearly_equal(costs, ends):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    panel = Panel("operations", wrap_single_values(costs), is_logarithmic=True)
    draw_panel(axes, panel, ["base", "big"])
    assert axes.get_xlim() == pytest.approx(ends), "only powers of ten are labelled"
