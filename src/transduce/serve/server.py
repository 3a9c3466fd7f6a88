"""Starts the server, runs it, and stops it after the requests that it has accepted."""

import asyncio
import errno
import hashlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import uvicorn

from transduce.durable.folder import MANIFEST, MANIFEST_LIMIT, read_regular
from transduce.errors import FolderError, InputError, TransduceError, short_repr
from transduce.machine.limits import open_file_limit
from transduce.serve.app import build_app
from transduce.serve.dispatcher import Dispatcher, Start, describe_fault
from transduce.serve.guard import ADDRESSES, ServerSettings
from transduce.serve.interface import Limits
from transduce.serve.messages import Ready
from transduce.serve.protocol import with_limits
from transduce.serve.search_process import Load, ModelChoice, start_search_process
from transduce.serve.service import Pair, Service

LOG = logging.getLogger("transduce.serve")
MAX_HEAD = 16_384  # bytes of a request's head
KEEP_ALIVE_SECONDS = 5
OTHER_FILES = 128  # open files of the server that are no connections of clients
# errors of a system that can open no more connections at this moment
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
ANSWER_SECONDS = 1.0  # the last part of `stop_seconds`, in which unfinished requests are refused


def tell_exhaustion_once(on_message: Callable[[str], None]) -> Callable[..., None]:
    """Return an asyncio exception handler that warns once when no connection can be opened.

    asyncio accepts connections again after a second. All other errors are handled as usual.
    """
    is_told = False

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal is_told
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in EXHAUSTED):
            loop.default_exception_handler(context)
        elif not is_told:
            is_told = True
            fact = f"some connections have to wait: {(error.strerror or '').lower()}"
            on_message(f"warning: {fact}; a higher limit (ulimit -n) admits more at once")

    return handle


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
        is_taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = "--port 0 takes a free one" if is_taken else ADDRESSES
        raise InputError(fact, hint) from error
    except (TypeError, ValueError) as error:  # letters that no name may have, or too many
        listener.close()
        raise InputError(f"--host {short_repr(host)} names no host", ADDRESSES) from error
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

    `on_ready` is called with the address and a description of each model; `on_message` with a
    sentence about a replaced model, a search process that ended, or connections that have to wait.
    """
    stop = stop or asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(tell_exhaustion_once(on_message))
    with bind(settings.host, settings.port) as listener:
        dispatchers = [
            Dispatcher(load, start, settings.limits, settings.workers, None, on_message)
            for load in loads
        ]
        try:
            facts = await asyncio.gather(*(one.start() for one in dispatchers))
            service = Service(name_pairs(dispatchers, facts), settings.limits)
            async with listen(service, settings, listener) as server:
                host, port = listener.getsockname()[:2]
                named = f"[{host}]" if ":" in host else host
                with handle_signals(asyncio.get_running_loop(), stop.set):
                    on_ready(f"http://{named}:{port}/", facts)
                    watching = asyncio.ensure_future(FolderWatch(service, on_message).run())
                    try:
                        await stop.wait()
                    finally:
                        watching.cancel()
                        with suppress(asyncio.CancelledError):
                            await watching
                # new requests are refused at once, unfinished ones later
                service.is_stopping = True
                late = service.limits.stop_seconds - ANSWER_SECONDS
                asyncio.get_running_loop().call_later(late, service.stop_searches)
                server.should_exit = True
        finally:
            await asyncio.gather(*(one.close() for one in dispatchers))


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
) -> AsyncIterator[uvicorn.Server]:
    """In a with block, yield a server that answers at a socket; at the end finish its requests."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        build_app(service, settings),
        http=with_limits(fit_open_files(settings.limits, open_file_limit())),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.limits.stop_seconds),
    )
    server = uvicorn.Server(config)
    # `serve` handles the signals
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    running = asyncio.ensure_future(server.serve([listener]))
    try:
        yield server
    finally:
        server.should_exit = True
        await running
        await service.close()


def fit_open_files(limits: Limits, files: float) -> Limits:
    """Return limits with no more connections than `files`, the open-file limit, allows."""
    return replace(limits, connections=int(min(limits.connections, max(1, files - OTHER_FILES))))


@contextmanager
def handle_signals(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> Any:  # noqa: ANN401
    """In a with block, call `act` on SIGTERM, Ctrl-C etc.; outside the main thread, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGXCPU]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


@final
class FolderWatch:
    """A watch over a service's model folders; if a folder changes, its new model replaces the old.

    A folder that cannot be used changes nothing: the model that was loaded from it stays in use.
    """

    def __init__(self, service: Service, on_message: Callable[[str], None]) -> None:
        self.service, self.on_message, self.limits = service, on_message, service.limits
        self.refused = dict[Pair, str]()  # hashes of manifests whose models could not be used
        self.delayed_until = dict[Pair, float]()  # by the monotonic clock

    async def run(self) -> None:
        """Check all folders every `limits.poll_seconds` until the task is cancelled."""
        loads = {pair: one.load for pair, one in self.service.models.items()}
        folders = {pair: one.folder for pair, one in loads.items() if isinstance(one, ModelChoice)}
        while True:
            await asyncio.sleep(self.limits.poll_seconds)
            for pair, folder in folders.items():
                if time.monotonic() < self.delayed_until.get(pair, 0.0):
                    continue
                try:
                    found = await asyncio.to_thread(hash_manifest, folder)
                except RuntimeError:  # no thread can be started now
                    continue
                facts = self.service.models[pair].facts
                if found and facts and found not in (facts.hash, self.refused.get(pair)):
                    await self.replace(pair, found)

    async def replace(self, pair: Pair, found: str) -> None:
        """Load a pair's new model, whose manifest hash is `found`; use it unless that fails."""
        old = self.service.models[pair]
        new = Dispatcher(
            old.load, old.start_process, self.limits, old.workers, pair, self.on_message
        )
        try:
            facts = await new.start()
        except Exception as error:  # noqa: BLE001 - whatever it was, the model in use stays
            fact = describe_fault(error)
            if isinstance(error, FolderError | InputError):
                self.refused[pair] = found
            else:  # not a fault of the folder
                self.delayed_until[pair] = time.monotonic() + self.limits.reload_seconds
                fact += f"; the next try is in {self.limits.reload_seconds:.0f} seconds"
            self.on_message(
                f"warning: the model from {pair[0]} to {pair[1]} stays as it was: {fact}"
            )
            await new.close()
            return
        except asyncio.CancelledError:
            await new.close()  # a process left running would keep the server from ending
            raise
        self.on_message(
            f"{pair[0]} to {pair[1]}: {facts.name}, sha256 {facts.hash[:12]}, is used now"
        )
        await self.service.swap(pair, new)


def hash_manifest(folder: Path) -> str:
    """Return the sha256 of a folder's manifest, "" without a manifest, or "unreadable: REASON".

    A run folder has no manifest. A file in place of the folder is unreadable. An error of the
    system, such as too many open files, also gives "".
    """
    try:
        if folder.is_dir() and not (folder / MANIFEST).exists():
            return ""
        return hashlib.sha256(read_regular(folder / MANIFEST, MANIFEST_LIMIT)).hexdigest()
    except FolderError as error:
        # a path that may not be searched exists for nobody
        is_forbidden = isinstance(error.__cause__, PermissionError)
        return f"unreadable: {error}" if is_forbidden or os.path.lexists(folder) else ""
    except PermissionError as error:
        return f"unreadable: {error}"
    except (TransduceError, OSError):  # not a fault of the folder
        return ""
