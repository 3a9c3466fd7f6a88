"""A server on loopback that sends whatever bytes a test says, however slowly."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Lie = Callable[["Line"], None]


@dataclass
class Line:
    """One connection: what a lie writes to, and whether the test is over."""

    connection: socket.socket
    has_ended: threading.Event
    request: str = ""

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.connection.sendall(part)

    def drip(self, part: bytes, seconds: float = 0.03) -> None:
        """Send a part again and again until the test is over."""
        while not self.has_ended.wait(seconds):
            self.connection.sendall(part)


@dataclass
class Liar:
    """The server: its address, and what it answers by path."""

    address: str = ""
    lies: dict[str, Lie] = field(default_factory=dict)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(4_096) or b"\r\n\r\n"
            path = request.split(b" ")[1].decode("latin1")
            self.lies[path](Line(connection, self.has_ended, request.decode("latin1")))


@contextmanager
def liar() -> Iterator[Liar]:
    """Run a lying server during a with block."""
    here = Liar()
    with socket.create_server(("127.0.0.1", 0)) as server:
        here.address = f"http://127.0.0.1:{server.getsockname()[1]}"

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=here.answer, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield here
        finally:
            here.has_ended.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
