"""The server's side of one search process: it sends orders and passes the answers on."""

import asyncio
import select
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import final

from transduce.serve.messages import Answer, Order


@final
class SearchClient:
    """A search process and the server's end of its pipe, which the event loop reads.

    `on_answer` is called with each answer; `on_end` is called once if the process ends by itself.
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
        self.readable = select.poll()  # `pipe.poll` builds one each time, which costs 20 times more
        self.readable.register(pipe.fileno(), select.POLLIN)

    def send(self, order: Order) -> None:
        """Send an order to the process, whose end, if it has ended, is reported a moment later."""
        try:
            self.pipe.send(order)
        except OSError:
            self.loop.call_soon(self.read)

    def read(self) -> None:
        """Pass all received answers to `on_answer`; call `on_end` if the process has ended."""
        try:
            while self.is_open and self.readable.poll(0):
                self.on_answer(self, self.pipe.recv())
        except (EOFError, OSError):
            if self.is_open:
                self.close()
                self.on_end(self)

    def close(self) -> None:
        """Close the pipe; the process then ends after its current search step."""
        if self.is_open:
            self.is_open = False
            self.loop.remove_reader(self.pipe.fileno())
            self.pipe.close()

    def end(self) -> None:
        """Kill the process and wait for its end; the server still has all its sentences."""
        self.close()
        if self.process is not None:
            self.process.kill()
            self.process.join()
