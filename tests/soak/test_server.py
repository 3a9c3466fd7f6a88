"""The server as a process, for minutes: hostile clients, and life under load."""

import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, final

import pytest
from tests.faults.record import Record
from tests.serve.command import list_searches, measure_process, served
from tests.serve.fake_search import FakeSearch
from tests.serve.mutations import attack, list_faults
from tests.serve.running import Client, running_server
from tests.serve.slow_clients import SlowClients
from tests.serve.test_life import unique_lines
from tests.serve.test_replacement import save_random

from transduce.inference.load import load
from transduce.serve.interface import Limits

MUTATIONS = 2_000
SECONDS = 150.0  # of load
CLIENTS = 64
MAX_MEGABYTES_GROWN = 50  # megabytes
LINE = "the dog sees a cat."


def translate_for(client: Client, seconds: float, expected: str) -> list[float]:
    """Translate the same line again and again; return the milliseconds of each right answer."""
    end, found = time.monotonic() + seconds, list[float]()
    while time.monotonic() < end:
        started = time.perf_counter()
        assert client.translate(LINE).json == {"translatedText": expected}
        found.append(1_000 * (time.perf_counter() - started))
    return found


def percentile(values: list[float], share: float) -> int:
    """Return the value below which a share of all values lies, rounded."""
    return round(sorted(values)[int(share * (len(values) - 1))])


@pytest.mark.soak
def test_honest_clients_are_answered_among_thousands_of_hostile_ones(
    tmp_path: Path, record: Record
) -> None:
    save_random(tmp_path / "model", 1)
    expected = load(tmp_path / "model")(LINE)
    with served(tmp_path / "model") as (client, process), ThreadPoolExecutor(4) as pool:
        client.post("/detect", {"q": LINE})  # loads the tables of languages
        quiet = translate_for(client, 10, expected)
        searches, before = list_searches(process), measure_process(process)
        stop = threading.Event()
        honest = [pool.submit(translate_until, client, stop, expected) for _ in range(2)]
        with SlowClients(client.port, 200) as slow:
            found = attack(client.port, MUTATIONS, seed=2, threads=12)
        stop.set()
        loud = [one for some in honest for one in some.result()]
        assert process.poll() is None
        assert list_searches(process) == searches
        assert translate_for(client, 5, expected)
        after = measure_process(process)
    record(requests=MUTATIONS, answers=found, honest=len(loud), slow_closed=slow.closed, seeds=[2])
    record(
        median_ms_quiet=percentile(quiet, 0.5), p99_ms_quiet=percentile(quiet, 0.99),
        median_ms_attacked=percentile(loud, 0.5), p99_ms_attacked=percentile(loud, 0.99),
        slow_seconds_at_most=round(slow.longest), megabytes_grown=round(after[0] - before[0]),
        open_files=[before[1], after[1]],
    )  # fmt: skip
    assert list_faults(found) == []
    assert min(slow.closed.values()) >= 50
    assert after[0] - before[0] <= MAX_MEGABYTES_GROWN


@pytest.mark.soak
def test_ten_thousand_damaged_requests_get_no_other_answers_than_refusals(record: Record) -> None:
    with running_server(start=FakeSearch(), limits=Limits(receive_seconds=2.0)) as client:
        found = attack(client.port, 10_000, seed=3, threads=60)
        honest = client.translate(LINE)
    record(requests=10_000, answers=found, seeds=[3])
    assert list_faults(found) == []
    assert min(found["200"], found["400"]) > 1_000
    assert honest.json == {"translatedText": f"[{LINE}]"}


def translate_until(client: Client, stop: threading.Event, expected: str) -> list[float]:
    """Translate until an event; return the milliseconds of each right answer."""
    found = list[float]()
    while not stop.is_set():
        found += translate_for(client, 0.01, expected)
    return found


@final
class Load:
    """Clients that translate lines of their own until the server is gone, and count answers."""

    def __init__(self, client: Client, lines: list[str], right: list[set[str]]) -> None:
        self.client, self.lines, self.right = client, lines, right
        self.counts, self.lock = Counter[str](), threading.Lock()
        self.stopped = 0.0  # when the server was told to stop

    def work(self, number: int) -> None:
        """Be one client: every tenth request is left without waiting for its answer."""
        rng = random.Random(number)
        for n in count():
            at = rng.randrange(len(self.lines))
            started = time.monotonic()
            try:
                outcome = self.leave(at) if n % 10 == 9 else self.ask(at)
            except OSError:
                if self.stopped:
                    late = started > self.stopped - 1
                    self.add("after the stop" if late else "lost")
                    return
                outcome = "refused"  # the queue of the socket was full
            self.add(outcome)

    def ask(self, at: int) -> str:
        """Translate a line; return whether the answer is right."""
        answer = self.client.translate(self.lines[at])
        if answer.status == 200:
            return "right" if answer.json["translatedText"] in self.right[at] else "crossed"
        threading.Event().wait(0.2)
        return str(answer.status)

    def leave(self, at: int) -> str:
        """Send a request and close the connection."""
        body = f'{{"q": "{self.lines[at]}", "source": "en", "target": "de"}}'
        with self.client.connect() as connection:
            head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
            connection.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        return "left"

    def add(self, outcome: str) -> None:
        """Count an outcome."""
        with self.lock:
            self.counts[outcome] += 1


@final
class Trouble:
    """What happens to the server meanwhile: its searches are killed, its model is replaced."""

    def __init__(self, process: Any, used: Path, spare: Path, damaged: Path) -> None:
        self.process, self.used, self.spare, self.damaged = process, used, spare, damaged
        self.counts = Counter[str]()

    def kill(self) -> None:
        """Kill a search process."""
        for search in list_searches(self.process)[:1]:
            os.kill(search, signal.SIGKILL)
            self.counts["searches killed"] += 1

    def replace(self) -> None:
        """Put the other model in the place of the one that is used."""
        aside = self.used.with_name("aside")
        self.used.rename(aside)
        self.spare.rename(self.used)
        aside.rename(self.spare)
        self.counts["models replaced"] += 1

    def damage(self) -> None:
        """Put a damaged model in the place for two seconds."""
        aside = self.used.with_name("aside")
        self.used.rename(aside)
        shutil.copytree(self.damaged, self.used)
        threading.Event().wait(2)
        shutil.rmtree(self.used)
        aside.rename(self.used)
        self.counts["damaged models"] += 1


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:.*its translation lacks")  # the models are random
def test_under_load_no_answer_is_crossed_and_none_that_was_accepted_is_lost(
    tmp_path: Path, record: Record
) -> None:
    folders = [tmp_path / name for name in ("used", "spare", "damaged")]
    for folder, seed in zip(folders, (1, 2, 3), strict=True):
        save_random(folder, seed)
    (folders[2] / "model.safetensors").write_bytes(b"damaged")
    lines = unique_lines(200)
    right = [set(both) for both in zip(*(load(one)(lines) for one in folders[:2]), strict=True)]
    with served(folders[0], options=("--workers", "2")) as (client, process):
        running, trouble = Load(client, lines, right), Trouble(process, *folders)
        with ThreadPoolExecutor(CLIENTS) as pool:
            ended = [pool.submit(running.work, number) for number in range(CLIENTS)]
            first = make_trouble(trouble, SECONDS)
            last = measure_process(process)
            running.stopped = time.monotonic()
            process.terminate()
        assert process.wait(30) == 0
        seconds = time.monotonic() - running.stopped
        assert [one.result() for one in ended] == [None] * CLIENTS
    record(
        answers=running.counts, trouble=trouble.counts, seconds_to_stop=round(seconds, 1),
        megabytes_grown=round(last[0] - first[0]), open_files=[first[1], last[1]],
    )  # fmt: skip
    assert running.counts["crossed"] == running.counts["lost"] == 0
    assert running.counts["right"] > 2 * CLIENTS
    assert set(running.counts) <= {"right", "left", "503", "504", "after the stop", "refused"}
    assert last[0] - first[0] <= MAX_MEGABYTES_GROWN


def make_trouble(trouble: Trouble, seconds: float) -> tuple[float, int]:
    """Make trouble again and again; return what the server occupied after a third of the time."""
    started, found = time.monotonic(), (0.0, 0)
    acts = (trouble.kill, trouble.replace, trouble.kill, trouble.damage)
    for n in count():
        threading.Event().wait(5)
        acts[n % len(acts)]()
        passed = time.monotonic() - started
        if not found[1] and passed > seconds / 3:
            found = measure_process(trouble.process)
        if passed > seconds:
            return found
    raise AssertionError
