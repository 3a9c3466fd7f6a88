"""Clients of the server that cost little themselves: one thread, bare sockets, ready requests.

They share the machine with the server, so that what they spend looks like time of the server's.
"""

import contextlib
import json
import selectors
import socket
import time
from collections.abc import Sequence
from typing import final

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length:"


@final
class Client:
    """A connection to the server with at most one request under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received, self.answers, self.started = b"", 0, 0.0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self.received, self.started = b"", time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Read what has come; return whether the answer is complete, which must have status 200."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the server closed a connection without an answer")
        self.received += part
        head, found, body = self.received.partition(HEAD_END)
        if not found:
            return False
        if b" 200 " not in head[:16]:
            raise ValueError(f"the server answered {head[:40]!r}")
        wanted = int(head.lower().split(LENGTH)[1].split(b"\r\n")[0])
        self.answers += len(body) >= wanted
        return len(body) >= wanted


def run_clients(
    port: int, lines: Sequence[str], pair: Sequence[str], clients: int, *, seconds: float
) -> tuple[float, list[float]]:
    """Let clients translate lines for some seconds; return answers a second and milliseconds.

    Each client asks for another line as soon as it has an answer; `pair` is the two languages.
    """
    requests = [build_request(line, pair) for line in lines]
    begun, times = time.monotonic(), list[float]()
    with contextlib.ExitStack() as opened, selectors.DefaultSelector() as selector:
        for number in range(clients):
            client = Client(port)
            opened.enter_context(client.socket)
            selector.register(client.socket, selectors.EVENT_READ, (number, client))
            client.ask(requests[number % len(requests)])
        while selector.get_map():
            for key, _ in selector.select():
                number, client = key.data
                if not client.receive():
                    continue
                times.append(1_000 * (time.perf_counter() - client.started))
                if time.monotonic() < begun + seconds:
                    client.ask(requests[(number + 31 * client.answers) % len(requests)])
                else:
                    selector.unregister(client.socket)
    return len(times) / (time.monotonic() - begun), times  # the last answers come after the end


def build_request(line: str, pair: Sequence[str]) -> bytes:
    """Return an HTTP request to translate a line from the first language to the second."""
    body = json.dumps({"q": line, "source": pair[0], "target": pair[1]}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Content-Type: application/json" + HEAD_END + body
