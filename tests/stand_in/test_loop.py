"""The training loop and a process among several on a GPU, up to what they exchange."""

from types import SimpleNamespace

import pytest
import torch
from tests.stand_in.device import CUDA
from tests.stand_in.updates import small_training
from tests.training.tiny import batches

from transduce.fast.choose import build_prefetch_functions
from transduce.training.distributed import torch_group
from transduce.training.distributed.process_group import SINGLE_PROCESS
from transduce.training.distributed.rank import ProcessRank, SignalRequests
from transduce.training.distributed.torch_group import TorchProcessGroup
from transduce.training.loop import TrainingJob, run_updates
from transduce.training.progress import Progress

READ = "paper/training.py:PendingUpdate.read"
GROUP = "training/distributed/torch_group.py:TorchProcessGroup"
AGREE = f"{GROUP}.run_micro_batches.<locals>.exchange_losses_and_requests"


def test_the_next_updates_batches_are_read_before_the_host_waits(tmp_path):
    """While the device computes; from the third update on as from the first."""
    waits = {}
    with small_training(steps=4, precision="bfloat16") as traced:

        def read(step):
            waits[step] = len(traced.record.waits)
            return batches(step)

        traced.record.clear()
        ahead, read_update = build_prefetch_functions(read, traced.training.steps, CUDA)
        job = TrainingJob(
            folder=tmp_path,
            model=traced.model,
            optimiser=traced.optimiser,
            training=traced.training,
            batches=ahead,
            read=read_update,
        )
        run_updates(job, Progress(), SINGLE_PROCESS, lambda progress, _: progress)
        assert traced.record.waits_by_caller() == {READ: 4}
    assert waits == {1: 0, 2: 0, 3: 1, 4: 2}


@pytest.fixture
def exchanged(monkeypatch):
    """What the first of two processes exchanges; the other one has computed nothing."""
    found = []

    def exchange(tensor, sender=0):
        found.append((str(tensor.device), tensor.numel()))
        if sender:
            tensor.zero_()

    monkeypatch.setattr(torch_group, "all_reduce", exchange)
    monkeypatch.setattr(torch_group, "broadcast", exchange)
    two = SimpleNamespace(get_world_size=lambda: 2, get_rank=lambda: 0)
    monkeypatch.setattr(torch_group, "processes", two)
    return found


@pytest.mark.parametrize("exact", [False, True])
def test_gradients_are_exchanged_on_the_device_and_agreement_on_the_cpu(exact, exchanged):
    """The host waits for the losses that all must know, nowhere else."""
    rank = ProcessRank(rank=0, world_size=2, local_rank=0, local_size=2, rendezvous_file=None)
    group = TorchProcessGroup(rank, SignalRequests(), 60.0, exact=exact)
    with small_training(precision="bfloat16") as traced:
        queued = traced.queue(1, group)
        assert traced.record.waits_by_caller() == {AGREE: 1}
        weights = traced.optimiser.weights.numel()
        assert torch.isfinite(queued.gradient_norm).item()
    gradients = [(str(CUDA), weights)] * (2 if exact else 1)
    agreement = [("cpu", 2 * 2 + 2 * 2)]
    assert exchanged == (gradients + agreement if exact else agreement + gradients)
