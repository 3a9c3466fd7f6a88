"""Train one model with several processes: the options, and the role of each process."""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import click

from transduce.errors import LostProcessError, NotFiniteError
from transduce.settings.fields import require
from transduce.training.distributed.rank import ProcessRank

if TYPE_CHECKING:
    from transduce.training.distributed.rendezvous import Rendezvous


@final
@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """The values of --workers, --exact and --lost-after, and the rank of this process."""

    rank: ProcessRank
    workers: int
    exact: bool
    lost_after: float  # seconds without communication after which a process is lost

    @property
    def is_launcher(self) -> bool:
        """Whether this process only starts and supervises worker processes, and trains nothing."""
        return self.workers > 1 and self.rank.is_single_process

    def open_rendezvous(self) -> "Rendezvous | None":
        """Connect to the rendezvous of all processes; None if this is the only process."""
        if self.rank.is_single_process:
            return None
        from transduce.training.distributed.rendezvous import Rendezvous

        return Rendezvous(self.rank, self.lost_after, exact=self.exact)


def training_process_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --workers, --exact and --lost-after to a command, as one argument `processes`."""

    @functools.wraps(command)
    def with_processes(*, workers: int, exact: bool, lost_after: float, **others: Any) -> None:  # noqa: ANN401
        rank = ProcessRank.from_environment(os.environ)
        require(
            workers == 1 or rank.is_single_process or rank.rendezvous_file is not None,
            "--workers starts the processes of one machine, and torchrun has started some",
            "leave --workers out: torchrun's --nproc-per-node says how many",
        )
        command(
            processes=ProcessOptions(
                rank=rank, workers=workers, exact=exact, lost_after=lost_after
            ),
            **others,
        )

    for option in (
        click.option(
            "--lost-after",
            type=click.FloatRange(min=1),
            default=60,
            show_default=True,
            help="Seconds without communication after which a process counts as lost.",
        ),
        click.option(
            "--exact",
            is_flag=True,
            help="Results equal to the bit for any number of processes; slower.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=1, max=1_024),
            default=1,
            show_default=True,
            help="Number of processes on this machine that share every update.",
        ),
    ):
        with_processes = option(with_processes)
    return with_processes


def launch_and_wait(options: ProcessOptions) -> int:
    """Start the worker processes, forward signals to them, and return their exit code."""
    from transduce.cli.signals import ENDS, handle_signals
    from transduce.training.distributed.launcher import launch_processes

    with (
        launch_processes(options.workers) as processes,
        handle_signals(processes.forward_signal),
    ):
        code = processes.wait(options.lost_after)
    if -code in ENDS:
        raise ENDS[-code]
    return code


@contextmanager
def silence_repeated_errors(processes: ProcessOptions) -> Iterator[None]:
    """In a with block, exit without a message on an error that the launcher or rank 0 prints."""
    try:
        yield
    except LostProcessError as fault:
        if processes.rank.rendezvous_file is None:
            raise
        raise SystemExit(fault.exit_code) from fault
    except NotFiniteError as fault:
        if processes.rank.rank == 0:
            raise
        raise SystemExit(fault.exit_code) from fault
