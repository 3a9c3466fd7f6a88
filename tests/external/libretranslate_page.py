"""LibreTranslate's own page, unchanged, before a server of ours: what it asks for is kept."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from jinja2 import Environment, FileSystemLoader

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass
class Call:
    """A request of the page, and what the server answered."""

    method: str
    path: str
    body: bytes = field(repr=False)
    status: int
    answer: Any


def render(package: Path, name: str) -> bytes:
    """Return a template of the package as its server writes it for a page without accounts."""

    def say(text: str, **values: object) -> str:
        return text % values if values else text

    def quote(text: str, **values: object) -> str:
        return json.dumps(say(text, **values))

    def find_path(endpoint: str, filename: str = "") -> str:
        return f"/static/{filename}" if endpoint == "static" else "/"

    templates = Environment(loader=FileSystemLoader(package / "templates"), autoescape=False)
    known: dict[str, Any] = {"_": say, "_h": say, "_e": quote, "url_for": find_path}
    return templates.get_template(name).render(**known, url_prefix="", api_secret="").encode()


def build_handler(package: Path, port: int, calls: list[Call]) -> type[BaseHTTPRequestHandler]:
    """Return a handler that answers with the page's files, and with what our server says."""
    pages = {
        "/": ("text/html", render(package, "index.html")),
        "/js/app.js": ("text/javascript", render(package, "app.js.template")),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path in pages:
                self.answer(200, *pages[path])
            elif path.startswith("/static/"):
                file = package / path.removeprefix("/")
                kind = KINDS.get(file.suffix, "application/octet-stream")
                self.answer(200, kind, file.read_bytes())
            else:
                self.forward(b"")

        def do_POST(self) -> None:
            self.forward(self.rfile.read(int(self.headers["Content-Length"])))

        def forward(self, body: bytes) -> None:
            """Send a request on as it came, the browser's headers with it, and keep it."""
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                headers = dict(self.headers.items())
                connection.request(self.command, self.path, body or None, headers)
                found = connection.getresponse()
                content = found.read()
            calls.append(Call(self.command, self.path, body, found.status, json.loads(content)))
            self.answer(found.status, found.getheader("Content-Type", ""), content)

        def answer(self, status: int, kind: str, content: bytes) -> None:
            """Send an answer, unless the page has given its request up."""
            with suppress(ConnectionError):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002
            """Write nothing."""

    return Handler


@contextmanager
def page_before(package: Path, port: int) -> Iterator[tuple[str, list[Call]]]:
    """Serve the page of an installed LibreTranslate; yield its address and the calls it makes."""
    calls = list[Call]()
    server = ThreadingHTTPServer(("127.0.0.1", 0), build_handler(package, port, calls))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", calls
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
