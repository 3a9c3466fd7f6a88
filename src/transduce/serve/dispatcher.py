"""Gives the sentences of a model's requests to its search processes, and replaces dead ones"""

import asyncio
import logging
import os
import select
import socket
import struct
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, final

from transduce.errors import FolderError, LostProcessError, TransduceError, find_exhaustion
from transduce.serve.interface import Limits, Refusal, bad_request, unavailable
from transduce.serve.messages import (
    Alive,
    Answer,
    AttentionRequest,
    Cancel,
    Failed,
    LoadFailure,
    Order,
    Page,
    Ping,
    Ready,
    SentenceOutputs,
    TranslationOrder,
)
from transduce.serve.search_process import Load

LOG = logging.getLogger("transduce.serve")
Work = TranslationOrder | AttentionRequest
Start = Callable[[Load], tuple["Connection[Order, Answer]", BaseProcess | None]]
TRIES = 2  # a sentence is refused when this many processes have ended during its search
SEND_TIMEOUT = struct.pack("ll", 1, 0)  # a timeval: one second
MEMORY = "is there memory?"  # the hint for a process that ended without an error


@final
@dataclass(eq=False)
class Job:
    """One request's parts (`orders`, such as its sentences), and the answers received so far."""

    orders: Sequence[Work]
    waiting: deque[Work]  # the orders that no process has yet
    finished: "asyncio.Future[list[SentenceOutputs | Page]]"
    answers: dict[int, SentenceOutputs | Page] = field(default_factory=dict)
    losses: Counter[int] = field(default_factory=Counter)  # processes that ended, by order id


@final
class SearchClient:
    """A search process and the server's end of its pipe, which the event loop reads.

    `on_answer` is called with each answer; `on_end` is called once if the process ends by itself,
    or is killed because it hangs.
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
        self.pinged: float | None = None  # when the ping was sent, unless it has been answered
        with socket.socket(fileno=os.dup(pipe.fileno())) as end:  # limits waits at a full pipe
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SEND_TIMEOUT)
        self.readable = select.poll()  # `pipe.poll` builds this at each call: 20 times slower
        self.readable.register(pipe.fileno(), select.POLLIN)

    def send(self, order: Order) -> None:
        """Send an order; if the process has ended or stops reading, `on_end` is called soon."""
        try:
            self.pipe.send(order)
        except BlockingIOError:  # the pipe is full: the process has read nothing for a second
            self.kill()
        except OSError:
            self.loop.call_soon(self.read)

    def ping(self, most: float) -> bool:
        """Send a ping unless one is pending; return whether it is at most `most` seconds old."""
        now = self.loop.time()
        if self.pinged is None:
            self.pinged = now
            self.send(Ping())
        return now - self.pinged <= most

    def kill(self) -> None:
        """If the pipe is open, close it and kill the process; `on_end` is called soon after."""
        if self.is_open:
            self.close()
            if self.process is not None:
                self.process.kill()
            self.loop.call_soon(self.on_end, self)

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
        """Kill the process and wait for its end."""
        self.close()
        if self.process is not None:
            self.process.kill()
            self.process.join()


@final
class Dispatcher:
    """One model's search processes, and the queue of jobs whose sentences they translate.

    A process that can take a sentence gets one of each job in turn, so that a long text does not
    delay a short one.
    """

    def __init__(
        self,
        load: Load,
        start: Start,
        limits: Limits,
        workers: int = 1,
        pair: tuple[str, str] | None = None,
        on_message: Callable[[str], None] = LOG.warning,
    ) -> None:
        self.load, self.start_process, self.limits, self.workers = load, start, limits, workers
        self.on_message = on_message  # called with sentences about processes that ended
        self.pair = pair  # source and target language; by default those of the loaded model
        self.facts: Ready | None = None
        self.clients: dict[SearchClient, dict[int, tuple[Job, Work]]] = {}  # by order id
        self.starting: dict[SearchClient, asyncio.Future[Ready]] = {}
        self.turns = deque[Job]()  # jobs with waiting sentences
        self.jobs = set[Job]()
        self.ids = count(1)
        self.delay = limits.restart_seconds  # seconds until the next restart
        self.restarts = 0
        self.is_closed = False
        self.tasks = set[asyncio.Task[Any]]()

    @property
    def waiting(self) -> int:
        """The number of sentences in the queue, not yet sent to a search process."""
        return sum(len(job.waiting) for job in self.turns)

    @property
    def running(self) -> int:
        """The number of sentences sent to the search processes and not finished yet."""
        return sum(map(len, self.clients.values()))

    async def start(self) -> Ready:
        """Start all processes; return the model's description once all have loaded it."""
        facts = (await asyncio.gather(*(self.start_one() for _ in range(self.workers))))[0]
        self.run_task(self.watch())
        return facts

    def run_task(self, act: Coroutine[Any, Any, None]) -> None:
        """Start a coroutine as a task, which is cancelled when the dispatcher is closed."""
        task = asyncio.ensure_future(act)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def watch(self) -> None:
        """Ping every process now and then; kill one that does not answer in time.

        Otherwise a process that is stopped (SIGSTOP) or hangs would count as one that translates.
        """
        most = self.limits.hang_seconds
        while True:
            await asyncio.sleep(most / 10)
            for client in list(self.clients):
                if not client.ping(most):
                    name = " to ".join(self.pair or ())
                    self.on_message(
                        f"warning: {name}: a search process has not answered for {most:.0f} "
                        "seconds, and is killed"
                    )
                    client.kill()

    async def start_one(self) -> Ready:
        """Start a process and wait until it has loaded the model; raise an error if that fails."""
        client = SearchClient(*self.start_process(self.load), self.handle_answer, self.handle_loss)
        self.starting[client] = asyncio.get_running_loop().create_future()
        facts = await self.starting[client]
        if self.starting.pop(client, None) is None:
            raise LostProcessError("a search process ended when it had loaded the model", MEMORY)
        self.pair = self.pair or (facts.source, facts.target)
        if self.pair != (facts.source, facts.target):
            client.close()
            await asyncio.to_thread(client.end)
            fact = f"{facts.name} translates {facts.source} to {facts.target}"
            raise FolderError(fact, f"a model from {self.pair[0]} to {self.pair[1]} is needed")
        if not self.clients:
            self.facts = facts
        elif self.facts and facts.hash != self.facts.hash:  # an old model and a new one
            self.facts = replace(self.facts, hash="")  # so that `FolderWatch` replaces both
        self.clients[client] = {}
        self.feed()
        return facts

    def submit(self, orders: Sequence[Work]) -> Job:
        """Give each order of a request an id, queue them as one job, and return the job."""
        orders = [replace(one, id=next(self.ids)) for one in orders]
        job = Job(orders, deque(orders), asyncio.get_running_loop().create_future())
        self.jobs.add(job)
        self.turns.append(job)
        self.feed()
        self.complete(job)
        return job

    def feed(self) -> None:
        """Send waiting orders to processes that can take more, one of each job in turn."""
        while self.turns and (client := self.find_free_client()):
            job = self.turns.popleft()
            if not job.waiting:
                continue
            order = job.waiting.popleft()
            self.clients[client][order.id] = job, order
            client.send(order)
            if job.waiting:
                self.turns.append(job)

    def find_free_client(self) -> SearchClient | None:
        """Return the process with the fewest sentences, or None if none can take more."""
        if not self.clients or self.facts is None:
            return None
        client = min(self.clients, key=lambda one: len(self.clients[one]))
        return client if len(self.clients[client]) < self.facts.capacity else None

    def handle_answer(self, client: SearchClient, answer: Answer) -> None:
        """Handle an answer: model loaded or unloadable, ping answered, order done or failed.

        The answer to an order is dropped if its job was cancelled.
        """
        match answer:
            case Ready():
                self.starting[client].set_result(answer)
                return
            case Alive():
                client.pinged = None
                return
            case LoadFailure():
                starting = self.starting.pop(client)
                client.close()
                starting.set_exception(answer.kind(answer.fact, answer.hint))
                return
        self.delay = self.limits.restart_seconds
        job, _ = self.clients[client].pop(answer.id, (None, None))
        if isinstance(answer, Failed):
            fact = f"this text could not be translated: {answer.fact}"
            error = unavailable(fact) if answer.is_server_fault else bad_request(answer.fact)
            if job is not None:
                self.fail(job, error)
        elif job is not None:
            job.answers[answer.id] = answer
            self.complete(job)
        self.feed()

    def complete(self, job: Job) -> None:
        """Set the result of a job if all its orders are answered."""
        if len(job.answers) == len(job.orders):
            self.jobs.discard(job)
            if not job.finished.done():
                job.finished.set_result([job.answers[one.id] for one in job.orders])

    def fail(self, job: Job, error: Refusal) -> None:
        """End a job with the refusal `error`, unless it has already ended."""
        if not job.finished.done():
            job.finished.set_exception(error)
        self.cancel(job)

    def cancel(self, job: Job) -> None:
        """End a job and remove its sentences from the queue and from the searches."""
        if job not in self.jobs:
            return  # it has ended, and nothing of it is left
        job.finished.cancel()  # has no effect on a finished future
        self.jobs.discard(job)
        job.waiting.clear()
        with suppress(ValueError):
            self.turns.remove(job)
        for client, orders in list(self.clients.items()):
            ids = frozenset(n for n, (owner, _) in orders.items() if owner is job)
            if ids:
                self.clients[client] = {n: orders[n] for n in orders.keys() - ids}
                client.send(Cancel(ids))
        self.feed()

    def handle_loss(self, client: SearchClient) -> None:
        """Replace a dead process and requeue its orders; fail a job if an order is lost twice.

        If the process was still loading its model, `start_one` raises LostProcessError instead.
        """
        if client in self.starting:
            starting = self.starting.pop(client)
            if not starting.done():  # Ctrl-C may have cancelled it
                fact = "a search process ended while it loaded the model"
                starting.set_exception(LostProcessError(fact, MEMORY))
            return
        if not self.is_closed:
            self.run_task(self.restart())
        for order_id, (job, order) in sorted(self.clients.pop(client).items(), reverse=True):
            if job not in self.jobs:
                continue  # it was refused for another of its sentences
            job.losses[order_id] += 1
            if job.losses[order_id] == TRIES:
                self.fail(job, unavailable("the search ended unexpectedly"))
                continue
            job.waiting.appendleft(order)
            if job not in self.turns:
                self.turns.appendleft(job)
        self.feed()

    async def restart(self) -> None:
        """Replace a process that ended; double the wait each time, until a sentence is answered."""
        name = " to ".join(self.pair or ())
        self.on_message(f"warning: {name}: a search process ended, and another one is started")
        while True:
            await asyncio.sleep(self.delay)
            self.delay = min(2 * self.delay, self.limits.longest_restart_seconds)
            self.restarts += 1
            try:
                await self.start_one()
            except Exception as error:  # noqa: BLE001 - whatever it was, requests need a process
                fact = describe_fault(error)
                self.on_message(
                    f"warning: {name}: no search process could be started: {fact}; "
                    f"the next try is in {self.delay:.1f} seconds"
                )
            else:
                self.on_message(f"{name}: a search process was started again")
                return

    def refuse_all(self) -> None:
        """Refuse all unfinished jobs, since the server stops."""
        for job in list(self.jobs):
            self.fail(job, unavailable("the server stops"))

    async def close(self) -> None:
        """End all processes, and refuse the jobs that are not finished."""
        self.is_closed = True
        self.refuse_all()
        for task in self.tasks:
            task.cancel()
        clients = [*self.clients, *self.starting]
        for client in clients:
            client.close()
        await asyncio.gather(*(asyncio.to_thread(client.end) for client in clients))


def describe_fault(error: Exception) -> str:
    """Return a sentence that says why a search process could not be started."""
    known = error if isinstance(error, TransduceError) else find_exhaustion(error)
    return known.fact if known else f"{type(error).__name__}: {error}"
