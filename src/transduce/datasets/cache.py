"""The cache folder of fetched corpora."""

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return $TRANSDUCE_CACHE if it is set, else this platform's cache folder for transduce."""
    if chosen_texts := os.environ.get("TRANSDUCE_CACHE"):
        return Path(chosen_texts)
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/transduce"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "transduce"
