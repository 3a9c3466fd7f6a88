"""Choose the number of processes and threads of a command that uses trained models."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.inference.worker_count import LINES_PER_WORKER, choose_workers, load_on_own_cores
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.cli.searching import TranslatorChoice

MOST_PROCESSES = 1_024  # or threads: of 100,000 threads torch's start ends the process


@final
@dataclass(frozen=True)
class Processes:
    """The values of --workers and --threads; `workers` is None if --workers is not given."""

    workers: int | None
    threads: int

    def choose(self, count_lines: Callable[[int], int], models: "TranslatorChoice") -> int:
        """Return the value of --workers; by default, a number that suits machine and input."""
        if self.workers is not None:
            return self.workers
        return choose_for_machine(count_lines, models.folders)


def count_file_lines(path: Path, most: int) -> int:
    """Return the number of lines of a file, at most `most`; 0 for pipes and other special files."""
    from transduce.text.files import read_lines

    return sum(1 for _ in islice(read_lines(path), most)) if path.is_file() else 0


WORKERS_HELP = (
    "Processes of one thread each; in float32 results do not depend on it (default: one for every "
    "1,000 lines of a file, limited by idle cores and free memory)."
)
THREADS_HELP = "Threads of a single process, for line-by-line work on cores that are idle."


def process_options(
    command: Callable[..., Any], workers_help: str = WORKERS_HELP, threads_help: str = THREADS_HELP
) -> Callable[..., Any]:
    """Add the options --workers and --threads to a command, whose function gets `processes`."""

    @functools.wraps(command)
    def with_processes(*, workers: int | None, threads: int | None, **others: Any) -> Any:  # noqa: ANN401
        require(
            workers is None or threads is None,
            "--threads is for one process, and --workers are processes of one thread each",
            "give one of them",
        )
        if threads is not None:
            workers = 1
        return command(processes=Processes(workers, threads or 1), **others)

    for option in (
        click.option("--threads", type=click.IntRange(1, MOST_PROCESSES), help=threads_help),
        click.option("--workers", type=click.IntRange(1, MOST_PROCESSES), help=workers_help),
    ):
        with_processes = option(with_processes)
    return with_processes


def choose_for_machine(count_lines: Callable[[int], int], folders: tuple[Path, ...]) -> int:
    """Choose how many workers load the models in `folders`, by lines, idle cores, free memory."""
    from transduce.machine.cpus import available_cpus

    cores = available_cpus()
    lines = count_lines(cores * LINES_PER_WORKER) if cores > 1 else 0
    if lines < 2 * LINES_PER_WORKER:
        return 1
    from transduce.machine.free_memory import free_memory_bytes

    load, memory = load_on_own_cores(cores), free_memory_bytes()
    count = choose_workers(lines, cores, load, memory, weight_bytes(folders))
    return count if count == 1 or computes_on_cpu() else 1


def computes_on_cpu() -> bool:
    """Return whether models run on the CPU, whose cores workers can share, and not on a GPU."""
    from transduce.machine.device import select_device

    return select_device().type == "cpu"


def weight_bytes(folders: Sequence[Path]) -> int:
    """Return the sum of the sizes in bytes of each model folder's largest weight file."""
    from transduce.checkpoint.model_files import WEIGHTS

    sizes = ([file.stat().st_size for file in folder.rglob(WEIGHTS)] for folder in folders)
    return sum(max(own, default=0) for own in sizes)
