"""A search process: it loads one model and carries out orders from a pipe until that closes."""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, final

from transduce.errors import TransduceError
from transduce.inference.workers import start_with_pipe
from transduce.serve.messages import Answer, LoadFailure, Order, Ready
from transduce.settings.recipe import shorten_name

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

Load = Callable[[], "Translator"]


@final
@dataclass(frozen=True)
class ModelChoice:
    """A model folder and settings to load it with; calling the object loads the model."""

    folder: Path
    search: dict[str, Any] = field(default_factory=dict)
    precision: str = "float32"
    threads: int = 1
    languages: tuple[str, ...] | None = None  # language codes that replace the model's
    keep: bool = True  # whether placeholders, URLs and so on come back as they were

    def __call__(self) -> "Translator":
        """Return the loaded and verified model; refuse one whose task is not text to text."""
        from transduce.inference.load import load
        from transduce.inference.translator import load_for_long_searches
        from transduce.runs.text_names import name_languages
        from transduce.tasks import TextToText, require_task

        read = partial(load, self.folder, precision=self.precision, keep=self.keep)
        found = load_for_long_searches(read, self.threads).searching(**self.search)
        require_task(found.task, TextToText, found.recipe.data, f"{self.folder}: a server")
        if self.languages is not None:
            found = replace(found, recipe=name_languages(found.recipe, self.languages))
        return found


def start_search_process(load: Load) -> tuple["Connection[Order, Answer]", BaseProcess]:
    """Start a process that loads a model by `load`; return the pipe to it, and the process."""
    return start_with_pipe(run_search_process, load)


def run_search_process(pipe: "Connection[Answer, Order]", load: Load) -> None:
    """Load a model and search until the pipe closes; ignore SIGINT, SIGTERM and SIGHUP.

    The server's process handles these signals, and closes the pipe after the last answer.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # the server is gone
        serve_searches(pipe, load)


def serve_searches(pipe: "Connection[Answer, Order]", load: Load) -> None:
    """Load a model; receive orders and send answers through a pipe until it closes."""
    from transduce.serve.search_worker import SearchWorker

    try:
        worker = SearchWorker(load(), pipe.send)
    except TransduceError as error:
        pipe.send(LoadFailure(type(error), error.fact, error.hint))
        return
    pipe.send(describe_model(worker.translator))
    inbox = SimpleQueue[Order | None]()

    def read_orders() -> None:  # so that the pipe is never full, and the server never waits for it
        with suppress(EOFError, OSError):
            while True:
                inbox.put(pipe.recv())
        inbox.put(None)

    Thread(target=read_orders, daemon=True).start()
    while True:
        for order in take_orders(inbox, is_waiting=worker.is_idle):
            if order is None:
                return
            worker.receive(order)
        worker.step()


def describe_model(translator: "Translator") -> Ready:
    """Return a loaded model's name, languages, hash, beam and capacity for the server."""
    recipe, hashes = translator.recipe, translator.hashes
    return Ready(
        shorten_name(recipe.name),
        recipe.data.source_language,
        recipe.data.target_language,
        hashes[0] if hashes else "",
        recipe.search.beam,
        recipe.search.batch_size,
    )


def take_orders(inbox: "SimpleQueue[Order | None]", *, is_waiting: bool) -> Iterator[Order | None]:
    """Yield the inbox's orders, and None once the pipe closed; if `is_waiting`, wait for one."""
    with suppress(Empty):
        if is_waiting:
            yield inbox.get()
        while True:
            yield inbox.get_nowait()
