"""Attention Is All You Need, as software that can be run, read and trusted.

import transduce
translate = transduce.load("model")
translate("A dog runs.")
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transduce.tasks.translate import Translator

__all__ = ["load"]


def load(folder: "Path | str", *more: "Path | str", precision: str = "float32") -> "Translator":
    """A model folder, or a run's newest save, as a function from text to text.

    Several folders answer together, as an ensemble. In bfloat16 they are faster, and a text may
    differ here and there.
    """
    from transduce.tasks.load import load  # torch is imported when a model is wanted

    return load(folder, *more, precision=precision)
