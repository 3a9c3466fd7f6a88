"""What tests of pages share."""

from collections.abc import Iterator

import pytest
from tests.view.browser import Browser, open_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One headless browser for all tests of a file; they are marked browser."""
    with open_browser() as opened:
        yield opened
