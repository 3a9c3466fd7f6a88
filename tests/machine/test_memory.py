"""How many tokens are in memory at once, by device."""

from types import SimpleNamespace

import pytest
import torch

from transduce.machine import limits
from transduce.machine.device import device_memory
from transduce.machine.limits import memory_bytes
from transduce.runs.machine_settings import estimate_micro_batch_tokens
from transduce.settings import Architecture

CUDA = torch.device("cuda")
GIB = 1 << 30


def test_a_processor_takes_no_more_than_pays():
    assert estimate_micro_batch_tokens(Architecture(), 256, 64 * GIB) == 8_192
    assert estimate_micro_batch_tokens(Architecture(), 256, 8 * GIB) < 8_192


def test_a_longest_pair_always_fits():
    assert estimate_micro_batch_tokens(Architecture(), 256, 1) == 512
    assert estimate_micro_batch_tokens(Architecture(), 256, 1, CUDA) == 512


def test_a_gpu_takes_the_papers_batch_at_once_where_it_has_the_memory():
    assert estimate_micro_batch_tokens(Architecture(), 256, 139 * GIB, CUDA) > 50_000
    assert estimate_micro_batch_tokens(Architecture(), 256, 16 * GIB, CUDA) < 50_000


def test_the_memory_that_counts_is_that_of_the_device(monkeypatch):
    about = SimpleNamespace(total_memory=80 * GIB)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: about)
    assert device_memory(CUDA) == 80 * GIB
    assert device_memory(torch.device("cpu")) == memory_bytes()


@pytest.mark.parametrize(
    ("own", "file"),
    [
        ("0::/slurm/job_7/step_0\n", "slurm/job_7/memory.max"),
        ("0::/slurm/job_7/step_0\n", "slurm/job_7/step_0/memory.max"),
        ("0::/not/seen/from/here\n", "memory.max"),
        ("3:cpuset:/x\n2:cpu,memory:/slurm/job_7\n", "memory/slurm/job_7/memory.limit_in_bytes"),
        ("", "memory/memory.limit_in_bytes"),
        ("0::/Müller/Straße\u2028job\n", "Müller/Straße\u2028job/memory.max"),
    ],
)
def test_the_limit_of_a_job_counts_wherever_it_is_said(tmp_path, monkeypatch, own, file):
    (tmp_path / "own").write_text(own)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(f"{GIB // 8}\n")
    monkeypatch.setattr(limits, "CGROUP_ROOT", tmp_path)
    monkeypatch.setattr(limits, "PROC_SELF_CGROUP", tmp_path / "own")
    assert memory_bytes() == GIB // 8
    (tmp_path / file).write_text("max\n")
    assert memory_bytes() > GIB // 8
