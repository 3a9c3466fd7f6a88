"""Table 1 as a picture: what grows with n, and how. Needs matplotlib, the extra `plots`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transduce.reproduce.picture import as_image
from transduce.reproduce.table1.measure import Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = tuple[list[int], Sequence[int | float]]
Curve = Callable[[Row], Points]


def picture(table: Table) -> bytes:
    """Four panels, both axes logarithmic; PNG."""
    from matplotlib.figure import Figure

    _, d = table.plan.middle
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).flatten()
    curves: list[tuple[str, Curve]] = [
        (f"operations, d = {d}", lambda row: along_n(row, [p.operations for p in row.along_n()])),
        (f"seconds, d = {d}", lambda row: along_n(row, [p.seconds for p in row.along_n()])),
        (f"bytes, d = {d}", lambda row: along_n(row, [p.peak for p in row.along_n()])),
        ("maximum path length, encoder", encoder_paths),
    ]
    for panel, (title, curve) in zip(panels, curves, strict=True):
        draw(panel, title, table, curve)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    made = table.environment
    figure.suptitle(f"Table 1 on {made['processor']}, threads {made['threads']}, {table.date}")
    return as_image(figure, "png")


def draw(panel: "Axes", title: str, table: Table, curve: Curve) -> None:
    """A line for every kind of layer; dashes tell apart those that lie on one another."""
    from matplotlib.ticker import NullLocator

    panel.set(xscale="log", yscale="log", xlabel="n", title=title)
    panel.xaxis.set_minor_locator(NullLocator())
    for number, row in enumerate(table.rows):
        n, values = curve(row)
        panel.set_xticks(n, [str(one) for one in n])
        panel.plot(n, values, marker=".", dashes=(6 - number, number), label=row.kind.name)
    panel.grid(visible=True, which="major", alpha=0.3)


def along_n(row: Row, values: Sequence[int | float]) -> Points:
    """With the n at which they were measured."""
    return [p.n for p in row.along_n()], values


def encoder_paths(row: Row) -> Points:
    """The lengths by n."""
    chosen = [path for path in row.paths if path.stack == "encoder"]
    return [path.n for path in chosen], [path.length for path in chosen]
