"""Compiled layers: the same losses, and one clear error where nothing can be compiled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.training.tiny import batches, fresh, training_of

from transduce.errors import InputError
from transduce.model.grouped import Grouped
from transduce.model.sight import EVERYWHERE
from transduce.model.variable_length import VariableLength
from transduce.training.compiling import Beside, compile_layers, demand_compiler
from transduce.training.step import take_update

ROOT = Path(__file__).parents[2]
CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def losses(*, compiled, **changes):
    training = training_of(compile=compiled, **changes)
    model, optimiser = fresh(training, dropout=0.1)
    if compiled:
        compile_layers(model)
    found = []
    for step in range(1, 4):
        update = take_update(model, optimiser, training, step, batches(step))
        assert update is not None
        found.append(update.loss)
    return found


@pytest.mark.slow
def test_losses_are_those_of_the_plain_path():
    """Dropout included: its masks stay outside what is compiled on a processor.

    In a process of its own, where no shapes are checked: a compiler does not see through that.
    """
    asked = "from tests.training.test_compiling import losses; print(losses(compiled=True))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout) == pytest.approx(losses(compiled=False), rel=1e-6)


@pytest.mark.parametrize(("device", "named", "missing"), [(CPU, "CXX", "g++"), (CUDA, "CC", "gcc")])
def test_a_missing_compiler_is_said_before_the_run_begins(monkeypatch, device, named, missing):
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("transduce.training.compiling.PROCESSOR", ("CXX", ("g++",)))
    monkeypatch.delenv(named, raising=False)
    demand_compiler(training_of(), device)
    with pytest.raises(InputError) as caught:
        demand_compiler(training_of(compile=True), device)
    assert caught.value.fact == (
        f"training.compile needs the compiler {missing}, which is not here"
    )
    assert f"name another in {named}" in caught.value.hint
    assert "training.compile=false" in caught.value.hint


def test_a_compiler_of_ones_own_is_asked_for_by_its_name(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name if name == "mine" else None)
    monkeypatch.setenv("CXX", "mine")
    demand_compiler(training_of(compile=True), CPU)
    monkeypatch.setenv("CXX", "gone")
    with pytest.raises(InputError, match="needs the compiler gone"):
        demand_compiler(training_of(compile=True), CPU)


def test_rectangles_stay_outside_and_torchs_kernel_goes_in():
    model, _ = fresh(training_of())
    inside = Beside(model)([2], [2], EVERYWHERE, CPU)
    assert not isinstance(inside, Grouped), "wrapped, so that no compiler looks into it"
    model.kernel = VariableLength
    assert isinstance(Beside(model)([2], [2], EVERYWHERE, CPU), VariableLength)
