"""A file over a network in which everything goes wrong that does."""

import hashlib
import random
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from transduce.datasets import transfer
from transduce.datasets.downloads import find_file
from transduce.datasets.transfer import PartialDownload
from transduce.datasets.values import Download
from transduce.errors import InputError, SaveError

CONTENT = random.Random(1).randbytes(100_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)
WRONG = CONTENT[:-1] + b"?"


def silent(*_):
    """Tell nobody."""


@pytest.fixture
def get(settings):
    """Fetch what is known of the content from these addresses; its bytes."""

    def got(*addresses, size=SIZE, sha256=SHA256, md5=""):
        what = Download(addresses, size, sha256, md5)
        return find_file(what, settings, silent).path.read_bytes()

    return got


def ranges(site):
    return [asked for _, asked in site.asked]


def test_a_file_is_fetched_once_and_then_read_from_the_cache(site, get):
    address = site.put("a.tgz", CONTENT)
    assert get(address) == CONTENT
    assert get(address) == CONTENT
    assert ranges(site) == [""]


def test_only_the_file_and_its_note_stay(site, get, settings):
    address = site.put("a.tgz", CONTENT, breaks_after=30_000)
    get(address)
    names = sorted(path.name.partition("-")[2] for path in settings.folder.iterdir())
    assert names == ["a.tgz", "a.tgz.json"]


def test_what_breaks_off_goes_on_where_it_was(site, get):
    address = site.put("a.tgz", CONTENT, breaks_after=30_000)
    assert get(address) == CONTENT
    assert ranges(site) == ["", "bytes=30000-", "bytes=60000-", "bytes=90000-"]


def test_a_later_command_resumes_the_download_of_a_killed_one(site, get, settings):
    address = site.put("a.tgz", CONTENT)
    what = Download((address,), len(CONTENT), SHA256)
    settings.folder.mkdir()
    part = PartialDownload(what, settings.folder / what.cache_name)
    with part.append(0, address, "") as add:
        add(CONTENT[:70_000])
    assert get(address) == CONTENT
    assert ranges(site) == ["bytes=70000-"]


def test_a_file_that_was_whole_when_the_process_was_killed_is_not_asked_for_again(
    site, get, settings
):
    address = site.put("a.tgz", CONTENT)
    what = Download((address,), len(CONTENT), SHA256)
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(0, address, "") as add:
        add(CONTENT)
    assert get(address) == CONTENT
    assert site.asked == []


def test_a_server_that_knows_no_ranges_is_read_from_the_start(site, get, settings):
    address = site.put("a.tgz", CONTENT, no_ranges=True)
    what = Download((address,), len(CONTENT), SHA256)
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(0, address, "") as add:
        add(b"?" * 70_000)
    assert get(address) == CONTENT


def test_a_server_that_knows_no_ranges_and_always_breaks_off_is_given_up(site, get):
    address = site.put("a.tgz", CONTENT, no_ranges=True, breaks_after=30_000)
    with pytest.raises(InputError, match="ended after 30,000 of 100,000 bytes"):
        get(address)
    assert len(site.asked) == 4


def test_a_server_that_brings_nothing_is_given_longer_and_longer_pauses(site, get, monkeypatch):
    slept: list[float] = []
    clock = SimpleNamespace(sleep=slept.append, monotonic=time.monotonic)
    monkeypatch.setattr(transfer, "time", clock)
    address = site.put("a.tgz", CONTENT, no_ranges=True, breaks_after=1)
    with pytest.raises(InputError):
        get(address)
    assert slept == [0.01, 0.02], "the fixture's pause, doubled once; the third attempt is the last"


def test_wrong_bytes_of_an_earlier_time_are_thrown_away_and_the_rest_asked_for(site, get, settings):
    address = site.put("a.tgz", CONTENT)
    what = Download((address,), len(CONTENT), SHA256)
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(0, address, "") as add:
        add(b"?" * 70_000)
    assert get(address) == CONTENT
    assert ranges(site) == ["bytes=70000-", ""]


def test_another_version_of_a_file_without_a_known_hash_is_not_added_to_the_first(
    site, get, settings
):
    address = site.put("a.tgz", CONTENT, etag='"new"')
    what = Download((address,))
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(
        0, address, '"old"'
    ) as add:
        add(b"?" * 70_000)
    assert get(address, size=0, sha256="") == CONTENT


def test_a_weak_version_does_not_identify_the_bytes(site, get):
    address = site.put("a.tgz", WRONG, etag='W/"1"', breaks_after=70_000)
    with pytest.raises(InputError):
        get(address, size=0, sha256="")
    site.put("a.tgz", CONTENT, etag='W/"1"')
    assert get(address, size=0, sha256="") == CONTENT


def test_without_hash_and_version_nothing_is_added_to_what_is_here(site, get, settings):
    address = site.put("a.tgz", CONTENT)
    what = Download((address,))
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(0, address, "") as add:
        add(b"?" * 70_000)
    assert get(address, size=0, sha256="") == CONTENT
    assert ranges(site) == [""]


def test_a_part_that_is_longer_than_the_file_is_thrown_away(site, get, settings):
    address = site.put("a.tgz", CONTENT, etag='"1"')
    what = Download((address,))
    settings.folder.mkdir()
    with PartialDownload(what, settings.folder / what.cache_name).append(0, address, '"1"') as add:
        add(CONTENT + b"more")
    assert get(address, size=0, sha256="") == CONTENT


BAD: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "404": (CONTENT, {"status": 404}, "the server answered HTTP Error 404"),
    "500": (CONTENT, {"status": 500}, "the server answered HTTP Error 500"),
    "longer": (CONTENT + b"x", {}, "the file has 100,001 bytes there, not 100,000"),
    "endless": (CONTENT * 2, {"no_length": True}, "the server gives more than 100,000 bytes"),
    "lies": (CONTENT, {"longer": 7}, "the file has 100,007 bytes there, not 100,000"),
    "cut": (CONTENT[:9], {"no_length": True}, "ended after 9 of 100,000 bytes"),
    "wrong": (WRONG, {}, "is another file: expected sha256"),
    "nothing": (CONTENT, {"breaks_after": 0}, "ended after 0 of 100,000 bytes"),
    "slow": (CONTENT, {"drip": 10, "seconds": 0.1}, "the server gave "),
    "silent": (CONTENT, {"drip": 50_000, "seconds": 0.7, "no_ranges": True}, "silent for 0.5"),
    "shifted": (CONTENT, {"breaks_after": 9, "shifted": 1}, "another range than it was asked"),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_address_that_does_not_give_the_file_says_why_and_has_others_behind_it(site, get, kind):
    content, fault, reason = BAD[kind]
    bad = site.put("bad/a.tgz", content, **fault)
    with pytest.raises(InputError) as error:
        get(bad)
    assert str(error.value).startswith(f"{bad}: ")
    assert reason in str(error.value)
    assert get(bad, site.put("good/a.tgz", CONTENT)) == CONTENT


def test_a_server_that_is_busy_is_asked_again(site, get):
    assert get(site.put("a.tgz", CONTENT, status=[503, 429])) == CONTENT


def test_bytes_of_one_address_are_completed_from_the_next_if_their_hash_is_known(site, get):
    bad = site.put("bad/a.tgz", CONTENT, breaks_after=40_000, no_ranges=True)
    assert get(bad, site.put("good/a.tgz", CONTENT)) == CONTENT
    assert ranges(site)[-1] == "bytes=40000-"


def test_an_md5_is_enough_to_tell(site, get):
    md5 = hashlib.md5(CONTENT).hexdigest()
    assert get(site.put("a.tgz", CONTENT), sha256="", md5=md5) == CONTENT
    with pytest.raises(InputError, match="expected md5"):
        get(site.put("b.tgz", WRONG), sha256="", md5=md5)


def test_a_file_whose_size_nobody_says_is_read_to_its_end(site, get):
    assert get(site.put("a.tgz", CONTENT, no_length=True), size=0) == CONTENT


def test_a_size_that_is_no_number_is_not_believed(site, get):
    assert get(site.put("a.tgz", CONTENT, stated_length="many", breaks_after=SIZE)) == CONTENT


def test_an_address_that_is_none_of_the_web_is_refused(get, tmp_path):
    (tmp_path / "a.tgz").write_bytes(CONTENT)
    with pytest.raises(InputError, match="is no address of the web"):
        get(f"file://{tmp_path}/a.tgz")


def test_a_kept_file_that_was_damaged_is_fetched_again(site, get, settings):
    address = site.put("a.tgz", CONTENT)
    get(address)
    kept = settings.folder / Download((address,)).cache_name
    kept.write_bytes(WRONG)
    assert get(address) == CONTENT


def test_a_kept_file_of_no_known_hash_is_held_against_its_note(site, get, settings):
    address = site.put("a.tgz", CONTENT)
    get(address, size=0, sha256="")
    (settings.folder / Download((address,)).cache_name).write_bytes(WRONG)
    assert get(address, size=0, sha256="") == CONTENT


def test_a_copy_of_the_users_own_is_used_where_it_lies(site, settings, tmp_path):
    (tmp_path / "a.tgz").write_bytes(CONTENT)
    what = Download((f"{site.address}/a.tgz",), len(CONTENT), SHA256)
    found = find_file(what, replace(settings, copies=tmp_path, network=None), silent)
    assert (found.path, site.asked) == (tmp_path / "a.tgz", [])


def test_a_copy_may_have_the_name_that_it_has_among_downloads(site, settings, tmp_path):
    what = Download((f"{site.address}/a.tgz",), len(CONTENT), SHA256)
    (tmp_path / what.cache_name).write_bytes(CONTENT)
    (tmp_path / "a.tgz").write_bytes(WRONG)
    found = find_file(what, replace(settings, copies=tmp_path, network=None), silent)
    assert found.path == tmp_path / what.cache_name


def test_a_copy_that_is_another_file_is_refused_by_its_path(site, settings, tmp_path):
    (tmp_path / "a.tgz").write_bytes(WRONG)
    what = Download((site.put("a.tgz", CONTENT),), len(CONTENT), SHA256)
    with pytest.raises(InputError, match=r"a\.tgz: is another file: expected sha256"):
        find_file(what, replace(settings, copies=tmp_path), silent)


def test_a_download_larger_than_the_free_disk_is_not_started(site, get):
    address = site.put("a.tgz", CONTENT)
    with pytest.raises(SaveError, match=r"a\.tgz.*: needs 1,000,000,067\.1 MB, and "):
        get(address, size=10**15)
    assert site.asked == []
