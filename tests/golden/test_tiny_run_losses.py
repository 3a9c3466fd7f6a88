"""The losses of the first twenty updates, with all digits.

The last digits differ between processors and thread counts (sums in another order), so they are
compared to a millionth; the file shows in a diff whatever moves them by more.
"""

import os

import pytest
from tests.golden.conftest import ROOT
from tests.training.tiny import batches, fresh, take_update, training_of

FILE = "tests/golden/tiny_run_losses.txt"


def losses():
    """Step and loss of every update of a model of two layers with dropout."""
    training = training_of()
    dropouts = {"dropout": 0.1, "feed_forward_dropout": 0.1}
    model, optimiser = fresh(training, layers=2, **dropouts)
    found = []
    for step in range(1, training.steps + 1):
        update = take_update(model, optimiser, training, step, batches(step))
        assert update is not None
        found.append(update.loss)
    return found


def test_twenty_losses_of_a_tiny_run_are_those_of_before(golden):
    found = losses()
    if os.environ.get("RENEW_GOLDEN"):
        lines = [f"{step} {loss!r}\n" for step, loss in enumerate(found, start=1)]
        golden(FILE, "".join(lines))
    stored = [float(line.split()[1]) for line in (ROOT / FILE).read_text("utf-8").splitlines()]
    assert found == pytest.approx(stored, rel=1e-6), "scripts/renew-golden tiny_run_losses"


def test_the_tiny_run_learns():
    found = losses()
    assert sum(found[-5:]) < sum(found[:5])
