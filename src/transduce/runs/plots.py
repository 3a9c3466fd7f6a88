"""Encode matplotlib figures as image files; matplotlib is an optional package."""

import importlib.util
import io
from typing import TYPE_CHECKING

from transduce.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def encode_image(figure: "Figure", kind: str) -> bytes:
    """Return the image file of a matplotlib figure as bytes; `kind` is png or svg, for example."""
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=120)
    return out.getvalue()


def require_matplotlib() -> None:
    """Raise InputError if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("a picture needs the package matplotlib", "pip install matplotlib")
