"""Several ranks for a test, forked from a process that has imported torch: they start fast."""

import os
import tempfile
import traceback
from pathlib import Path

import torch
from tests.forked import SERVER
from tests.training.run import train_rank
from tests.training.tiny import batch_of, training_of

from transduce.training.distributed.rank import ProcessRank, SignalRequests
from transduce.training.distributed.torch_group import Rendezvous, TorchProcessGroup

STEPS = 6
RECIPE = training_of(steps=STEPS, max_nonfinite_updates=3)
LENGTHS = ([2, 3], [4, 1, 1], [7], [1], [5, 5])


def five_batches(step):
    """Return micro-batches of different costs, more than there are processes."""
    return [batch_of(lengths, seed=100 * step + n) for n, lengths in enumerate(LENGTHS)]


def join_training(group, folder, training=RECIPE):
    """Train as one rank of a group; return the progress and a hash of the state."""
    return train_rank(group, folder, training, five_batches)


def run_on_ranks(size, work, *given, exact=False, seconds=60.0):
    """Return `work(group, …)` of each of so many ranks; where it fails, the name of its error.

    A rank that dies without an error gives None.
    """
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for number in range(size):
            rank = ProcessRank(
                rank=number, world_size=size, rendezvous_file=Path(folder) / "rendezvous"
            )
            ours, theirs = SERVER.Pipe(duplex=False)
            settings = (rank, seconds, exact)
            process = SERVER.Process(target=run_rank, args=(theirs, settings, work, given))
            process.start()
            theirs.close()
            ranks.append((process, ours))
        return [receive_result(*one) for one in ranks]


def patch(module, **names):
    """Replace functions in a module, in this process, which ends with its test."""
    for name, value in names.items():
        setattr(module, name, value)


def receive_result(process, pipe):
    """Wait for a rank and return what it sent."""
    try:
        result = pipe.recv()
    except EOFError:
        result = None
    process.join()
    return result


def run_rank(pipe, settings, work, given):
    """Be one rank: join the group, do the work, send its result."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    rank, seconds, exact = settings
    try:
        with Rendezvous(rank, seconds, exact=exact).join_group(SignalRequests()) as group:
            assert isinstance(group, TorchProcessGroup)
            pipe.send(work(group, *given))
    except Exception as error:  # noqa: BLE001 - the test judges it
        traceback.print_exc()
        pipe.send(type(error).__name__)
        os._exit(1)
