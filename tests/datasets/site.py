"""A server on loopback that keeps its word, or breaks it in one of the ways that servers do."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Site:
    """Files by path, how each misbehaves, and what was asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # path, Range

    def put(self, name: str, content: bytes, **fault: object) -> str:
        """Offer a file; its address."""
        self.files[f"/{name}"] = content
        self.faults[f"/{name}"] = fault
        return f"{self.address}/{name}"


class Answers(BaseHTTPRequestHandler):
    """What the site says."""

    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        """One file, whole or from a place on; faults may be tried one after the other."""
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
        """The bytes that were asked for."""
        begun = self.begun(fault)
        if begun > len(content) or (begun and begun == len(content)):
            self.reply(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        headers = {"ETag": fault["etag"]} if "etag" in fault else {}
        status = 200
        if begun:
            status = 206
            first = begun + fault.get("shifted", 0)
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        rest = content[begun:]
        self.reply(status, rest, headers | self.length(rest, fault), fault)

    def begun(self, fault: dict[str, Any]) -> int:
        """Where the answer begins."""
        wanted = self.headers.get("Range")
        same = self.headers.get("If-Range") in (None, fault.get("etag"))
        if wanted is None or fault.get("no_ranges") or not same:
            return 0
        return int(wanted.removeprefix("bytes=").rstrip("-"))

    def length(self, rest: bytes, fault: dict[str, Any]) -> dict[str, str]:
        """The size that is said, which may be a lie, or nothing."""
        if fault.get("no_length"):
            self.close_connection = True
            return {"Connection": "close"}
        return {"Content-Length": fault.get("said", str(len(rest) + fault.get("longer", 0)))}

    def reply(
        self, status: int, body: bytes, headers: dict[str, str], fault: dict[str, Any] | None = None
    ) -> None:
        """Say it, and end as the fault says."""
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
    """A site that is up while the block lasts."""
    here = Site()
    handler = type("Here", (Answers,), {"site": here})
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
