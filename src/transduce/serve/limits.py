"""The server's limits on the size of requests, the time of each phase, and the queue."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on one request's size, on the server's queue and connections, and on times."""

    body: int = 1 << 20  # the most bytes of a request's body
    characters: int = 5_000  # the most characters of one text
    texts: int = 64  # the most texts of one request
    picture_characters: int = 1_000  # the most characters of a text whose attention is drawn
    picture_bytes: int = 100_000_000  # the most memory that drawing it may need
    sentences: int = 256  # the most sentences of one request; equal to `queue` by default
    alternatives: int = 5  # the most translations of a text besides the best one
    queue: int = 256  # waiting sentences from which on new requests are refused
    receive_seconds: float = 10.0  # time for a request's head to arrive, and again for its body
    send_seconds: float = 10.0  # time for a client to read an answer
    request_seconds: float = 30.0  # time from the body's end to the answer
    stop_seconds: float = 5.0  # time from SIGTERM to the server's end
    connections: int = 2_000  # the most open connections
