"""The server's end of one search process: it sends orders and hands the answers on."""

import asyncio
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import final

from transduce.serve.messages import Answer, Order


@final
class SearchClient:
    """A search process as the event loop sees it.

    `on_answer` is called with each answer, `on_end` once if the process ends unasked.
    """

    def __init__(
        self,
        pipe: "Connection[Order, Answer]",
        process: BaseProcess | None,
        on_answer: Callable[["SearchClient", Answer], None],
        on_end: Callable[["SearchClient"], None],
    ) -> None:
        self.pipe, self.process = pipe, process
        self.on_answer, self.on_end = on_answer, on_end
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(pipe.fileno(), self.read)
        self.is_open = True

    def send(self, order: Order) -> None:
        """Send an order; if the process has ended, `read` is about to find that out."""
        try:
            self.pipe.send(order)
        except OSError:
            self.loop.call_soon(self.read)

    def read(self) -> None:
        """Hand on all answers that have come, or the news that the process has ended."""
        try:
            while self.is_open and self.pipe.poll():
                self.on_answer(self, self.pipe.recv())
        except (EOFError, OSError):
            if self.is_open:
                self.close()
                self.on_end(self)

    def close(self) -> None:
        """Close the pipe, whereupon the process ends after the step that it is in."""
        if self.is_open:
            self.is_open = False
            self.loop.remove_reader(self.pipe.fileno())
            self.pipe.close()

    def end(self) -> None:
        """End the process at once: it holds nothing that is not in the server."""
        self.close()
        if self.process is not None:
            self.process.kill()
            self.process.join()
