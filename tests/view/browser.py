"""Headless Chromium, driven by the WebDriver protocol with the standard library alone.

`TEST_BROWSER=firefox` or `webkit` opens another browser instead (tests/view/engines.py).
"""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--disable-ipc-flooding-protection",  # a test goes to more places in a second than a person
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-smooth-scrolling",  # a click in a page that still scrolls meets another element
    "--disable-extensions",
    "--disable-breakpad",
    "--no-zygote",
    "--in-process-gpu",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's id in the protocol
# Keys that have no character of their own, as the protocol writes them.
KEYS = MappingProxyType(
    {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "Home": "\ue011", "End": "\ue010"}
    | {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
    | {"Shift": "\ue008", "Control": "\ue009", "PageUp": "\ue00e", "PageDown": "\ue00f"}
)
WAIT = """
const [expression, done] = arguments;
const test = new Function(`return (${expression});`);
const again = () => { if (test()) done(true); else requestAnimationFrame(again); };
again();
"""


class Browser:
    """A session of one browser window; methods raise RuntimeError with the driver's message."""

    def __init__(self, port: int, profile: Path) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.profile = profile
        self.shown: Any = None  # what a test has opened, if another one may go on with it
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "timeouts": {"script": 20_000},
        }
        created = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{created['sessionId']}"

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a command of the protocol and return its value."""
        sent = None if body is None else json.dumps(body)
        self.connection.request(method, path, sent, {"Content-Type": "application/json"})
        value = json.loads(self.connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["message"])
        return value

    def command(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send a command to this session."""
        return self.call("POST", f"{self.session}/{path}", body)

    def forget(self) -> None:
        """Move the mouse to the corner, and forget what was logged."""
        self.act([self.mouse([{"type": "pointerMove", "duration": 0, "x": 0, "y": 0}])])
        self.logged("browser"), self.logged("performance")

    def reset(self) -> None:
        """Show nothing, in the size and scheme that a new browser has."""
        self.command("url", {"url": "about:blank"})
        self.develop("Emulation.clearDeviceMetricsOverride")
        self.develop("Emulation.setEmulatedMedia", features=[])
        self.shown = None

    def open(self, page: Path | str, link: str = "") -> None:
        """Load a file or an address afresh, with `link` as its hash; forget earlier logs."""
        address = page if isinstance(page, str) else page.absolute().as_uri()
        self.shown = None
        self.command("url", {"url": "about:blank"})
        self.forget()
        self.command("url", {"url": address + (f"#{link}" if link else "")})

    def open_text(self, text: str, link: str = "") -> Path:
        """Write a page to a file, open it, and return the file."""
        page = self.profile.parent / "page.html"
        page.write_text(text, encoding="utf-8", newline="")
        self.open(page, link)
        return page

    def run(self, script: str, *arguments: object) -> Any:
        """Return what the body of a JavaScript function returns."""
        return self.command("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, expression: str) -> None:
        """Wait until an expression of the page is true; asked once a frame."""
        self.command("execute/async", {"script": WAIT, "args": [expression]})

    def next_frame(self) -> None:
        """Wait until the page has drawn what was asked of it."""
        twice = (
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )
        self.command("execute/async", {"script": twice, "args": []})

    def press(self, *keys: str) -> None:
        """Press keys one after the other; "Shift+a" holds the first while the last is pressed."""
        for chord in keys:
            parts = [chord] if chord == "+" else chord.split("+")
            codes = [KEYS.get(part, part) for part in parts]
            down = [{"type": "keyDown", "value": code} for code in codes]
            up = [{"type": "keyUp", "value": code} for code in reversed(codes)]
            self.act([{"type": "key", "id": "keyboard", "actions": down + up}])

    def type_into(self, selector: str, *keys: str) -> None:
        """Focus an element and press keys in it."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.press(*keys)

    def choose(self, selector: str, value: str, number: int = 0) -> None:
        """Choose an option of a list, one of those that a selector finds, as a user does."""
        script = """
            const list = document.querySelectorAll(arguments[0])[arguments[2]];
            list.value = arguments[1];
            list.dispatchEvent(new Event("change"));
        """
        self.run(script, selector, value, number)

    def move(self, selector: str, x: int = 0, y: int = 0) -> None:
        """Move the mouse to a point, in pixels from the middle of an element."""
        self.act([self.mouse([self.to(selector, x, y)])])

    def click(self, selector: str, times: int = 1, held: str = "") -> None:
        """Click the middle of an element with the mouse, while a key such as "Shift" is held."""
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        for kind in ("keyDown", "keyUp"):
            if held:
                key = {"type": kind, "value": KEYS[held]}
                self.act([{"type": "key", "id": "keyboard", "actions": [key]}])
            if kind == "keyDown":
                self.act([self.mouse([self.to(selector, 0, 0), *press * times])])

    def to(self, selector: str, x: int, y: int) -> dict[str, object]:
        """Return the movement of a mouse to an element that a CSS selector finds."""
        found = self.command("element", {"using": "css selector", "value": selector})
        origin = {ELEMENT: found[ELEMENT]}
        return {"type": "pointerMove", "duration": 0, "origin": origin, "x": x, "y": y}

    @staticmethod
    def mouse(actions: Sequence[Mapping[str, object]]) -> dict[str, object]:
        """Return actions as those of a mouse."""
        kind = {"pointerType": "mouse"}
        return {"type": "pointer", "id": "mouse", "parameters": kind, "actions": list(actions)}

    def act(self, actions: Sequence[Mapping[str, object]]) -> None:
        """Do what a user does with keyboard and mouse."""
        self.command("actions", {"actions": list(actions)})

    def develop(self, name: str, **parameters: object) -> Any:
        """Send a command of the DevTools protocol, such as Emulation.setEmulatedMedia."""
        return self.command("goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page a width and a height in CSS pixels."""
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.develop("Emulation.setDeviceMetricsOverride", **sizes)

    def prefer(self, scheme: str) -> None:
        """Prefer a "light" or a "dark" page."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.develop("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path: Path) -> None:
        """Write a picture of what is in view as PNG."""
        path.write_bytes(base64.b64decode(self.call("GET", f"{self.session}/screenshot")))

    def logged(self, kind: str) -> list[dict[str, Any]]:
        """Return what was logged since the last time: kind "browser" or "performance"."""
        found: list[dict[str, Any]] = self.command("se/log", {"type": kind})
        return found

    def console(self) -> list[str]:
        """Return the messages of the console since the last time: errors, refusals, logs."""
        return [f"{one['level']}: {one['message']}" for one in self.logged("browser")]

    def refusals(self) -> list[str]:
        """Return the messages of the console on what the page's policy has refused."""
        return [one for one in self.console() if re.search("Content.Security.Policy", one)]

    def requests(self) -> list[str]:
        """Return the addresses that were requested since the last time, without the page itself."""
        messages = (json.loads(one["message"])["message"] for one in self.logged("performance"))
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent if one.get("type") != "Document"]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser with an empty profile and end it; if it is not here the test is skipped."""
    if engine := os.environ.get("TEST_BROWSER"):
        from tests.view.engines import open_window

        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            open_window(Path(folder), engine) as window,
        ):
            yield window
        return
    if not (CHROMIUM and DRIVER):
        pytest.skip("skipped: chromium is not here")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, driver(folder) as port:
        browser = Browser(port, Path(folder, "profile"))
        try:
            yield browser
        finally:
            browser.call("DELETE", browser.session)
            browser.connection.close()


@contextmanager
def driver(folder: str) -> Iterator[int]:
    """Start chromedriver, yield the port that it prints, and end it."""
    environment = os.environ | {"HOME": folder, "TMPDIR": folder}
    with subprocess.Popen(
        [str(DRIVER), "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        started = next(line for line in process.stdout if "successfully on port" in line)
        try:
            yield int(started.rstrip(".\n").rsplit(" ", 1)[1])
        finally:
            process.terminate()
