"""Worker processes that each load the models and carry out requests, such as to translate a block

The outputs equal those of one process, since they depend neither on blocks nor, except in bfloat16,
on batches. If a worker dies, all others are killed; if the launcher dies, each worker sees its pipe
close and exits. The number of processes is given, or follows from idle cores and free memory.
"""

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar, final

from transduce.errors import LostProcessError, TransduceError, find_exhaustion

AHEAD = 8  # requests per worker that may be taken from the input while the oldest is unfinished

Model = TypeVar("Model")
Result = TypeVar("Result")
Load = Callable[[], Model]
Request = Callable[[Model], Result]  # pickled, and called in a worker with the result of `load`


@final
@dataclass(frozen=True)
class Worker(Generic[Model, Result]):
    """A worker process, its number from 1, and the launcher's end of the pipe to it."""

    number: int
    process: SpawnProcess
    pipe: "Connection[Request[Model, Result], Result | TransduceError]"


def run_in_workers(
    load: Load[Model], requests: Iterable[Request[Model, Result]], workers: int
) -> Generator[Result, None, None]:
    """Yield each request's result in order, or raise its error; each worker calls `load` once.

    There are no more workers than requests.
    """
    unread = iter(requests)
    first = list(itertools.islice(unread, workers))
    workers, waiting = len(first), enumerate(itertools.chain(first, unread))
    with start_workers(load, workers) as staff:
        answers: dict[int, Result | TransduceError] = {}
        running: dict[int, int] = {}  # number of a busy worker -> number of its request
        for wanted in itertools.count():
            while wanted not in answers:
                idle = [worker for worker in staff if worker.number not in running]
                room = AHEAD * workers - len(answers) - len(running)
                for worker, (number, request) in zip(idle[:room], waiting, strict=False):
                    running[worker.number] = number
                    send_request(worker, request)
                if not running:
                    return
                for worker, received in receive_answers(staff):
                    answers[running.pop(worker.number)] = received
            answer = answers.pop(wanted)
            if isinstance(answer, TransduceError):
                raise answer
            yield answer


@contextmanager
def start_workers(load: Load[Model], workers: int) -> Iterator[list[Worker[Model, Any]]]:
    """Start `workers` processes for a with block, yield them, and kill them at its end."""
    staff = list[Worker[Model, Any]]()
    try:
        for number in range(1, workers + 1):
            pipe, process = start_with_pipe(serve_requests, load)
            staff.append(Worker(number, process, pipe))
        yield staff
    finally:
        for worker in staff:
            worker.process.kill()
            worker.process.join()


def start_with_pipe(
    serve: Callable[["Connection[Any, Any]", Load[Model]], None], load: Load[Model]
) -> tuple["Connection[Any, Any]", SpawnProcess]:
    """Start a process to call `serve(pipe, load)`; return our end of the pipe and the process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, load), daemon=True)
    with block_interrupts():
        process.start()
    theirs.close()  # so that the end of either process closes the pipe
    return ours, process


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Delay Ctrl-C and SIGHUP until a with block ends; processes started inside never get them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve_requests(
    pipe: "Connection[Result | TransduceError, Request[Model, Result]]", load: Load[Model]
) -> None:
    """In a worker process, answer requests until the launcher closes its end of the pipe."""
    model = None
    while True:
        try:
            request = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Result | TransduceError
        try:
            model = model or load()
            answer = request(model)
        except TransduceError as error:
            answer = error
        except Exception as error:
            if not (exhaustion := find_exhaustion(error)):
                raise
            answer = exhaustion
        try:
            pipe.send(answer)
        except OSError:
            return


def send_request(worker: Worker[Model, Result], request: Request[Model, Result]) -> None:
    """Send a request to an idle worker, or raise LostProcessError if the worker is gone."""
    try:
        worker.pipe.send(request)
    except OSError:
        raise build_lost_worker_error(worker) from None


def receive_answers(
    workers: Sequence[Worker[Model, Result]],
) -> Iterator[tuple[Worker[Model, Result], Result | TransduceError]]:
    """Wait for the next answers; yield (worker, answer) each; LostProcessError if a worker died."""
    by_pipe = {worker.pipe: worker for worker in workers}
    for pipe in wait(list(by_pipe)):
        worker = by_pipe[pipe]  # type: ignore[index]  # `wait` was given only pipes
        try:
            yield worker, worker.pipe.recv()
        except (EOFError, OSError):
            raise build_lost_worker_error(worker) from None


def build_lost_worker_error(worker: Worker[Model, Result]) -> LostProcessError:
    """Return an error that names a dead worker and the signal or exit code that ended it."""
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return LostProcessError(
        f"worker {worker.number} (process {worker.process.pid}) {how}",
        "the others were ended, too; with fewer --workers each has more memory",
    )


WORKER_BYTES = 200_000_000  # memory of a process without its models: Python, torch, a batch
LINES_PER_WORKER = 1_000  # with fewer lines, starting a process costs more than it saves


def choose_workers(
    lines: int, cores: int, load: float, free_memory: float, model_bytes: int
) -> int:
    """Return the number of workers for `lines` lines, given cores, load average and memory.

    It is one for each core that is idle by the load average, at least 1, at most one for each
    LINES_PER_WORKER lines, and at most what fits into `free_memory` bytes with a model each.
    """
    idle = int(cores - load + 0.5)
    in_memory = free_memory / (model_bytes + WORKER_BYTES)
    return int(max(1, min(idle, lines // LINES_PER_WORKER, in_memory)))


def estimate_own_load(cores: int) -> float:
    """Estimate the load on this process's cores, as if all other cores were busy."""
    others = (os.cpu_count() or cores) - cores
    return max(0.0, os.getloadavg()[0] - others)
