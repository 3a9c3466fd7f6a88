"""A search in a thread that answers when it is told to, so that tests decide what is late."""

import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from transduce.serve.messages import Cancel, Found, Ready, Sentence

FACTS = Ready("fake", "en", "de", "", 4, 3)  # at most three sentences at once


class FakeSearch:
    """Starts searches that translate "x" to "[x]" while `gate` is open; `seen` has all texts."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.gate, self.seen, self.facts = threading.Event(), list[str](), FACTS
        self.cancelled, self.pipes = set[int](), list[Any]()
        self.came = threading.Semaphore(0)  # released with each sentence and each cancellation
        if is_open:
            self.gate.set()

    def __call__(self, _load: object) -> Any:
        ours, theirs = Pipe()
        threading.Thread(target=self.run, args=(theirs,), daemon=True).start()
        return ours, None

    def run(self, pipe: "Connection[Any, Any]") -> None:
        try:
            pipe.send(self.facts)
            self.pipes.append(pipe)
            self.answer(pipe)
        except (EOFError, OSError):
            pipe.close()

    def answer(self, pipe: "Connection[Any, Any]") -> None:
        waiting = list[Sentence]()
        while True:
            if pipe.poll(0.002):
                order = pipe.recv()
                if isinstance(order, Cancel):
                    self.cancelled |= order.numbers
                    waiting = [one for one in waiting if one.number not in order.numbers]
                else:
                    self.seen.append(order.text)
                    waiting.append(order)
                self.came.release()
            elif waiting and self.gate.is_set():
                first = waiting.pop(0)
                pipe.send(Found(first.number, ((f"[{first.text}]", -1.0, -1.0),)))

    def die(self) -> None:
        """End the search that was started last, as a crash ends a process."""
        self.pipes[-1].close()

    def wait_for(self, count: int) -> None:
        """Wait until so many sentences and cancellations have come."""
        for _ in range(count):
            assert self.came.acquire(timeout=30)
