"""A page of training curves that stays up to date: a read-only server for this machine alone."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import BoundedSemaphore, Event
from typing import ClassVar, final
from urllib.parse import parse_qs, urlsplit

from transduce.durable.files import require_folder
from transduce.durable.folder import open_regular
from transduce.errors import InputError, TransduceError
from transduce.settings.fields import require
from transduce.training.journal import LOG
from transduce.view.curves.curves import name_runs
from transduce.view.curves.page import build_curves_page
from transduce.view.curves.read_log import (
    RUN_HINT,
    UNREADABLE,
    RunLog,
    empty_part,
    is_missing,
    read_cached_log,
    resolve_resumes,
)

ADDRESS = "127.0.0.1"
HOSTS = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
OFFSETS = re.compile(r"\d{1,15}(,\d{1,15})*")
EVENTS = "/events"
SECONDS_BETWEEN_READS = 0.2
SECONDS_BETWEEN_SIGNS = 5.0  # a comment is sent this often, to notice a closed connection
MAX_STREAMS = 32
HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
MAX_BYTES = 1 << 20  # the largest number of new bytes that are read at once


def read_growing_log(run: Path) -> RunLog:
    """Return the whole lines of a run's log; the run may still be training or not have begun.

    Lines that a resume made void are left out.
    """
    path = run / LOG
    part = empty_part() if is_missing(path) else read_cached_log(path)
    return resolve_resumes(replace(part, tail=b""))


@final
class NewLines:
    """A reader of the whole lines that are written into a log after an offset."""

    def __init__(self, path: Path, offset: int) -> None:
        self.path, self.offset = path, offset
        self.searched = offset  # no line ends between `offset` and this byte

    def read(self) -> bytes | None:
        """Return the new whole lines, b"" if there are none, or None if the file was replaced.

        The offset moves past the lines. A line of more than `MAX_BYTES` becomes a line that
        is no JSON.
        """
        if is_missing(self.path):
            return b"" if self.offset == 0 else None
        with open_regular(self.path) as stream:
            if self.offset:
                stream.seek(self.offset - 1)
                if stream.read(1) != b"\n":  # a line ended there when the offset was noted
                    return None
            stream.seek(self.searched)
            found = stream.read(MAX_BYTES)
        begun = self.searched > self.offset  # in the middle of a line of more than MAX_BYTES
        lines, newline, _ = found.partition(b"\n") if begun else found.rpartition(b"\n")
        if newline:
            self.offset = self.searched = self.searched + len(lines) + 1
            return UNREADABLE if begun else lines
        if len(found) == MAX_BYTES:
            self.searched += MAX_BYTES
        return b""


@final
class CurvesServer(ThreadingHTTPServer):
    """A local server of one page of curves and of a stream of the logs' new lines."""

    daemon_threads = True

    def __init__(self, runs: Sequence[Path], port: int = 0) -> None:
        require(bool(runs), "no run was named", "transduce curves run --serve")
        self.names, self.runs = name_runs(runs), runs
        for run in runs:
            require_folder(run, RUN_HINT)
            read_growing_log(run)  # raises an error if it cannot be read
        self.streams, self.closed = BoundedSemaphore(MAX_STREAMS), Event()
        try:
            super().__init__((ADDRESS, port), CurvesHandler)
        except OSError as error:
            fact = f"port {port} cannot be used: {error.strerror}"
            raise InputError(fact, "--port 0 takes a free one") from error

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def build_page(self) -> bytes:
        """Return the page of curves, drawn from the logs as they are now."""
        named = zip(self.names, self.runs, strict=True)
        logs = {name: (run, read_growing_log(run)) for name, run in named}
        return build_curves_page(logs, events=EVENTS)

    def server_close(self) -> None:
        """Stop listening, and end all streams."""
        self.closed.set()
        super().server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the error of a connection, such as a closed browser; print nothing."""


@final
class CurvesHandler(BaseHTTPRequestHandler):
    """A handler that sends the page or the stream, only to requests with a local Host header."""

    server: CurvesServer
    server_version = "transduce"
    sys_version = ""
    timeout: ClassVar[float] = 10.0  # seconds for a request to arrive

    def do_GET(self) -> None:
        """Send the page or the stream; answer 404 to another path, 403 to a foreign Host header."""
        path = urlsplit(self.path).path
        if not HOSTS.fullmatch(self.headers.get("Host", "")):
            self.send_text(HTTPStatus.FORBIDDEN, "this server answers to 127.0.0.1 only")
        elif path == "/":
            self.send_page()
        elif path == EVENTS:
            self.send_events()
        else:
            self.send_text(HTTPStatus.NOT_FOUND, "the page is at /")

    do_HEAD = do_GET  # noqa: N815 - the same headers; `send_content` leaves out the content

    def send_page(self) -> None:
        """Send the page, or status 500 with the error that prevents it."""
        try:
            page = self.server.build_page()
        except TransduceError as error:
            self.send_text(HTTPStatus.INTERNAL_SERVER_ERROR, error.fact)
            return
        self.send_content(HTTPStatus.OK, "text/html; charset=utf-8", page)

    def send_events(self) -> None:
        """Stream all log lines after the request's offsets, and new ones as they are written.

        Answers 400 to malformed offsets, and 503 if too many streams are open.
        """
        offsets = self.read_offsets()
        if offsets is None:
            self.send_text(HTTPStatus.BAD_REQUEST, "from=OFFSET,… has one offset for each run")
        elif not self.server.streams.acquire(blocking=False):
            self.send_text(HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_STREAMS} pages are open")
        else:
            try:
                self.send_head(HTTPStatus.OK, "text/event-stream")
                new = stream_lines(self.server.runs, offsets, self.server.closed)
                for message in new if self.command == "GET" else ():
                    self.wfile.write(message)
            finally:
                self.server.streams.release()

    def read_offsets(self) -> list[int] | None:
        """Return a request's offset for each log, or None if the request is malformed.

        A browser that connects again sends the offsets of its last event.
        """
        query = parse_qs(urlsplit(self.path).query).get("from", [""])
        text = self.headers.get("Last-Event-ID") or query[0]
        if not OFFSETS.fullmatch(text):
            return None
        offsets = [int(one) for one in text.split(",")]
        return offsets if len(offsets) == len(self.server.runs) else None

    def send_text(self, status: HTTPStatus, text: str) -> None:
        """Send an answer with a status and a sentence of plain text."""
        content = f"{text}\n".encode("utf-8", "backslashreplace")
        self.send_content(status, "text/plain; charset=utf-8", content)

    def send_content(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        """Send headers and, unless the request is HEAD, the content; `kind` is its media type."""
        self.send_head(status, kind, len(content))
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_head(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        """Send the status and the headers of an answer; `kind` is its media type."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in HEADERS:
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing about requests."""


def stream_lines(runs: Sequence[Path], offsets: Sequence[int], closed: Event) -> Iterator[bytes]:
    """Yield server-sent events with the lines after each log's offset, until `closed` is set.

    A log that was replaced by another ends the stream, with an event that says so.
    """
    readers = [NewLines(run / LOG, offset) for run, offset in zip(runs, offsets, strict=True)]
    last_sent = 0.0
    while not closed.is_set():
        reached = [reader.offset for reader in readers]
        for number, reader in enumerate(readers):
            lines = reader.read()
            if lines is None:
                yield b"event: changed\ndata: \n\n"
                return
            if reader.offset > reached[number]:
                yield encode_message(number, lines, [one.offset for one in readers])
                last_sent = time.monotonic()
        if reached == [reader.offset for reader in readers]:
            if time.monotonic() - last_sent >= SECONDS_BETWEEN_SIGNS:
                yield b": here\n\n"
                last_sent = time.monotonic()
            closed.wait(SECONDS_BETWEEN_READS)


def encode_message(log_index: int, lines: bytes, reached: Sequence[int]) -> bytes:
    """Encode a server-sent event: a log's new lines, and the offsets reached in all logs."""
    identity = ",".join(map(str, reached)).encode()
    place = f"{log_index} {reached[log_index]}".encode()
    data = [place, *lines.replace(b"\r", b" ").split(b"\n")]
    return b"id: %b\nevent: lines\n%b\n" % (identity, b"".join(b"data: %b\n" % one for one in data))
