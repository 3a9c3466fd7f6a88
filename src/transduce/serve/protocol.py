"""HTTP/1.1 with deadlines: a client that sends or reads too slowly loses its connection."""

import asyncio
import ipaddress
import socket
from collections import Counter
from collections.abc import Hashable
from typing import Any, ClassVar, TypeVar, cast, final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from transduce.serve.interface import Limits

NO_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 36\r\n"
    b'Connection: close\r\n\r\n{"error": "this is no HTTP request"}'
)
MOST_LINES = 20_000  # lines of a request with its body; texts within the limits have fewer
IPV6_CLIENT_BITS = 64  # bits of an IPv6 address that name a network; one client may own the rest
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
CHECK_SECONDS = 0.2  # between two checks whether a half-closed client has left
Connection = TypeVar("Connection", bound=Hashable)


def with_limits(limits: Limits) -> type[Any]:
    """Return a subclass of `DeadlineProtocol` with these limits, for uvicorn."""
    own = {"limits": limits, "waiting": dict[DeadlineProtocol, str]()}
    return type("LimitedProtocol", (DeadlineProtocol,), own)


@final
class DeadlineProtocol(H11Protocol):
    """uvicorn's protocol of one connection, with deadlines to send a head and read an answer.

    uvicorn itself waits forever for the rest of a request's head, and for a client that does
    not read its answer. When there are too many connections, one that waits for its client is
    closed. A connection waits until a whole request has come, and again while its client does not
    read the answer; one whose request is being answered does not wait.

    A client may close its sending side after a whole request, and read the answer. A client
    that has left looks the same until something is sent to it.
    """

    limits: ClassVar[Limits] = Limits()
    waiting: ClassVar[dict[Any, str]] = {}  # connection -> client; longest waiting first
    address = ""
    has_ended = False  # whether the client has closed its sending side
    lines = 0  # line ends of the request that is being read
    deadline: asyncio.TimerHandle | None = None
    reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if too many are open, abort one that waits for its client.

        The one aborted is the longest waiting connection of the client with the most waiting ones.
        """
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", JoinedWrites(transport, self.loop))
        self.address = name_client(self.client[0] if self.client else "")
        self.await_head()
        self.note_waiting()
        if len(self.connections) > self.limits.connections:
            longest = choose_connection(self.waiting)
            del self.waiting[longest]
            longest.transport.abort()

    def note_waiting(self) -> None:
        """Put this connection into `waiting` if it waits for its client, else remove it."""
        is_partial = self.is_between_requests() or self.cycle.more_body
        if is_partial or self.reading is not None:
            self.waiting.setdefault(self, self.address)
        else:
            self.waiting.pop(self, None)

    def data_received(self, data: bytes) -> None:
        """Handle bytes; the first byte of each later request starts the deadline of its head.

        A request of very many lines is refused unread: its head, or a body in chunks of a byte,
        would keep the parser busy for seconds.
        """
        self.lines += data.count(b"\r\n")
        if self.lines > MOST_LINES:
            self.send_400_response("")
            return
        if self.deadline is None and self.is_between_requests():
            self.await_head()
        super().data_received(data)
        if not self.is_between_requests():
            self.stop_head_deadline()
        self.note_waiting()

    def on_response_complete(self) -> None:
        """After an answer, note that the next request is awaited, or close if none can come."""
        super().on_response_complete()
        self.lines = 0
        self.note_waiting()
        if self.has_ended and (self.is_between_requests() or self.cycle.more_body):
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether to stay connected to a client that has closed its sending side.

        True if a whole HTTP/1.1 request is not answered yet. An interim answer is sent, because
        the system then reports whether the client has left.
        """
        is_whole = not self.is_between_requests() and not self.cycle.more_body
        self.has_ended = is_whole and self.scope["http_version"] == "1.1"
        if self.has_ended and not self.cycle.response_started:
            self.transport.write(INTERIM)
            self.loop.call_later(CHECK_SECONDS, self.check_client)
        return self.has_ended

    def check_client(self) -> None:
        """Close the connection if its client has left; check again until it has its answer."""
        connection = self.transport.get_extra_info("socket")
        if self.transport.is_closing() or self.cycle.response_complete:
            return
        if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
        else:
            self.loop.call_later(CHECK_SECONDS, self.check_client)

    def is_between_requests(self) -> bool:
        """Return whether no request of the connection is being answered."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def await_head(self) -> None:
        """Start the deadline by which a request's head must be complete."""
        self.deadline = self.loop.call_later(self.limits.receive_seconds, self.close_slow)

    def stop_head_deadline(self) -> None:
        """Cancel the deadline for a request's head, if one runs."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def close_slow(self) -> None:
        """Close the connection, unless a complete request has arrived by now."""
        self.deadline = None
        if self.is_between_requests() and self.conn.their_state is not h11.DONE:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Pause sending; close the connection unless the client reads within the limit."""
        super().pause_writing()
        self.reading = self.loop.call_later(self.limits.send_seconds, self.transport.abort)
        self.note_waiting()

    def resume_writing(self) -> None:
        """Resume sending after the client has read, and cancel its deadline."""
        super().resume_writing()
        self.stop_reading_deadline()
        self.note_waiting()

    def stop_reading_deadline(self) -> None:
        """Cancel the timer, if any, that closes the connection of a client that stops reading."""
        if self.reading is not None:
            self.reading.cancel()
            self.reading = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence is plain text
        """Answer with status 400 and JSON (`msg` is not sent), and close the connection."""
        self.transport.write(NO_HTTP)
        self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection at once, even if its client has not read the answer."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines of a closed connection, and remove it from `waiting`."""
        self.stop_head_deadline()
        self.stop_reading_deadline()
        super().connection_lost(exc)
        self.waiting.pop(self, None)


def choose_connection(waiting: dict[Connection, str]) -> Connection:
    """Return the longest waiting connection of the client with the most waiting connections."""
    ((client, _),) = Counter(waiting.values()).most_common(1)
    return next(one for one, owner in waiting.items() if owner == client)


def name_client(host: str) -> str:
    """Return what identifies a client: an IPv4 address, or the network of an IPv6 address."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], IPV6_CLIENT_BITS), strict=False))
    except ValueError:
        return host


@final
class JoinedWrites:
    """An asyncio transport that sends the head and the body of an answer as one piece.

    Two pieces would cost two system calls and wake a client twice.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.transport, self.loop = transport, loop
        self.parts = list[bytes]()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of a transport
        """Return an attribute of the transport."""
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Send bytes at the end of this turn of the event loop, joined with others."""
        if not self.parts:
            self.loop.call_soon(self.flush)
        self.parts.append(data)

    def flush(self) -> None:
        """Send all that was written so far."""
        data = b"".join(self.parts)
        self.parts.clear()
        if data:
            self.transport.write(data)

    def abort(self) -> None:
        """Close the connection at once, after one try to send what was written."""
        self.flush()
        self.transport.abort()

    def close(self) -> None:
        """Close the connection once all written data is sent."""
        self.flush()
        self.transport.close()
