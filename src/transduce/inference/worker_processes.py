"""Translating in several processes: each loads the models for itself and takes blocks of lines.

The text is that of one process, for it depends neither on blocks nor on company. A process that
is lost ends all others; when the one that began them is gone, the rest hear no more and end.
"""

import itertools
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import final

from transduce.errors import LostProcessError, TransduceError
from transduce.inference.lines import Line, blocks
from transduce.inference.translator import Output, Translator

BLOCK = 250  # lines that a worker takes at once: enough of like lengths, and a share for everyone
AHEAD = 8  # blocks for each worker that are begun before the earliest is done

Load = Callable[[], Translator]
Answer = list[list[Output]] | tuple[type[TransduceError], str, str]  # or an error, its fact, hint


@final
@dataclass(frozen=True)
class Worker:
    """A process at work, and the way to it."""

    number: int
    process: SpawnProcess
    way: "Connection[list[Line], Answer]"


def translated(
    load: Load, lines: Iterable[Line], nbest: int, workers: int
) -> Generator[list[Output], None, None]:
    """The outputs of every line, in order. `load` is called in each process."""
    work = enumerate(blocks(lines, BLOCK))
    with start_workers(load, nbest, workers) as staff:
        answers: dict[int, Answer] = {}
        tasks: dict[int, int] = {}  # the block that a worker works at
        for wanted in itertools.count():
            while wanted not in answers:
                idle = [one for one in staff if one.number not in tasks]
                room = AHEAD * workers - len(answers) - len(tasks)
                for one, (number, some) in zip(idle[:room], work, strict=False):
                    tasks[one.number] = number
                    give(one, some)
                if not tasks:
                    return
                for one, answer in heard(staff):
                    answers[tasks.pop(one.number)] = answer
            yield from said(answers.pop(wanted))


@contextmanager
def start_workers(load: Load, nbest: int, workers: int) -> Iterator[list[Worker]]:
    """So many processes, all ended in the end."""
    context, staff = multiprocessing.get_context("spawn"), list[Worker]()
    try:
        for number in range(1, workers + 1):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs, load, nbest), daemon=True)
            with interrupts_held():
                process.start()
            theirs.close()  # so that its death closes the way
            staff.append(Worker(number, process, ours))
        yield staff
    finally:
        for one in staff:
            one.process.kill()
            one.process.join()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """A Ctrl-C in between is heard after it, and never by a process that is begun in between."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(way: "Connection[Answer, list[Line]]", load: Load, nbest: int) -> None:
    """A worker's life: lines come, outputs go, until nobody is there."""
    translator = None
    while True:
        try:
            lines = way.recv()
        except (EOFError, OSError):
            return
        answer: Answer
        try:
            translator = translator or load()
            answer = list(translator.block(lines, nbest))
        except TransduceError as error:
            answer = (type(error), error.fact, error.hint)
        try:
            way.send(answer)
        except OSError:
            return


def give(worker: Worker, lines: list[Line]) -> None:
    """Lines to a worker."""
    try:
        worker.way.send(lines)
    except OSError:
        raise lost(worker) from None


def heard(staff: Sequence[Worker]) -> Iterator[tuple[Worker, Answer]]:
    """The answers of all that have one, at least of one."""
    by_way = {one.way: one for one in staff}
    for way in wait(list(by_way)):
        worker = by_way[way]  # type: ignore[index]  # only ways were waited for
        try:
            yield worker, worker.way.recv()
        except (EOFError, OSError):
            raise lost(worker) from None


def lost(worker: Worker) -> LostProcessError:
    """How a worker ended."""
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return LostProcessError(
        f"worker {worker.number} (process {worker.process.pid}) {how}",
        "the others were ended, too; with fewer --workers each has more memory",
    )


def said(answer: Answer) -> list[list[Output]]:
    """A worker's outputs, or its error as ours."""
    if isinstance(answer, tuple):
        kind, fact, hint = answer
        raise kind(fact, hint)
    return answer
