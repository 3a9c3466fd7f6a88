"""What every test may ask for."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def shared() -> Path:
    """The folder of corpora and expected values that lies beside a developer's checkout."""
    if not SHARED.is_dir():
        pytest.skip("skipped: ../shared is not here")
    return SHARED
