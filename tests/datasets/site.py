"""An HTTP server on loopback, without faults or with one of the faults that servers have."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Site:
    """A server: its files by path, the faults of each, and the requests received."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # path, Range

    def put(self, name: str, content: bytes, **fault: object) -> str:
        """Offer a file and return its address."""
        self.files[f"/{name}"] = content
        self.faults[f"/{name}"] = fault
        return f"{self.address}/{name}"


class Handler(BaseHTTPRequestHandler):
    """The request handler of a site, with its faults."""

    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Send one file, whole or from a later byte on; statuses in a list are sent in turn."""
        self.site.asked.append((self.path, self.headers.get("Range") or ""))
        fault = self.site.faults.get(self.path, {})
        if status := fault.get("status"):
            self.reply(status.pop(0) if isinstance(status, list) else status, b"no", {})
            return
        if self.path not in self.site.files:
            self.reply(404, b"not here", {})
            return
        with suppress(ConnectionError):
            self.give(self.site.files[self.path], fault)

    def give(self, content: bytes, fault: dict[str, Any]) -> None:
        """Send the bytes that were asked for."""
        start = self.first_byte(fault)
        if start > len(content) or (start and start == len(content)):
            self.reply(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        headers = {"ETag": fault["etag"]} if "etag" in fault else {}
        status = 200
        if start:
            status = 206
            first = start + fault.get("shifted", 0)
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        rest = content[start:]
        self.reply(status, rest, headers | self.length(rest, fault), fault)

    def first_byte(self, fault: dict[str, Any]) -> int:
        """Return the first byte that the request asks for."""
        wanted = self.headers.get("Range")
        same = self.headers.get("If-Range") in (None, fault.get("etag"))
        if wanted is None or fault.get("no_ranges") or not same:
            return 0
        return int(wanted.removeprefix("bytes=").rstrip("-"))

    def length(self, rest: bytes, fault: dict[str, Any]) -> dict[str, str]:
        """Return the header that states the size, which may be wrong or missing."""
        if fault.get("no_length"):
            self.close_connection = True
            return {"Connection": "close"}
        return {
            "Content-Length": fault.get("stated_length", str(len(rest) + fault.get("longer", 0)))
        }

    def reply(
        self, status: int, body: bytes, headers: dict[str, str], fault: dict[str, Any] | None = None
    ) -> None:
        """Send a response, broken off or delayed as the fault demands."""
        fault = fault or {}
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            if not (name == "Content-Length" and "Connection" in headers):
                self.send_header(name, value)
        self.end_headers()
        if "breaks_after" in fault:
            body = body[: fault["breaks_after"]]
            self.close_connection = True
        for first in range(0, len(body), fault.get("drip", len(body) or 1)):
            self.wfile.write(body[first : first + fault.get("drip", len(body))])
            self.wfile.flush()
            time.sleep(fault.get("seconds", 0))
        if fault.get("longer"):
            self.close_connection = True


@contextmanager
def site() -> Iterator[Site]:
    """Run a site during a with block."""
    here = Site()
    handler = type("Here", (Handler,), {"site": here})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        here.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield here
        finally:
            server.shutdown()
            thread.join()
