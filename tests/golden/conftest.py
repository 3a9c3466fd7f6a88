"""Files that hold what came out before; `scripts/renew-golden` writes them anew."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Golden = Callable[[str, str], None]


@pytest.fixture
def golden() -> Golden:
    """Compare a text with the file of that path in the repository, or renew the file."""

    def compare(path: str, text: str) -> None:
        file = ROOT / path
        if os.environ.get("RENEW_GOLDEN"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"scripts/renew-golden writes {path}"
        assert text == file.read_text(encoding="utf-8"), f"scripts/renew-golden renews {path}"

    return compare
