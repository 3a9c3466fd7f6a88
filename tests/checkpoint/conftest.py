"""A run to keep things in."""

from pathlib import Path

import pytest

from transduce.checkpoint.run_file import create_run
from transduce.settings import Recipe


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that has just begun."""
    create_run(tmp_path / "run", Recipe(name="tiny"), {})
    return tmp_path / "run"
