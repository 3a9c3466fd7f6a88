"""A process alone that is asked to stop when a test says so."""

from collections.abc import Callable

from transduce.training.distributed.process_group import SingleProcess
from transduce.training.distributed.requests import Requests


def alone_until(stopped: Callable[[], bool]) -> SingleProcess:
    """It asks before every micro-batch, and often in a look."""

    class Asked(Requests):
        @property
        def stop(self) -> int:  # type: ignore[override]
            return 15 * stopped()

    return SingleProcess(Asked())
