"""Plot the measured Table 1 by sentence length n, with the optional package matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transduce.reproduce.layer_costs.measure import LayerTable, MeasuredPath, MeasuredPoint
from transduce.runs.plots import encode_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("operations", "seconds", "peak", "length")
TITLES = ("operations, d = {}", "seconds, d = {}", "bytes, d = {}", "maximum path length, encoder")


def plot_table(table: LayerTable) -> bytes:
    """Return a PNG image of operations, time, memory and path lengths by sentence length n."""
    from matplotlib.figure import Figure

    _, d = table.plan.middle
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).flatten()
    for panel, title, measure in zip(panels, TITLES, MEASURES, strict=True):
        draw_panel(panel, title.format(d), table, measure)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    made = table.environment
    figure.suptitle(f"Table 1 on {made['processor']}, threads {made['threads']}, {table.date}")
    return encode_image(figure, "png")


def draw_panel(panel: "Axes", title: str, table: LayerTable, measure: str) -> None:
    """Draw a curve for each layer kind; each has its own dashes, because curves may overlap."""
    from matplotlib.ticker import NullLocator

    panel.set(xscale="log", yscale="log", xlabel="n", title=title)
    panel.xaxis.set_minor_locator(NullLocator())
    for number, row in enumerate(table.rows):
        found: Sequence[MeasuredPath | MeasuredPoint] = row.points_by("n")
        if measure == "length":
            found = [path for path in row.paths if path.stack == "encoder"]
        n, values = [one.n for one in found], [getattr(one, measure) for one in found]
        panel.set_xticks(n, [str(one) for one in n])
        panel.plot(n, values, marker=".", dashes=(6 - number, number), label=row.kind.name)
    panel.grid(visible=True, which="major", alpha=0.3)
