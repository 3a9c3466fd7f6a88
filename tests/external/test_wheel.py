"""The wheel, built and installed in an empty environment, trains and translates."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.external
CHECKOUT = Path(__file__).parents[2]


def run(*command, cwd, given=""):
    ended = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        input=given,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended


def install_cpu_torch(install, home):
    """Install torch first, as the README says: the CPU build, from its index or from pip's own."""
    index = ("--index-url", "https://download.pytorch.org/whl/cpu", "--timeout", "10")
    try:
        run(*install, "torch", *index, "--retries", "1", cwd=home)
    except AssertionError:
        run(*install, "torch", cwd=home)


def test_the_wheel_in_an_empty_environment_runs_the_demo(tmp_path):
    wheels, home = tmp_path / "wheels", tmp_path / "home"
    home.mkdir()
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", wheels, CHECKOUT, cwd=tmp_path)
    (wheel,) = wheels.glob("transduce-*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    install = (python, "-m", "pip", "install", "-c", CHECKOUT / "constraints.txt")
    install_cpu_torch(install, home)
    run(*install, wheel, cwd=home)
    command = tmp_path / "env" / "bin" / "transduce"
    run(command, "--version", cwd=home)
    found = run(command, "demo", "--set", "training.steps=50", "--no-progress", cwd=home)
    assert "BLEU" in found.stdout + found.stderr
    assert list(home.iterdir()), "the demo's run is where it was called"
