"""Plot a table of trained rows with matplotlib, an optional package (the extra `plots`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, final

from transduce.reproduce.table import Measurements, TableRow
from transduce.runs.plots import encode_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("png", "svg")
BASE = "base"


@final
@dataclass(frozen=True)
class Panel:
    """A panel of a plot: the values of one measure for every row that has them."""

    title: str
    figures: Mapping[str, Measurements]  # from row name to the row's values
    is_logarithmic: bool = False


@final
@dataclass(frozen=True)
class Plot:
    """A plot of a table: panels side by side, in which each line is a row of the table."""

    title: str
    rows: Sequence[str]
    panels: Sequence[Panel]
    settings: Sequence[str] = ()  # settings that are not a row's own at this scale

    def render(self) -> dict[str, bytes]:
        """Render the plot as PNG and SVG images; return their bytes by file type."""
        from matplotlib.figure import Figure

        size = (2 + 3 * len(self.panels), 1.6 + 0.28 * len(self.rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(self.panels), sharey=True, squeeze=False)[0]
        for one, panel in zip(axes, self.panels, strict=True):
            draw_panel(one, panel, self.rows)
        axes[0].set_yticks(range(len(self.rows)), self.rows)
        axes[0].set_ylim(len(self.rows) - 0.5, -0.5)
        figure.suptitle(self.title)
        legend = "small dots: seeds; bar: standard deviation between seeds; dashes: base"
        others = f"not a row's own: {', '.join(self.settings)}" if self.settings else ""
        figure.supxlabel("\n".join([legend, *wrap(others, 17 * round(size[0]))]), size=7.5)
        return {kind: encode_image(figure, kind) for kind in KINDS}


def draw_panel(axes: "Axes", panel: Panel, rows: Sequence[str]) -> None:
    """Draw each row's mean and its seeds as dots, and a dashed line at the mean of row base."""
    from matplotlib.ticker import NullFormatter

    axes.set_title(panel.title, size=10)
    if panel.is_logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # minor labels would overlap
    groups = list(dict.fromkeys(map(find_row_group, rows)))
    for y, row in enumerate(rows):
        if groups.index(find_row_group(row)) % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="gray", alpha=0.1, linewidth=0)
        if row in panel.figures:
            one = panel.figures[row]
            seeds = one.values if len(one.values) > 1 else ()
            axes.scatter(seeds, [y + 0.28] * len(seeds), s=5, color="C0", alpha=0.6)
            axes.errorbar(one.mean, y, xerr=one.spread or None, fmt="o", color="C0", capsize=3)
    if BASE in panel.figures:
        axes.axvline(panel.figures[BASE].mean, color="gray", linestyle="--", linewidth=0.8)
    if panel.is_logarithmic:
        low, high = map(math.log10, axes.get_xlim())
        # from one power of ten to another, because only powers of ten have labels
        axes.set_xlim(10.0 ** math.floor(low), 10.0 ** math.ceil(high))
    axes.grid(visible=True, alpha=0.3)


def find_row_group(row: str) -> str:
    """Return a row's group: "A" for "A-h1", and the whole name for a row such as "base"."""
    return row.partition("-")[0]


def wrap_single_values(figures: Mapping[str, float]) -> dict[str, Measurements]:
    """Convert one number per row, such as the paper's, to `Measurements` of a single value."""
    return {row: Measurements([figure]) for row, figure in figures.items()}


def collect_measurements(rows: Mapping[str, TableRow], measure: str) -> dict[str, Measurements]:
    """Return every row's measurements of one measure, "bleu" or "perplexity"."""
    return {name: getattr(row, measure) for name, row in rows.items()}
