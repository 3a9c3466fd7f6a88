"""What tests of pages share."""

from collections.abc import Iterator

import pytest
from tests.view.browser import Browser, open_browser


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Browser]:
    """One headless browser for all tests of a process; they are marked browser."""
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def browser(started_browser: Browser) -> Browser:
    """The browser as it was when it was new, for the tests of a file."""
    started_browser.reset()
    return started_browser
