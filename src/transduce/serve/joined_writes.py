"""Sends what is written to a connection in one turn of the event loop as one piece."""

import asyncio
from typing import Any, final


@final
class JoinedWrites:
    """An asyncio transport whose writes are joined: the head and the body of an answer are one.

    Each piece costs a call of the system and wakes the client. All other methods are those of the
    transport that it is built for.
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
        """Send now what was written."""
        data = b"".join(self.parts)
        self.parts.clear()
        if data:
            self.transport.write(data)

    def abort(self) -> None:
        """Close the connection without waiting for its client; what was written is tried first."""
        self.flush()
        self.transport.abort()

    def close(self) -> None:
        """Close the connection after what was written is sent."""
        self.flush()
        self.transport.close()
