"""The cache folder of fetched corpora."""

import os
import sys
from pathlib import Path

from transduce.errors import InputError


def cache_folder() -> Path:
    """Return $TRANSDUCE_CACHE if it is set, else this platform's cache folder for transduce."""
    if folder := os.environ.get("TRANSDUCE_CACHE"):
        return Path(folder)
    if sys.platform == "darwin":
        return home_folder() / "Library/Caches/transduce"
    chosen = Path(os.environ.get("XDG_CACHE_HOME") or ".cache")
    return (chosen if chosen.is_absolute() else home_folder() / ".cache") / "transduce"


def home_folder() -> Path:
    """Return the user's home folder; raise InputError if this user has none."""
    try:
        return Path.home()
    except RuntimeError as error:
        fact = "this user has no home folder, and corpora are kept there"
        raise InputError(fact, "name another folder in TRANSDUCE_CACHE") from error
