"""A window of Firefox or WebKit with the methods of Browser; `TEST_BROWSER` names one.

Firefox needs no driver: it is sent its own Marionette protocol. WebKit is GTK's MiniBrowser by
WebKitWebDriver, in the display that DISPLAY names. What only Chromium offers skips a test.
"""

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.view.browser import Browser

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
FLAGS = ("--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile")
WEBKIT = shutil.which("WebKitWebDriver")
QUIET = subprocess.DEVNULL
SECONDS = 20  # until a condition, a port or a window size is given up
MARIONETTE = {  # Firefox's names of the protocol's commands
    "/url": "Navigate",
    "/element": "FindElement",
    "/execute/sync": "ExecuteScript",
    "/execute/async": "ExecuteAsyncScript",
    "/actions": "PerformActions",
    "/window/rect": "SetWindowRect",
    "/screenshot": "TakeScreenshot",
}
PREFERENCES = {
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "general.smoothScroll": False,  # a click in a page that still scrolls meets another element
    "intl.accept_languages": "en-GB",
    "ui.useOverlayScrollbars": 1,  # as in Chromium with --hide-scrollbars
}
MESSAGES = """
const errors = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError
  && /^(file|http|blob)/.test(one.sourceName) && !(one.flags & one.warningFlag));
Services.console.reset();
return errors.map((one) => `${one.sourceName} ${one.lineNumber}: ${one.errorMessage}`);
"""
NARROW = "document.documentElement.style.minWidth = 0"  # else no window is narrower than 500
SCROLL = """
const one = document.querySelector(arguments[0]), { top, bottom } = one.getBoundingClientRect();
const y = (top + bottom) / 2 + arguments[1];
if (y < 0 || y >= innerHeight) one.scrollIntoView({ block: "center" });
"""


class Window(Browser):
    """What Firefox and WebKit have in common: a window's own size, and no DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        self.profile, self.shown, self.session = profile, None, ""

    def forget(self) -> None:
        self.act([self.mouse([{"type": "pointerMove", "duration": 0, "x": 0, "y": 0}])])
        self.console()

    def reset(self) -> None:
        self.command("url", {"url": "about:blank"})
        self.resize(1280, 900)
        self.prefer("light")
        self.shown = None

    def wait(self, expression: str) -> None:
        until(lambda: self.run(f"return !!({expression})"), expression)

    def to(self, selector: str, x: int, y: int) -> dict[str, object]:
        self.run(SCROLL, selector, y)
        return super().to(selector, x, y)

    def develop(self, name: str, **_parameters: object) -> Any:
        if name != "Emulation.clearDeviceMetricsOverride":
            pytest.skip(f"skipped: {name} is Chromium's")
        self.resize(1280, 900)

    def resize(self, width: int, height: int = 900) -> None:
        outer = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.command("window/rect", {"width": width + outer[0], "height": height + outer[1]})
        try:
            until(lambda: self.run("return [innerWidth, innerHeight]") == [width, height], "size")
        except TimeoutError:
            pytest.skip(f"skipped: this window is never {width} x {height} pixels")

    def requests(self) -> list[str]:
        return list(self.run("return performance.getEntriesByType('resource').map(r => r.name)"))

    def logged(self, kind: str) -> list[dict[str, Any]]:
        pytest.skip(f"skipped: only Chromium has a log of kind {kind}")


class Firefox(Window):
    """A window of Firefox; a message is its length, a colon, and a list as JSON."""

    def __init__(self, port: int, profile: Path) -> None:
        super().__init__(profile)
        self.socket = until(lambda: connect(port), "Firefox listens")
        self.file = self.socket.makefile("rb")
        self.read()
        self.send("WebDriver:NewSession", {"timeouts": {"script": 1_000 * SECONDS}})
        self.inside(NARROW)
        self.reset()

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def read(self) -> Any:
        length = b""
        while (digit := self.file.read(1)) != b":":
            length += digit
        return json.loads(self.file.read(int(length)))

    def send(self, name: str, parameters: Mapping[str, Any]) -> Any:
        data = json.dumps([0, 1, name, parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(data), data))
        _, _, error, value = self.read()
        if error:
            raise RuntimeError(error["message"])
        return value["value"] if isinstance(value, dict) and set(value) == {"value"} else value

    def call(self, _method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.send(f"WebDriver:{MARIONETTE[path]}", body or {})

    def inside(self, script: str) -> Any:
        """Return what a script returns that runs in the browser, not in the page."""
        self.send("Marionette:SetContext", {"value": "chrome"})
        value = self.send("WebDriver:ExecuteScript", {"script": script, "args": []})
        self.send("Marionette:SetContext", {"value": "content"})
        return value

    def prefer(self, scheme: str) -> None:
        setting = "layout.css.prefers-color-scheme.content-override"
        self.inside(f"Services.prefs.setIntPref('{setting}', {int(scheme == 'light')})")

    def console(self) -> list[str]:
        return list(self.inside(MESSAGES))


class WebKit(Window):
    """A window of WebKitGTK, which tells nothing of its console and has one colour scheme."""

    def __init__(self, port: int, profile: Path) -> None:
        super().__init__(profile)
        until(lambda: connect(port), "WebKitWebDriver listens").close()
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        (program,) = Path("/usr/lib").glob("**/webkit2gtk-4.1/MiniBrowser")
        options = {"binary": str(program), "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options, "timeouts": {"script": 1_000 * SECONDS}}
        created = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{created['sessionId']}"
        self.reset()

    def close(self) -> None:
        self.call("DELETE", self.session)
        self.connection.close()

    def prefer(self, scheme: str) -> None:
        if scheme == "dark":
            pytest.skip("skipped: WebKit's windows are light")

    def console(self) -> list[str]:
        return []

    def refusals(self) -> list[str]:
        pytest.skip("skipped: WebKit tells nothing of its console")


@contextmanager
def open_window(folder: Path, engine: str) -> Iterator[Window]:
    """Start Firefox ("firefox") or WebKit ("webkit"), yield its window, and end it."""
    program = {"firefox": FIREFOX, "webkit": WEBKIT}[engine]
    if not program:
        pytest.skip(f"skipped: {engine} is not here")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    profile = folder / "profile"
    profile.mkdir()
    set_all = (PREFERENCES | {"marionette.port": port}).items()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in set_all]
    (profile / "user.js").write_text("\n".join(lines))
    if engine == "firefox":
        command: list[str] = [program, *FLAGS, str(profile)]
        build: type[Firefox | WebKit] = Firefox
    else:
        command, build = [program, f"--port={port}"], WebKit
    own = {"HOME": str(folder), "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}  # root has none
    with subprocess.Popen(command, env=os.environ | own, stdout=QUIET, stderr=QUIET) as process:
        try:
            window = build(port, profile)
            yield window
            window.close()
        finally:
            process.terminate()


def connect(port: int) -> socket.socket | None:
    """Return a connection to a port of this machine, or None if nobody listens there."""
    try:
        return socket.create_connection(("127.0.0.1", port))
    except ConnectionRefusedError:
        return None


def until(ask: Callable[[], Any], what: str) -> Any:
    """Return the first true answer; raise TimeoutError if there is none in time."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.02)
    raise TimeoutError(f"not true in {SECONDS} seconds: {what}")
