"""A server in a thread, with searches in threads, and the plainest clients for it."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import Pipe
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.serve.models import load_random

from transduce.serve.guard import ServerSettings
from transduce.serve.search_process import serve_searches
from transduce.serve.server import serve


def start_in_thread(load):
    """Start a search in a thread, in place of a process."""
    ours, theirs = Pipe()

    def run() -> None:
        try:
            serve_searches(theirs, load)
        except OSError:
            pass  # the server is gone
        finally:
            theirs.close()

    threading.Thread(target=run, daemon=True).start()
    return ours, None


@dataclass
class Answer:
    """A status, the headers with small letters, and the body."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """Sends requests, each over a connection of its own, from an address of this machine."""

    port: int
    server: Any = None
    source: str = "127.0.0.1"

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        origin = (self.source, 0)
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60, source_address=origin
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, None, **headers)

    def post(self, path: str, value: object, **headers: str) -> Answer:
        headers = {"Content_Type": "application/json", **headers}
        return self.send("POST", path, json.dumps(value).encode(), **headers)

    def form(self, path: str, **fields: str) -> Answer:
        kind = "application/x-www-form-urlencoded"
        return self.send("POST", path, urlencode(fields).encode(), Content_Type=kind)

    def translate(self, q: object, **fields: object) -> Answer:
        return self.post("/translate", {"q": q, "source": "en", "target": "de", **fields})

    def connect(self) -> socket.socket:
        """Open a connection on which nothing is sent yet."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def measure(self, name: str) -> float:
        """Return the sum of a metric's samples."""
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(
            float(line.split()[-1]) for line in lines if line.startswith(f"transduce_{name}")
        )


class ServerThread(threading.Thread):
    """A thread in which a server lives; `ready` gets its address, and then None or its error."""

    def __init__(self, loads: Any, settings: Any, start: Any) -> None:
        super().__init__()
        self.loads, self.settings, self.start_searches = loads, settings, start
        self.ready = SimpleQueue[Any]()
        self.loop, self.asked = asyncio.new_event_loop(), asyncio.Event()

    def run(self) -> None:
        try:
            self.loop.run_until_complete(self.live())
            self.ready.put(None)
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.ready.put(error)
        finally:
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    async def live(self) -> None:
        await serve(
            self.loads,
            ServerSettings(**{"port": 0, **self.settings}),
            lambda address, _: self.ready.put(address),
            start=self.start_searches,
            stop=self.asked,
        )

    def stop(self) -> None:
        """Stop the server as SIGTERM does."""
        self.loop.call_soon_threadsafe(self.asked.set)


@contextmanager
def running_server(*loads: Any, start: Any = start_in_thread, **settings: Any) -> Iterator[Client]:
    """Run a server during a with block; raise what it raises."""
    thread = ServerThread(loads or (load_random,), settings, start)
    thread.start()
    found = thread.ready.get()
    if isinstance(found, Exception):
        thread.join()
        raise found
    try:
        yield Client(urlsplit(found).port or 0, thread)
    finally:
        thread.stop()
        thread.join()
    end = thread.ready.get()
    if end is not None:
        raise end
