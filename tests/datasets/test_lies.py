"""Lies that a server may tell: one sentence each, nothing kept, the next mirror tried."""

import hashlib
import tracemalloc
from dataclasses import replace

import pytest
from tests.datasets.liar import liar
from tests.datasets.lies import CONTENT, LENGTH, LIES, LIMIT, OK, say

from transduce.datasets.downloads import find_file
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.values import Download
from transduce.errors import InputError

# lies that only a known hash shows
NEEDS_HASH = ("other bytes",)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with liar() as here:
        here.lies["/good"] = say(OK + LENGTH + CONTENT)
        yield here


@pytest.fixture
def network(settings):
    quick = NetworkSettings(seconds=0.4, attempts=1, pause=0.0, largest=LIMIT)
    return replace(settings, network=quick)


def get(what, settings):
    return find_file(what, settings, lambda *_: None)


@pytest.mark.parametrize("name", LIES)
def test_a_lie_has_a_sentence_is_not_kept_and_the_next_mirror_is_tried(server, network, name):
    lie, said = LIES[name]
    server.lies["/lie"] = lie
    known = hashlib.sha256(CONTENT).hexdigest() if name in NEEDS_HASH else ""
    bad, good = f"{server.address}/lie", f"{server.address}/good"
    tracemalloc.start()
    with pytest.raises(InputError, match=said) as caught:
        get(Download((bad,), sha256=known), network)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(caught.value.fact.splitlines()) == 1
    assert len(caught.value.fact) < 400
    assert most < 20 * LIMIT
    assert not [path for path in network.folder.iterdir() if path.suffix not in (".part", ".json")]
    assert get(Download((bad, good), sha256=known), network).path.read_bytes() == CONTENT


def test_there_are_forty_lies():
    assert len(LIES) >= 40


def test_what_is_unknown_in_size_may_have_more_bytes_under_a_higher_limit(server, network):
    server.lies["/large"] = say(OK + b"\r\n", b"x" * (LIMIT + 1))
    what = Download((f"{server.address}/large",))
    with pytest.raises(InputError, match="--limit allows more"):
        get(what, network)
    more = replace(network, network=replace(network.network, largest=2 * LIMIT))
    assert get(what, more).path.stat().st_size == LIMIT + 1
