"""Processes agree on a prefix of their own in a store that earlier attempts have used."""

import datetime
import threading
from contextlib import suppress

import pytest
from torch._C._distributed_c10d import HashStore, PrefixStore

from transduce.errors import LostProcessError
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.torch_group import agree_on_prefix


def start(store, ranks, size, seconds=20.0):
    """Start these ranks of so many; return the threads, and the prefixes that they will have."""
    found: dict[int, str] = {}

    def join(rank):
        with suppress(LostProcessError):
            found[rank] = agree_on_prefix(store, ProcessRank(rank=rank, world_size=size), seconds)

    threads = [threading.Thread(target=join, args=(rank,), daemon=True) for rank in ranks]
    for thread in threads:
        thread.start()
    return threads, found


def agree(store, size):
    threads, found = start(store, range(size), size)
    for thread in threads:
        thread.join()
    assert len(found) == size
    (prefix,) = set(found.values())
    return prefix


def test_every_attempt_has_a_prefix_of_its_own_whatever_the_earlier_ones_left():
    store = HashStore()
    assert len({agree(store, size) for size in (3, 3, 2, 4, 1)}) == 5


def test_the_control_whose_attempts_have_one_prefix_is_caught(monkeypatch, record):
    monkeypatch.setattr("secrets.token_hex", lambda _: "same")
    store = HashStore()
    PrefixStore(agree(store, 2), store).set("job", "of the first attempt")
    found = PrefixStore(agree(store, 2), store).check(["job"])
    record(job_of_an_earlier_attempt_found=found)
    assert found


def test_an_attempt_that_was_killed_while_it_started_is_not_waited_for():
    store = HashStore()
    killed, _ = start(store, (1, 2), 3, seconds=0.1)  # they ask, and their rank 0 never comes
    for thread in killed:
        thread.join()
    prefix = agree(store, 3)
    PrefixStore(prefix, store).set("job", "this one")
    assert not PrefixStore(agree(store, 3), store).check(["job"])


def test_a_process_that_never_starts_is_named():
    store = HashStore()
    store.set_timeout(datetime.timedelta(seconds=1))
    with pytest.raises(LostProcessError, match="process 1 has not started"):
        agree_on_prefix(store, ProcessRank(rank=0, world_size=2), 0.1)
    with pytest.raises(LostProcessError, match="process 0 has not started"):
        agree_on_prefix(HashStore(), ProcessRank(rank=1, world_size=2), 0.1)
