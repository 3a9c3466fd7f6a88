"""HTTP/1.1 with deadlines: a client that sends or reads too slowly loses its connection."""

import asyncio
from typing import Any, ClassVar, cast, final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from transduce.serve.connections import WaitingConnections, name_client
from transduce.serve.joined_writes import JoinedWrites
from transduce.serve.limits import Limits

NO_HTTP = b'{"error": "this is no HTTP request"}'


@final
class DeadlineProtocol(H11Protocol):
    """uvicorn's protocol of one connection, with deadlines for request heads and answers.

    uvicorn itself waits without end for the rest of a request's head, and for a client that does
    not read its answer. When there are too many connections, the one that has waited longest for
    its client is closed, of the client that has most of such connections.
    """

    limits: ClassVar[Limits] = Limits()
    waiting: ClassVar[WaitingConnections[Any]] = WaitingConnections()
    address = ""
    deadline: asyncio.TimerHandle | None = None
    reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, close another if too many are open, and await the request's head."""
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", JoinedWrites(transport, self.loop))
        self.address = name_client(self.client[0] if self.client else "")
        self.await_head()
        self.note_waiting()
        if len(self.connections) > self.limits.connections:
            address, longest = self.waiting.choose()
            self.waiting.discard(address, longest)
            longest.transport.abort()

    def note_waiting(self) -> None:
        """Add this connection to those that wait for their clients, or remove it from them."""
        is_partial = self.is_between_requests() or self.cycle.more_body
        if is_partial or self.reading is not None:
            self.waiting.add(self.address, self)
        else:
            self.waiting.discard(self.address, self)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; the first byte of a request starts the deadline of its head."""
        if self.deadline is None and self.is_between_requests():
            self.await_head()
        super().data_received(data)
        if not self.is_between_requests():
            self.stop_head_deadline()
        self.note_waiting()

    def on_response_complete(self) -> None:
        """Await the next request after an answer."""
        super().on_response_complete()
        self.note_waiting()

    def is_between_requests(self) -> bool:
        """Return whether the connection has no request that is being answered."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def await_head(self) -> None:
        """Start the deadline after which a request without a complete head is closed."""
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
        """Cancel the deadline for the client to read, if one runs."""
        if self.reading is not None:
            self.reading.cancel()
            self.reading = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence is plain text
        """Answer bytes that are no HTTP with status 400 and JSON, and close the connection."""
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(NO_HTTP)),
            (b"connection", b"close"),
        ]
        events = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=NO_HTTP),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection at once, even if its client has not read the answer."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines of a closed connection."""
        self.stop_head_deadline()
        self.stop_reading_deadline()
        super().connection_lost(exc)
        self.waiting.discard(self.address, self)


def with_limits(limits: Limits) -> type[Any]:
    """Return a subclass of `DeadlineProtocol` with these limits, for uvicorn."""
    own = {"limits": limits, "waiting": WaitingConnections[DeadlineProtocol]()}
    return type("LimitedProtocol", (DeadlineProtocol,), own)
