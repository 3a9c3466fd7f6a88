"""Many connections that send or read as slowly as they can, each opened again when it is closed."""

import socket
import threading
import time
from collections import Counter
from types import TracebackType
from typing import final

HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BEGINNINGS = {  # what is sent at once
    "head": HEAD,
    "body": HEAD + b"Content-Length: 900000\r\n\r\n",
    "reading": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 30,
    "idle": b"",
}


@final
class SlowClients(threading.Thread):
    """Keeps connections open as long as the server lets it; `closed` counts those it closed."""

    def __init__(self, port: int, connections: int) -> None:
        super().__init__()
        self.port, self.connections = port, connections
        self.open: dict[socket.socket, tuple[str, float]] = {}
        self.closed, self.longest = Counter[str](), 0.0
        self.is_over = threading.Event()

    def __enter__(self) -> "SlowClients":
        self.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.is_over.set()
        self.join()

    def run(self) -> None:
        """Send a byte on each connection, again and again."""
        for number in range(self.connections):
            self.connect(list(BEGINNINGS)[number % len(BEGINNINGS)])
        while not self.is_over.wait(0.5):
            for connection in list(self.open):
                if not self.is_alive_after_a_byte(connection):
                    self.reopen(connection)
        for connection in self.open:
            connection.close()

    def connect(self, kind: str) -> None:
        """Open a connection, and send what a client of a kind sends at first."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(30)
        connection.connect(("127.0.0.1", self.port))
        connection.setblocking(False)
        if BEGINNINGS[kind]:
            connection.send(BEGINNINGS[kind])
        self.open[connection] = kind, time.monotonic()

    def is_alive_after_a_byte(self, connection: socket.socket) -> bool:
        """Send a byte, where the kind sends any; return whether the server keeps the connection."""
        kind = self.open[connection][0]
        try:
            if kind in ("head", "body"):
                connection.send(b"x")
            if kind != "reading":
                return connection.recv(1_024) != b""
            return connection.send(b"x") == 1
        except BlockingIOError:
            return True
        except OSError:
            return False

    def reopen(self, connection: socket.socket) -> None:
        """Count a connection that the server closed, and open another of its kind."""
        kind, started = self.open.pop(connection)
        self.closed[kind] += 1
        self.longest = max(self.longest, time.monotonic() - started)
        connection.close()
        self.connect(kind)
