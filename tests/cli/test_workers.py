"""Options and environment of several processes; tests/journeys/test_workers.py starts them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from transduce.cli.train import ProcessOptions, silence_repeated_errors
from transduce.errors import InputError, LostProcessError, NotFiniteError
from transduce.recipes import by_name
from transduce.runs.training_run import report_processes
from transduce.settings.recipe import with_changes
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.torch_group import require_gpu_for_each
from transduce.training.progress import TrainingCallbacks

ROOT = Path(__file__).parents[2]
HERE = Path("meeting")  # of our own launcher


def together(rank):
    return ProcessOptions(rank=rank, workers=1, exact=False, lost_after=60.0)


def test_workers_is_refused_under_torchrun():
    found = subprocess.run(
        [sys.executable, "-m", "transduce", "train", "tiny", "--workers", "2", "-o", "run"],
        env=os.environ
        | {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr == (
        "error: --workers starts the processes of one machine, and torchrun has started some\n"
        "hint: leave --workers out: torchrun's --nproc-per-node says how many\n"
    )


def test_training_alone_loads_nothing_about_several_processes():
    code = (
        "import sys, transduce.runs.training_run, transduce.cli.train\n"
        "print(*(name for name in sys.modules if 'training.distributed.' in name))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {name.rsplit(".", maxsplit=1)[1] for name in found.stdout.split()}
    assert names == {"process_group", "rank"}


def test_only_training_distributed_imports_torch_distributed():
    knowing = {path.parent.name for path in (ROOT / "src").rglob("*.py") if knows(path)}
    assert knowing == {"distributed"}


def knows(path):
    """Whether one of its imports names it."""
    text = path.read_text(encoding="utf-8")
    return re.search(r"^\s*(from|import) torch.*distributed", text, re.MULTILINE) is not None


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    require_gpu_for_each(ProcessRank(world_size=2, local_size=1))
    refused = r"2 processes on this machine need as many GPUs, and 1 are here\nhint: fewer workers"
    with pytest.raises(InputError, match=refused):
        require_gpu_for_each(ProcessRank(world_size=2, local_size=2))


def test_processes_without_a_micro_batch_are_counted():
    recipe = with_changes(
        by_name("tiny"),
        {"data.source_tokens": 900, "data.target_tokens": 900, "training.micro_batch_tokens": 600},
    )
    warned: list[str] = []
    callbacks = TrainingCallbacks(on_warning=warned.append)
    report_processes(recipe, 3, callbacks)
    assert warned == []
    report_processes(recipe, 5, callbacks)
    assert warned[0].startswith(
        "2 of 5 processes have nothing to do: an update of 1,800 tokens is 3 micro-batches of 600 "
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_a_lost_process_is_reported_by_the_launcher_or_else_by_every_process(rank):
    ours = together(ProcessRank(rank=rank, world_size=2, rendezvous_file=HERE))
    with pytest.raises(SystemExit) as ended, silence_repeated_errors(ours):
        raise LostProcessError("lost")
    assert ended.value.code == 7
    theirs = together(ProcessRank(rank=rank, world_size=2))
    with pytest.raises(LostProcessError, match="lost"), silence_repeated_errors(theirs):
        raise LostProcessError("lost")


def test_errors_of_all_processes_are_printed_by_rank_0():
    with (
        pytest.raises(NotFiniteError, match="bad"),
        silence_repeated_errors(together(ProcessRank(rank=0, world_size=2))),
    ):
        raise NotFiniteError("bad")
    with (
        pytest.raises(SystemExit) as ended,
        silence_repeated_errors(together(ProcessRank(rank=1, world_size=2))),
    ):
        raise NotFiniteError("bad")
    assert ended.value.code == 5
