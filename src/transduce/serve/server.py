"""Starts the server, runs it, and stops it after the requests that it has accepted."""

import asyncio
import logging
import re
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import uvicorn

from transduce.errors import InputError, short_repr
from transduce.machine.open_files import open_file_limit
from transduce.serve.app import build_app
from transduce.serve.dispatcher import Dispatcher, Start
from transduce.serve.guard import NAME
from transduce.serve.limits import Limits
from transduce.serve.messages import Ready
from transduce.serve.protocol import with_limits
from transduce.serve.replacement import FolderWatch
from transduce.serve.search_process import Load, ModelChoice, start_search_process
from transduce.serve.service import Pair, Service
from transduce.settings.fields import require

LOG = logging.getLogger("transduce.serve")
HOST = re.compile(rf"\*|{NAME}")
ORIGIN = re.compile(r"null|[a-z][a-z0-9+.-]*://[^A-Z/?#@\s]+")
MAX_HEAD = 16_384  # bytes of a request's head
KEEP_ALIVE_SECONDS = 5
OTHER_FILES = 128  # open files of the server that are no connections of clients
ANSWER_SECONDS = 1.0  # the last part of `stop_seconds`, in which late requests are refused


@final
@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """A server's address, API key, allowed hosts and origins, search processes and limits."""

    host: str = "127.0.0.1"
    port: int = 5000
    api_key: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    workers: int = 1  # search processes of each model
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        require(
            bool(self.host.strip()),
            "the address to listen at is empty (--host)",
            "127.0.0.1 for this machine only, 0.0.0.0 for all of its addresses",
        )
        if self.api_key is not None:
            require_key(self.api_key)
        for host in self.allowed_hosts:
            require(
                HOST.fullmatch(host) is not None,
                f"{host!r} is not the name of a host (--allow-host)",
                "the name alone, without scheme, port and path: translate.example.org",
            )
        for origin in self.allowed_origins:
            require(
                ORIGIN.fullmatch(origin) is not None,
                f"{origin!r} is not an origin as browsers send it (--allow-origin)",
                "scheme and host in lower case, without a path: https://example.org",
            )


def require_key(key: str) -> None:
    """Refuse an API key that no request can carry; an empty one would be no key at all."""
    hint = "give one without line ends and outer blanks, or no key at all"
    require(key != "", "the API key is empty (--api-key, TRANSDUCE_API_KEY)", hint)
    is_text = key.isprintable() and key == key.strip()
    require(is_text, "no request can carry this API key (--api-key, TRANSDUCE_API_KEY)", hint)


@final
class QuietServer(uvicorn.Server):
    """uvicorn's server without its signal handlers."""

    def capture_signals(self) -> Any:  # noqa: ANN401 - uvicorn's context manager
        """Return a context manager that handles no signal."""
        return nullcontext()


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at host and port; raise InputError if it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2_048)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        fact = f"{host}, port {port}, cannot be used: {reason.lower()}"
        raise InputError(fact, "--port 0 takes a free one") from error
    except (TypeError, ValueError) as error:  # letters that no name may have, or too many
        listener.close()
        raise InputError(f"--host {short_repr(host)} names no host", "0.0.0.0: any") from error
    return listener


async def serve(
    loads: Sequence[Load],
    settings: ServerSettings,
    on_ready: Callable[[str, Sequence[Ready]], None],
    *,
    start: Start = start_search_process,
    stop: asyncio.Event | None = None,
    on_message: Callable[[str], None] = LOG.warning,
) -> None:
    """Load models and answer requests until SIGTERM, Ctrl-C or the event `stop`.

    `on_ready` is called with the address and a description of each model; `on_message` with
    sentences about models that are replaced and search processes that are started again.
    """
    stop = stop or asyncio.Event()
    with bind(settings.host, settings.port) as listener:
        dispatchers = [
            Dispatcher(load, start, settings.workers, on_message=on_message) for load in loads
        ]
        try:
            facts = await asyncio.gather(*(one.start() for one in dispatchers))
            service = Service(name_pairs(dispatchers, facts), settings.limits)
            async with listen(service, settings, listener) as server:
                on_ready(find_address(listener), facts)
                watch = FolderWatch(service, list_folders(service), on_message)
                async with run_concurrently(watch.run()):
                    await run_until(stop, server, service)
        finally:
            await asyncio.gather(*(one.close() for one in dispatchers))


def list_folders(service: Service) -> dict[Pair, Path]:
    """Return the model folder of each language pair, for models that have a folder."""
    loads = {pair: one.load for pair, one in service.models.items()}
    return {pair: load.folder for pair, load in loads.items() if isinstance(load, ModelChoice)}


@asynccontextmanager
async def run_concurrently(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a coroutine during a with block, and cancel it at the end of the block."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def name_pairs(dispatchers: Sequence[Dispatcher], facts: Sequence[Ready]) -> dict[Pair, Dispatcher]:
    """Return a dict from language pair to dispatcher; refuse two models of one pair."""
    found: dict[Pair, Dispatcher] = {}
    for dispatcher, one in zip(dispatchers, facts, strict=True):
        pair = one.source, one.target
        if pair in found:
            fact = f"two models translate {one.source} to {one.target}"
            raise InputError(fact, "name one model for each pair of languages")
        found[pair] = dispatcher
    return found


@asynccontextmanager
async def listen(
    service: Service, settings: ServerSettings, listener: socket.socket
) -> AsyncIterator[QuietServer]:
    """Answer requests at a socket during a with block; at its end, finish accepted requests."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    app = build_app(
        service,
        api_key=settings.api_key,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
    )
    config = uvicorn.Config(
        app,
        http=with_limits(fit_open_files(settings.limits)),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.limits.stop_seconds),
    )
    server = QuietServer(config)
    running = asyncio.ensure_future(server.serve([listener]))
    try:
        yield server
    finally:
        server.should_exit = True
        await running


def fit_open_files(limits: Limits) -> Limits:
    """Return limits with no more connections than the process may open; at least one."""
    most = max(1, open_file_limit() - OTHER_FILES)
    return replace(limits, connections=int(min(limits.connections, most)))


async def run_until(stop: asyncio.Event, server: QuietServer, service: Service) -> None:
    """Wait for `stop` or a signal, then stop: refuse new requests now, and slow ones later."""
    loop = asyncio.get_running_loop()
    with handle_signals(loop, stop.set):
        await stop.wait()
    service.is_stopping = True
    late = service.limits.stop_seconds - ANSWER_SECONDS
    loop.call_later(late, service.stop_searches)
    server.should_exit = True


@contextmanager
def handle_signals(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> Any:  # noqa: ANN401
    """Call `act` at a signal that ends the server, in a with block; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def find_address(listener: socket.socket) -> str:
    """Return the URL of the page that is served at a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
