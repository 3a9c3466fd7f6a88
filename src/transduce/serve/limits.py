"""The limits of the server, which hold whatever a client sends."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may ask for, and how long things may take."""

    body: int = 1 << 20  # bytes
    characters: int = 5_000  # of each text
    texts: int = 64  # of a request
    picture_characters: int = 1_000  # of a text whose attention is drawn
    sentences: int = 256  # of a request: as many as the queue holds, so that none fills it for long
    alternatives: int = 5  # besides the best translation
    queue: int = 256  # sentences that wait for a place in a search, before more are refused
    receive_seconds: float = 10.0  # for the head of a request, and again for its body
    send_seconds: float = 10.0  # for a client to read an answer
    request_seconds: float = 30.0  # from the body's end to the answer
    stop_seconds: float = 5.0  # from SIGTERM to the end
    connections: int = 2_000
