"""What the server itself costs (rows V23, V24, V28): python -m benchmarks.serving_fake

The search is a fake one, in a process of its own as the real one: a call takes 20 ms and 1 ms for
each sentence in it, without computing. It begins at once when nothing runs; after a call of more
than four sentences it waits until none has come for 3 ms (the real one need not wait: sentences
join it at any step). So the figures are those of HTTP, of the queue and of the pipe between the
processes. Processor time is that of the server's process, without the search and the clients;
other work on the machine moves it less than the rates.
"""

import asyncio
import multiprocessing
import os
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.light_clients import run_clients
from benchmarks.serving import SECONDS, percentile, watch_health
from transduce.serve.guard import ServerSettings
from transduce.serve.messages import Ready, SentenceOutputs, TranslationOrder
from transduce.serve.server import serve

CALL, SENTENCE = 0.020, 0.001  # seconds
CAPACITY, FEW, WAIT = 64, 4, 0.003  # sentences of a call; see above
LANGUAGES = "en", "de"
LINES = [
    f"The old man with the {number} red balloons sees a small dog in the park."
    for number in range(100)
]


def main() -> None:
    """Print the requests per second of one client and of several."""
    context = multiprocessing.get_context("spawn")
    ports = context.SimpleQueue()
    process = context.Process(target=run_server, args=(ports,))
    print(f"load before {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    process.start()
    port, single = ports.get(), 0.0
    run_clients(port, LINES, LANGUAGES, 4, seconds=1)  # everything is imported and warm
    for clients in (1, 8, 32):
        single = report(port, process.pid or 0, clients, single)
    report_health(port, 32)
    process.terminate()
    process.join()


def report(port: int, server: int, clients: int, single: float) -> float:
    """Print rate, times and processor time with so many clients; return the rate of one."""
    before, own = processor_seconds(server), time.process_time()
    rate, times = run_clients(port, LINES, LANGUAGES, clients, seconds=SECONDS)
    used = (processor_seconds(server) - before) / len(times)
    own = (time.process_time() - own) / len(times)
    single, middle = single or rate, statistics.median(times)
    if clients == 1:
        print(f"V23 1 client: {middle - 1_000 * (CALL + SENTENCE):.1f} ms more than the search")
    print(f"V24 {clients} clients: {rate:.0f} a second ({rate / single:.1f} times)", end=", ")
    print(f"median {middle:.0f} ms; processor time of a request: {1e6 * used:.0f} us", end=", ")
    print(f"the client's {1e6 * own:.0f} us")
    return single


def report_health(port: int, clients: int) -> None:
    """Print how long /health takes while so many clients translate."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        health = pool.submit(watch_health, port, stop)
        run_clients(port, LINES, LANGUAGES, clients, seconds=SECONDS)
        stop.set()
    found = percentile(health.result(), 0.99)
    print(f"V28 /health beside {clients} clients: p99 {found:.1f} ms")


def processor_seconds(process: int) -> float:
    """Return the seconds that a process has spent on processors, in user and system mode."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def run_server(ports: Any) -> None:  # noqa: ANN401 - a queue
    """Serve with the fake search; put the port into a queue."""

    def tell(address: str, _: object) -> None:
        ports.put(int(address.rstrip("/").rsplit(":", 1)[1]))

    asyncio.run(serve([load], ServerSettings(port=0), tell, start=start))


def load() -> Any:  # noqa: ANN401 - never called
    """Stand in for the model."""


def start(_load: object) -> Any:  # noqa: ANN401 - a pipe and a process
    """Start the fake search in a process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=search, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def search(pipe: "Connection[Any, Any]") -> None:
    """Answer all sentences that wait in one call, again and again."""
    pipe.send(Ready("fake", *LANGUAGES, "", 1, CAPACITY))
    sentences = list[TranslationOrder]()
    try:
        while True:
            orders, wait = [pipe.recv()], WAIT if len(sentences) > FEW else 0.0
            while len(orders) < CAPACITY and pipe.poll(wait):
                orders.append(pipe.recv())
            sentences = [one for one in orders if isinstance(one, TranslationOrder)]
            time.sleep(CALL + SENTENCE * len(sentences))
            for one in sentences:
                pipe.send(SentenceOutputs(one.id, ((one.text, 0.0, 0.0),)))
    except (EOFError, OSError):
        pipe.close()


if __name__ == "__main__":
    main()
