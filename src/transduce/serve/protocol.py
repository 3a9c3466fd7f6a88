"""HTTP/1.1 with deadlines: a client that sends or reads too slowly loses its connection."""

import asyncio
from typing import Any, ClassVar, final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from transduce.serve.limits import Limits

NO_HTTP = b'{"error": "this is no HTTP request"}'


@final
class DeadlineProtocol(H11Protocol):
    """uvicorn's protocol for one connection, with a deadline for heads and for reading answers.

    uvicorn itself waits without end for the rest of a request's head, and for a client that does
    not read its answer.
    """

    limits: ClassVar[Limits] = Limits()
    deadline: asyncio.TimerHandle | None = None
    reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, unless there are too many; its first request has a deadline."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self.await_head()

    def data_received(self, data: bytes) -> None:
        """Read what has come; the deadline of a head begins with its first byte."""
        if self.deadline is None and self.is_between_requests():
            self.await_head()
        super().data_received(data)
        if not self.is_between_requests():
            self.forget_deadline()

    def is_between_requests(self) -> bool:
        """Return whether no request is complete enough to be answered."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def await_head(self) -> None:
        """Close the connection if the head of a request is not complete in time."""
        self.deadline = self.loop.call_later(self.limits.receive_seconds, self.close_slow)

    def forget_deadline(self) -> None:
        """Stop waiting for a head: it is complete."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def close_slow(self) -> None:
        """Close a connection whose request did not come in time."""
        self.deadline = None
        if self.is_between_requests() and self.conn.their_state is not h11.DONE:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Wait for the client to read, but not for ever."""
        super().pause_writing()
        self.reading = self.loop.call_later(self.limits.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        self.forget_reading()

    def forget_reading(self) -> None:
        """Stop waiting for the client to read."""
        if self.reading is not None:
            self.reading.cancel()
            self.reading = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence is plain text
        """Answer what is no HTTP with JSON, and close the connection."""
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
        """Close an idle connection, without waiting for a client that never reads its answer."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection and its deadlines."""
        self.forget_deadline()
        self.forget_reading()
        super().connection_lost(exc)


def with_limits(limits: Limits) -> type[Any]:
    """Return the protocol with other limits than the default."""
    return type("LimitedProtocol", (DeadlineProtocol,), {"limits": limits})
