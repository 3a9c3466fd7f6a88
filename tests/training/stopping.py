"""A single process whose training stops when a test's condition holds."""

from collections.abc import Callable

from transduce.training.distributed.process_group import SingleProcess
from transduce.training.distributed.rank import SignalRequests


def single_process_until(should_stop: Callable[[], bool]) -> SingleProcess:
    """Return a process group that asks `should_stop` before every micro-batch and in validation."""

    class Polled(SignalRequests):
        @property
        def stop_signal(self) -> int:  # type: ignore[override]
            return 15 * should_stop()

    return SingleProcess(Polled())
