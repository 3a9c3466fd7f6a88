"""Several processes for a test: forked from one that has torch already, so that they start fast."""

import os
import tempfile
import traceback
from pathlib import Path

import torch
from tests.forked import SERVER
from tests.training.run import together
from tests.training.tiny import batch_of, training_of

from transduce.training.distributed.rank import Place
from transduce.training.distributed.rendezvous import Meeting
from transduce.training.distributed.requests import Requests
from transduce.training.distributed.torch_group import TorchProcessGroup

STEPS = 6
RECIPE = training_of(steps=STEPS, max_nonfinite_updates=3)


def five_batches(step):
    """Micro-batches of different costs, more than there are processes."""
    return [batch_of(lengths, seed=100 * step + n) for n, lengths in enumerate(LENGTHS)]


LENGTHS = ([2, 3], [4, 1, 1], [7], [1], [5, 5])


def take_part(group, folder, training=RECIPE):
    """Train as one of several."""
    return together(group, folder, training, five_batches)


def crew(size, work, *given, exact=False, seconds=60.0):
    """What `work(group, …)` gives in each of so many processes; the name of its error if it fails.

    A process that dies without a word gives None.
    """
    with tempfile.TemporaryDirectory() as folder:
        members = []
        for rank in range(size):
            place = Place(rank=rank, size=size, meeting=Path(folder) / "meeting")
            ours, theirs = SERVER.Pipe(duplex=False)
            settings = (place, seconds, exact)
            process = SERVER.Process(target=member, args=(theirs, settings, work, given))
            process.start()
            theirs.close()
            members.append((process, ours))
        return [outcome(*one) for one in members]


def patch(module, **names):
    """Other functions in a module, in this process, which ends with its test."""
    for name, value in names.items():
        setattr(module, name, value)


def outcome(process, pipe):
    """What a process had to say."""
    try:
        said = pipe.recv()
    except EOFError:
        said = None
    process.join()
    return said


def member(pipe, settings, work, given):
    """One process, from its start to its end."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    place, seconds, exact = settings
    try:
        with Meeting(place, seconds, exact=exact).joined(Requests()) as group:
            assert isinstance(group, TorchProcessGroup)
            pipe.send(work(group, *given))
    except Exception as error:  # noqa: BLE001 - the test judges it
        traceback.print_exc()
        pipe.send(type(error).__name__)
        os._exit(1)
