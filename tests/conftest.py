"""What every test may ask for."""

import gc
import logging
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import jaxtyping
import pytest
from tests import type_checks

pytest_plugins = ("tests.faults.record",)

# Who starts the tests in the background of a shell has SIGINT ignored, and the commands that the
# tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all is collected: nothing that is imported becomes garbage

# No test asserts on time: how long an example takes says how busy the machine is.
hypothesis.settings.register_profile("any pace", deadline=None)
hypothesis.settings.load_profile("any pace")

# Before the package is imported.
jaxtyping.jaxtyped = type_checks.check_first_calls  # type: ignore[assignment]

FACTS = Path(__file__).parent / "facts"
SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session", autouse=True)
def kept_memory() -> None:
    """What is trained without the command line is given memory as it gives it: much faster."""
    from transduce.machine.process_settings import keep_freed_memory

    keep_freed_memory()


@pytest.fixture(scope="session", autouse=True)
def small_samples() -> Iterator[None]:
    """What is estimated from a sample takes the least that will do: an update, a small product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transduce.runs.duration.SAMPLE_SECONDS", 0.0)
        patch.setattr("transduce.inference.choose_heads.SCORED", 20)
        patch.setattr("transduce.machine.device.RATE_ROWS", {"cpu": 16})
        yield


@pytest.fixture
def facts() -> Path:
    """The folder of printed figures and of other programs' results; its README says which."""
    return FACTS


@pytest.fixture
def shared(request: pytest.FixtureRequest) -> Path:
    """The folder beside a developer's checkout with corpora of others, which a clone lacks."""
    if not SHARED.is_dir():
        pytest.skip(f"skipped: {request.node.name} needs a corpus of others in ../shared")
    return SHARED


@pytest.fixture
def compiled_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a search that may use the loops of numba, the extra `fast`, in one thread."""
    pytest.importorskip("numba", reason="skipped: numba is not installed")
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)


@pytest.fixture
def unchecked_types() -> None:
    """Calls take what they are given, as where users are: without the check of types of tests."""
    jaxtyping.config.update("jaxtyping_disable", True)


def pytest_collection_finish() -> None:
    """Modules and collected tests stay to the end: no collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    for name, logger in logging.Logger.manager.loggerDict.items():
        if name.startswith("torch") and isinstance(logger, logging.Logger):
            logger.propagate = True  # or pytest adds its handlers to each, six times in every test


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Types and shapes are checked at first calls, but where tests go the same ways all day."""
    long = any(map(item.get_closest_marker, ("slow", "soak", "browser")))
    jaxtyping.config.update("jaxtyping_disable", long)
    type_checks.calls.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """What fixtures called does not count as the test's own first calls."""
    type_checks.calls.clear()
