"""Tests that need a GPU of NVIDIA; they are skipped where there is none."""

import pytest
import torch


@pytest.fixture(autouse=True)
def gpu() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("skipped: no GPU is here")
    return torch.device("cuda")
