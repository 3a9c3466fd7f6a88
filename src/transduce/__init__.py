"""Attention Is All You Need, as software that can be run, read and trusted.

import transduce
translate = transduce.load("model")
translate("A dog runs.")
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

__all__ = ["__version__", "load"]
__version__: str


def __getattr__(name: str) -> str:
    """The version of what is installed; asked late, for looking it up takes time."""
    if name == "__version__":
        from importlib.metadata import version

        return version("transduce")
    raise AttributeError(f"module 'transduce' has no attribute {name!r}")


def load(folder: "Path | str", *more: "Path | str", precision: str = "float32") -> "Translator":
    """A model folder, or a run's newest save, as a function from text to text.

    Several folders answer together, as an ensemble. In bfloat16 they are faster, and a text may
    differ here and there.
    """
    from transduce.inference.load import load  # torch is imported when a model is wanted

    return load(folder, *more, precision=precision)
