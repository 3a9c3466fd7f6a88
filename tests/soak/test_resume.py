"""A long run stopped after every single step, with several settings."""

from pathlib import Path

import pytest
from tests.faults.record import Record
from tests.training.run import train_folder
from tests.training.tiny import training_of

STEPS = 200
SETTINGS: dict[str, dict[str, object]] = {
    "plain": {},
    "saves often": {"checkpoint_minutes": 1e-9},
    "snapshots often": {"snapshot_every": 3},
    "another seed": {"seed": 8},
    "no smoothing": {"label_smoothing": 0.0},
}


@pytest.mark.soak
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_run_of_200_steps_stopped_anywhere_resumes_to_the_same_bits(
    tmp_path: Path, settings: str, record: Record
) -> None:
    training = training_of(steps=STEPS, **SETTINGS[settings])
    _, whole = train_folder(tmp_path / "whole", training)
    for stop_at in range(1, STEPS):
        folder = tmp_path / str(stop_at)
        train_folder(folder, training, stop_at=stop_at)
        assert train_folder(folder, training)[1] == whole, stop_at
        train_folder(tmp_path / "chain", training, stop_at=stop_at)
    assert train_folder(tmp_path / "chain", training)[1] == whole
    record(stops=STEPS - 1, chain_of_resumes=STEPS - 1, equal=STEPS)
