"""A search in a thread that answers when it is told to, so that tests decide what is late."""

import threading
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from transduce.serve.interface import Details
from transduce.serve.messages import (
    Alive,
    AttentionRequest,
    Cancel,
    Page,
    Ping,
    Ready,
    SentenceOutputs,
    TranslationOrder,
)

HIDDEN = "a hidden text"
DETAILS = Details(source_pieces=[], target_pieces=[], log_probs=[], alignment=[], weights=[])
FACTS = Ready("fake", "en", "de", "", 4, 3)  # at most three sentences at once


class FakeSearch:
    """Starts searches that translate "x" to "[x]" while `gate` is open; `seen` has all texts.

    Searches that start while `facts` is None never tell that they are ready. The server fails at
    the answers of searches that have `breaks`.
    """

    def __init__(self, *, is_open: bool = True, breaks: bool = False) -> None:
        self.breaks, self.stopped = breaks, list[Any]()
        self.gate, self.seen = threading.Event(), list[str]()
        self.facts: Ready | None = FACTS
        self.begun = self.ended = 0
        self.cancelled, self.pipes = set[int](), list[Any]()
        self.came = threading.Semaphore(0)  # released with each sentence and each cancellation
        if is_open:
            self.gate.set()

    def __call__(self, _load: object) -> Any:
        ours, theirs = Pipe()
        self.pipes.append(theirs)
        threading.Thread(target=self.run, args=(theirs,), daemon=True).start()
        return ours, None

    def run(self, pipe: "Connection[Any, Any]") -> None:
        self.begun += 1
        try:
            if self.facts:
                pipe.send(self.facts)
            self.answer(pipe)
        except (EOFError, OSError):
            with suppress(OSError):  # `die` may be closing it
                pipe.close()
            self.ended += 1

    def answer(self, pipe: "Connection[Any, Any]") -> None:
        waiting = list[TranslationOrder | AttentionRequest]()
        while True:
            if pipe in self.stopped:
                time.sleep(0.002)
            elif pipe.poll(0.002):
                order = pipe.recv()
                if isinstance(order, Ping):
                    pipe.send(Alive())
                    continue
                if isinstance(order, Cancel):
                    self.cancelled |= order.ids
                    waiting = [one for one in waiting if one.id not in order.ids]
                else:
                    self.seen.append(order.text)
                    waiting.append(order)
                self.came.release()
            elif waiting and self.gate.is_set():
                pipe.send(self.do(waiting.pop(0)))

    def do(self, order: TranslationOrder | AttentionRequest) -> SentenceOutputs | Page:
        if isinstance(order, AttentionRequest):
            return Page(order.id, "<!doctype html>")
        score = Trap(-1.0) if self.breaks else -1.0
        details = DETAILS if order.is_detailed else None
        return SentenceOutputs(order.id, ((f"[{order.text}]", score, -1.0),), (), details)

    def die(self) -> None:
        """End the search that was started last, as a crash ends a process."""
        self.pipes[-1].close()

    def stop(self) -> None:
        """Make the search that was started last answer nothing at all, as SIGSTOP does."""
        self.stopped.append(self.pipes[-1])

    def wait_for(self, count: int) -> None:
        """Wait until so many sentences and cancellations have come."""
        for _ in range(count):
            assert self.came.acquire(timeout=30)


class Trap(float):
    """A score that the server cannot round: the error has a text."""

    def __round__(self, _digits: Any = None) -> Any:
        raise ValueError(HIDDEN)


def start_or_fail(start: Any, failures: list[Exception]) -> Any:
    """Return a function that raises the failures in turn, and then starts searches."""

    def raise_or_start(load: object) -> Any:
        if failures:
            raise failures.pop()
        return start(load)

    return raise_or_start
