"""What the server itself costs (row V24): python -m benchmarks.serving_fake

The search is a fake one: a call takes 20 ms and 1 ms for each sentence in it, without computing.
So the figures are those of HTTP, of the queue and of sharing calls.
"""

import asyncio
import multiprocessing
import os
import statistics
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.serving import PAIR, run_clients
from transduce.serve.messages import Found, Ready, Sentence
from transduce.serve.server import ServerSettings, serve

CALL, SENTENCE = 0.020, 0.001  # seconds
LANGUAGES = "en", "de"
LINES = [f"line {number}" for number in range(100)]


def main() -> None:
    """Print the requests per second of one client and of several."""
    PAIR[:] = LANGUAGES
    context = multiprocessing.get_context("spawn")
    ports = context.SimpleQueue()
    process = context.Process(target=run_server, args=(ports,))
    print(f"load before {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    process.start()
    port, alone = ports.get(), 0.0
    for clients in (1, 8, 32):
        rate, times = run_clients(port, LINES, clients)
        alone = alone or rate
        middle = statistics.median(times)
        print(f"V24 {clients} clients: {rate:.0f} a second ({rate / alone:.1f} times)", end=", ")
        print(f"median {middle:.0f} ms")
    process.terminate()
    process.join()


def run_server(ports: Any) -> None:  # noqa: ANN401 - a queue
    """Serve with the fake search; put the port into a queue."""

    def tell(address: str, _: object) -> None:
        ports.put(int(address.rstrip("/").rsplit(":", 1)[1]))

    asyncio.run(serve([load], ServerSettings(port=0), tell, start=start))


def load() -> Any:  # noqa: ANN401 - never called
    """Stand in for the model."""


def start(_load: object) -> Any:  # noqa: ANN401 - a pipe, and no process
    """Start the fake search in a thread."""
    ours, theirs = multiprocessing.Pipe()
    threading.Thread(target=search, args=(theirs,), daemon=True).start()
    return ours, None


def search(pipe: "Connection[Any, Any]") -> None:
    """Answer all sentences that wait in one call, again and again."""
    pipe.send(Ready("fake", *LANGUAGES, "", 1, 64))
    try:
        while True:
            orders = [pipe.recv()]
            while pipe.poll():
                orders.append(pipe.recv())
            sentences = [one for one in orders if isinstance(one, Sentence)]
            time.sleep(CALL + SENTENCE * len(sentences))
            for one in sentences:
                pipe.send(Found(one.number, ((one.text, 0.0, 0.0),)))
    except (EOFError, OSError):
        pipe.close()


if __name__ == "__main__":
    main()
