"""A server to fetch from, and the settings of downloads."""

import pytest
from tests.datasets.site import site

from transduce.datasets.downloads import DownloadSettings
from transduce.datasets.transfer import NetworkSettings


@pytest.fixture(name="site")
def running_site(monkeypatch):
    """Run a server on loopback, which is asked without any proxy."""
    monkeypatch.setenv("no_proxy", "*")
    with site() as here:
        yield here


@pytest.fixture
def settings(tmp_path):
    """Return a cache folder, and a network that is given up soon."""
    return DownloadSettings(
        tmp_path / "downloads", None, NetworkSettings(seconds=0.5, attempts=3, pause=0.01)
    )
