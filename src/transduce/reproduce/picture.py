"""A table as a picture, its rows below each other. Needs matplotlib, the extra `plots`."""

import importlib.util
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from transduce.errors import InputError
from transduce.reproduce.table import Measured, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg")
BASE = "base"


@final
@dataclass(frozen=True)
class Panel:
    """One figure of every row that has it."""

    title: str
    figures: Mapping[str, Measured]
    is_logarithmic: bool = False


@final
@dataclass(frozen=True)
class Picture:
    """Panels beside each other, with the same rows."""

    title: str
    rows: Sequence[str]
    panels: Sequence[Panel]

    def drawn(self) -> dict[str, bytes]:
        """As PNG and as SVG."""
        from matplotlib.figure import Figure

        size = (2 + 3 * len(self.panels), 1.6 + 0.28 * len(self.rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(self.panels), sharey=True, squeeze=False)[0]
        for place, panel in zip(axes, self.panels, strict=True):
            draw(place, panel, self.rows)
        axes[0].set_yticks(range(len(self.rows)), self.rows)
        axes[0].set_ylim(len(self.rows) - 0.5, -0.5)
        figure.suptitle(self.title)
        figure.supxlabel(
            "small dots: seeds; bar: standard deviation between seeds; dashes: base", size=9
        )
        return {kind: as_image(figure, kind) for kind in KINDS}


def draw(axes: "Axes", panel: Panel, rows: Sequence[str]) -> None:
    """A dot for each row, its seeds below it; base's figure goes through all rows."""
    from matplotlib.ticker import NullFormatter

    axes.set_title(panel.title, size=10)
    if panel.is_logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # they would lie on one another
    groups = list(dict.fromkeys(map(group, rows)))
    for y, row in enumerate(rows):
        if groups.index(group(row)) % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="gray", alpha=0.1, linewidth=0)
        if row in panel.figures:
            one = panel.figures[row]
            seeds = one.values if len(one.values) > 1 else ()
            axes.scatter(seeds, [y + 0.28] * len(seeds), s=5, color="C0", alpha=0.6)
            axes.errorbar(one.mean, y, xerr=one.spread or None, fmt="o", color="C0", capsize=3)
    if BASE in panel.figures:
        axes.axvline(panel.figures[BASE].mean, color="gray", linestyle="--", linewidth=0.8)
    axes.grid(visible=True, alpha=0.3)


def group(row: str) -> str:
    """A of A-h1: rows that vary the same."""
    return row.partition("-")[0]


def alone(figures: Mapping[str, float]) -> dict[str, Measured]:
    """Figures without a spread, as the paper prints them."""
    return {row: Measured([figure]) for row, figure in figures.items()}


def of_rows(rows: Mapping[str, Row], measure: str) -> dict[str, Measured]:
    """Ours: bleu or perplexity."""
    return {name: getattr(row, measure) for name, row in rows.items()}


def as_image(figure: "Figure", kind: str) -> bytes:
    """A figure as a file of that kind."""
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=120)
    return out.getvalue()


def require_plots() -> None:
    """Refuse a picture before anything is measured."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("a picture needs the package matplotlib", "pip install 'transduce[plots]'")
