"""Measure variants in turn, each in a worker process that waits for its turns.

A machine that others use is now faster, now slower. So variants are interleaved: each does the
same small piece of work, one after the other, again and again, forwards and backwards in turn, and
only ratios within such a round are compared.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from benchmarks import peers

ROOT = Path(__file__).parents[1]
Turn = dict[str, Any]  # what one turn measured


@final
@dataclass(frozen=True)
class Variant:
    """A variant of the work: a worker module of this folder with its arguments."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    peer: bool = False
    threads: int = 0  # 0: as many as the others

    def command(self) -> list[str]:
        """Return the command that starts its worker."""
        python = str(peers.PYTHON) if self.peer else sys.executable
        return [python, "-m", f"benchmarks.{self.module}", *self.arguments]


def measure_in_turns(
    variants: Sequence[Variant], rounds: int, threads: int
) -> dict[str, list[Turn]]:
    """Measure every variant in every round; round 0 warms up and is dropped."""
    turns: dict[str, list[Turn]] = {variant.name: [] for variant in variants}
    with contextlib.ExitStack() as stack:
        workers = {
            v.name: stack.enter_context(start_worker(v, v.threads or threads)) for v in variants
        }
        for number in range(rounds + 1):
            order = list(workers) if number % 2 else list(reversed(workers))
            for name in order:
                turn = request_turn(workers[name], number)
                print(f"  {name}, round {number}: {describe_turn(turn)}", file=sys.stderr)
                if number:
                    turns[name].append(turn)
    return turns


def describe_turn(turn: Turn) -> str:
    """Format a turn's figures, without its lists."""
    return ", ".join(f"{key} {one:.7g}" for key, one in turn.items() if not isinstance(one, list))


@contextlib.contextmanager
def start_worker(variant: Variant, threads: int) -> "Iterator[subprocess.Popen[str]]":
    """Start a worker that has loaded everything and waits for turns."""
    count = str(threads)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": count,
        "RAYON_NUM_THREADS": count,
        "TOKENIZERS_PARALLELISM": "true",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    process = subprocess.Popen(
        variant.command(),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        process.stdout.readline()
        yield process
    finally:
        process.stdin.close()
        process.wait()


def request_turn(process: "subprocess.Popen[str]", number: int) -> Turn:
    """Request one turn of a worker and return its figures."""
    assert process.stdin
    assert process.stdout
    print(number, file=process.stdin, flush=True)
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"a variant ended with {process.wait()}; what it said stands above")
    return json.loads(answer)


def serve(turn: Callable[[int], Turn]) -> None:
    """In a worker: run a turn for every number on standard input and print its figures."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a library prints must not be taken for an answer
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(turn(int(line))), file=answers, flush=True)
