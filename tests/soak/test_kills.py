"""Two hundred kills of the real command line."""

from pathlib import Path

import pytest
from tests.cli.language import write_corpus
from tests.faults.record import Record
from tests.journeys.conftest import Workspace
from tests.journeys.kills import kill_often


@pytest.mark.soak
def test_two_hundred_kills_of_training_lose_nothing(tmp_path: Path, record: Record) -> None:
    where = kill_often(Workspace(write_corpus(tmp_path)), times=200, seed=2)
    record(kills=200, landed_while=where, seeds=[2])
    assert where["writing"] + where["deleting"] >= 40
    assert where["preparing"] >= 5
