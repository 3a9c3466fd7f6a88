"""The translation server under load on loopback: python -m benchmarks.serving MODEL TEXT.

Prints rows V23 to V28: what HTTP adds to a search, 32 clients beside one, and a server over its
capacity. The clients share the machine with the server.
"""

import contextlib
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import transduce
from benchmarks.light_clients import run_clients
from transduce.inference.translator import Translator
from transduce.machine.process_settings import keep_freed_memory, use_threads
from transduce.text.sentences import split_text

SECONDS = 12.0  # of each measurement under load
CROWD = 400  # clients over capacity
Send = Callable[[str], int]


@contextlib.contextmanager
def server(model: Path) -> Iterator[int]:
    """Run `transduce serve` during a with block; yield its port."""
    command = [sys.executable, "-m", "transduce", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield urlsplit(process.stdout.readline().strip()).port or 0
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        print(f"stop after SIGTERM       {time.monotonic() - started:.2f} s")


def connect(port: int) -> tuple[Send, list[str]]:
    """Return a function that translates a text over one connection, and the list of answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    answers: list[str] = []

    def send(text: str) -> int:
        body = json.dumps({"q": text, "source": PAIR[0], "target": PAIR[1]})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = json.loads(answer.read())
        if answer.status == 200:
            answers.append(content["translatedText"])
        return answer.status

    return send, answers


PAIR = ["", ""]  # the languages of the model, once they are known


def measure(act: Callable[[str], object], lines: Sequence[str]) -> list[float]:
    """Return the milliseconds that a function takes for each line, one after the other."""
    found = []
    for line in lines:
        started = time.perf_counter()
        act(line)
        found.append(1_000 * (time.perf_counter() - started))
    return found


def flood(port: int, text: str) -> Counter[int | str]:
    """Return how often each status came, when many clients ask at once for ten sentences each."""

    def ask(_: int) -> int | str:
        try:
            return connect(port)[0]("\n".join([text] * 10))
        except OSError as error:
            return type(error).__name__

    with ThreadPoolExecutor(CROWD) as pool:
        return Counter(pool.map(ask, range(CROWD)))


def watch_health(port: int, stop: threading.Event) -> list[float]:
    """Return the milliseconds of /health, asked 50 times a second until `stop`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    found: list[float] = []
    while not stop.wait(0.02):
        started = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        found.append(1_000 * (time.perf_counter() - started))
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all values lies."""
    return sorted(values)[int(share * (len(values) - 1))]


def main() -> None:
    """Print all rows for the model and the lines of the text that the command line names."""
    model, text = Path(sys.argv[1]), Path(sys.argv[2])
    lines = text.read_text(encoding="utf-8").splitlines()[:200]
    print(f"load before {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {len(lines)} lines")
    keep_freed_memory()
    use_threads(1)
    translator = transduce.load(model)
    data = translator.recipe.data
    PAIR[:] = data.source_language, data.target_language
    expected = translate_sentences(translator, lines)
    with server(model) as port:
        report_lone(port, lines[:60], translator)
        report_equality(port, lines, expected)
        report_load(port, lines)


def translate_sentences(model: Translator, lines: Sequence[str]) -> dict[str, str]:
    """Return each line's translation, sentence by sentence, where the server splits it."""
    cuts = [split_text(line) for line in lines]
    found = iter(model([sentence for cut in cuts for sentence in cut.sentences]))
    texts = [cut.join([next(found) for _ in cut.sentences]) for cut in cuts]
    return dict(zip(lines, texts, strict=True))


def report_lone(port: int, lines: Sequence[str], model: Callable[[str], object]) -> None:
    """Print what the server adds for one client, line by line in turn with the bare model."""
    send, _ = connect(port)
    pairs = [(measure(model, [one])[0], measure(send, [one])[0]) for one in (*lines, *lines)]
    bare, served = (statistics.median(side) for side in zip(*pairs[10:], strict=True))
    added = statistics.median(b - a for a, b in pairs[10:])
    print(f"V23 one client           {served:.1f} ms, bare {bare:.1f} ms, added {added:.1f} ms")


def report_equality(port: int, lines: Sequence[str], expected: dict[str, str]) -> None:
    """Print how many texts are equal to those of `translate`, asked for by 32 clients at once."""

    def ask(line: str) -> bool:
        send, answers = connect(port)
        return send(line) == 200 and answers == [expected[line]]

    with ThreadPoolExecutor(32) as pool:
        equal = sum(pool.map(ask, lines))
    print(f"V25 equal texts          {equal} of {len(lines)}")


def report_load(port: int, lines: Sequence[str]) -> None:
    """Print rates of one and of 32 clients, statuses over capacity, and /health meanwhile."""
    alone, _ = run_clients(port, lines, PAIR, 1, seconds=SECONDS)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        health = pool.submit(watch_health, port, stop)
        together, times = run_clients(port, lines, PAIR, 32, seconds=SECONDS)
        stop.set()
    middle = statistics.median(times)
    print(f"V24 sentences per second {alone:.1f} alone, {together:.1f} by 32 clients", end=" ")
    print(f"({together / alone:.1f} times), median {middle:.0f} ms")
    print(f"V28 /health while busy   p99 {percentile(health.result(), 0.99):.1f} ms")
    print(f"V27 {CROWD} at once          {dict(flood(port, lines[0]))}")
    send, _ = connect(port)
    print(f"    afterwards           {statistics.median(measure(send, lines[:20])):.1f} ms")


if __name__ == "__main__":
    main()
