"""The kernels of a GPU, interpreted on a CPU where Triton is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_kernels_of_triton_have_the_values_and_gradients_of_their_twins():
    pytest.importorskip("triton", reason="skipped: triton is not installed")
    subprocess.run(
        [sys.executable, "-m", "tests.fast.triton_twins"],
        cwd=ROOT,
        env=os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": "src"},
        check=True,
    )
