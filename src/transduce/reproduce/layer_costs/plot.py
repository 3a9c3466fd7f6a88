"""Plot the measured Table 1 by sentence length n, with the optional package matplotlib."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transduce.reproduce.layer_costs.measure import LayerRow, LayerTable
from transduce.runs.plots import encode_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = tuple[list[int], Sequence[int | float]]
Curve = Callable[[LayerRow], Points]


def plot_table(table: LayerTable) -> bytes:
    """Return a PNG image of operations, time, memory and path lengths by sentence length n."""
    from matplotlib.figure import Figure

    _, d = table.plan.middle
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).flatten()
    curves: list[tuple[str, Curve]] = [
        (
            f"operations, d = {d}",
            lambda row: pair_with_n(row, [p.operations for p in row.points_by_n()]),
        ),
        (f"seconds, d = {d}", lambda row: pair_with_n(row, [p.seconds for p in row.points_by_n()])),
        (f"bytes, d = {d}", lambda row: pair_with_n(row, [p.peak for p in row.points_by_n()])),
        ("maximum path length, encoder", select_encoder_paths),
    ]
    for panel, (title, curve) in zip(panels, curves, strict=True):
        draw_panel(panel, title, table, curve)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    made = table.environment
    figure.suptitle(f"Table 1 on {made['processor']}, threads {made['threads']}, {table.date}")
    return encode_image(figure, "png")


def draw_panel(panel: "Axes", title: str, table: LayerTable, curve: Curve) -> None:
    """Draw a curve for each layer kind, with dashes of its own: curves may overlap."""
    from matplotlib.ticker import NullLocator

    panel.set(xscale="log", yscale="log", xlabel="n", title=title)
    panel.xaxis.set_minor_locator(NullLocator())
    for number, row in enumerate(table.rows):
        n, values = curve(row)
        panel.set_xticks(n, [str(one) for one in n])
        panel.plot(n, values, marker=".", dashes=(6 - number, number), label=row.kind.name)
    panel.grid(visible=True, which="major", alpha=0.3)


def pair_with_n(row: LayerRow, values: Sequence[int | float]) -> Points:
    """Return the sentence lengths n of a row's points at the median d, and `values` of these."""
    return [p.n for p in row.points_by_n()], values


def select_encoder_paths(row: LayerRow) -> Points:
    """Return the sentence lengths n and the path lengths that were measured in the encoder."""
    chosen = [path for path in row.paths if path.stack == "encoder"]
    return [path.n for path in chosen], [path.length for path in chosen]
