"""The process group of several processes, by torch.distributed, and how they find each other

In each update the processes exchange gradients, losses, requests to stop or to save a checkpoint,
and at last rank 0's progress. If a signal stopped any rank, all ranks drop the update. A process
that does not communicate within the timeout is lost, and the run ends.

The processes find each other, and get the job from rank 0, through a key-value store. On one
machine the store is a file in a private folder that our launcher made. On several machines it is at
MASTER_ADDR, without authentication: use it on internal networks only.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import ParamSpec, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch import distributed as processes
from torch._C._distributed_c10d import FileStore, PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from transduce.durable.json import parse_record
from transduce.errors import InputError, LostProcessError
from transduce.machine.device import APPLE_GPU, select_device
from transduce.paper.training import Accumulate, Optimiser
from transduce.settings.fields import require
from transduce.training.distributed.rank import RESUME_HINT, ProcessRank, SignalRequests
from transduce.training.progress import Progress

# M: micro-batches of an update

MESSAGE_BYTES = 4_096  # the most bytes of a message from rank 0
AddGradient = Callable[[int], None]  # adds the gradient of the micro-batch with this index
ShouldContinue = Callable[[], bool]  # False on every rank if a signal stopped any rank
Args = ParamSpec("Args")


@final
class TorchProcessGroup:
    """The `ProcessGroup` of several processes, which communicate through torch.distributed."""

    def __init__(
        self, rank: ProcessRank, requests: SignalRequests, timeout_seconds: float, *, exact: bool
    ) -> None:
        self.rank, self.world_size, self.requests = rank.rank, rank.world_size, requests
        self.timeout_seconds = timeout_seconds  # how long a process may be silent
        self.exchange = sum_in_micro_batch_order if exact else all_reduce_once
        self.reduction = "in order" if exact else f"by {rank.world_size} processes at once"

    def run_micro_batches(
        self, accumulate: Accumulate, token_counts: Sequence[int], optimiser: Optimiser
    ) -> Float[Tensor, "M 2"] | None:
        """Sum gradients over ranks; return M rows (loss sum, -log p sum), or None if stopped.

        Each rank computes the gradients of its own micro-batches; a rank that a signal stops skips
        the rest of them. The result is None if a signal stopped any rank.
        """
        own, sums = dict[int, Tensor](), torch.zeros(len(token_counts), 2, dtype=torch.float64)

        def accumulate_unless_stopped(index: int) -> None:
            if not self.requests.stop_signal:
                own[index] = accumulate(index)

        def exchange_losses_and_requests() -> bool:
            if own:
                sums[list(own)] = torch.stack(list(own.values())).cpu().to(sums)
            return self.exchange_losses_and_requests(sums)

        went_on = self.exchange(
            accumulate_unless_stopped, token_counts, optimiser, exchange_losses_and_requests
        )
        return sums if went_on else None

    def exchange_losses_and_requests(self, losses: Tensor) -> bool:
        """Sum `losses` over ranks in place; share requests; return whether no signal stops a rank.

        Each element is computed by one process and is 0 on all others, so the sums are exact.
        """
        asked = torch.zeros(2, self.world_size, dtype=torch.float64)
        wants_checkpoint, self.requests.checkpoint = self.requests.checkpoint, False
        asked[:, self.rank] = torch.tensor([self.requests.stop_signal, wants_checkpoint])
        buffer = torch.cat([losses.flatten(), asked.flatten()])
        all_reduce(buffer)
        losses.copy_(buffer[: losses.numel()].view_as(losses))
        requests = buffer[losses.numel() :].view(2, self.world_size)
        stop_signal, checkpoint = requests.max(dim=1).values.tolist()
        self.requests.stop_signal = self.requests.stop_signal or int(stop_signal)
        if self.rank == 0 and checkpoint:
            self.requests.checkpoint = True
        return not stop_signal

    def run_on_rank_0(
        self, work: Callable[Args, Progress], *args: Args.args, **kwargs: Args.kwargs
    ) -> Progress:
        """Call `work` on rank 0 and return its result on every rank; other ranks wait for it."""
        if self.rank == 0:
            with self.heartbeat():
                progress = work(*args, **kwargs)
            broadcast_message(json.dumps(progress.as_json()).encode())
            return progress
        message = b""
        while not message:  # an empty message is a heartbeat: rank 0 is still working
            message = broadcast_message(b"")
        return parse_record(Progress, json.loads(message))

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Context manager that sends an empty message every quarter of the timeout.

        Raise LostProcessError at the end if a message could not be sent.
        """
        done = threading.Event()
        faults: list[LostProcessError] = []

        def send_heartbeats() -> None:
            while not done.wait(self.timeout_seconds / 4):
                try:
                    broadcast_message(b"")
                except LostProcessError as fault:
                    faults.append(fault)
                    return

        thread = threading.Thread(target=send_heartbeats, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
        if faults:
            raise faults[0]

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors, on every rank, by the tensors of rank 0."""
        for tensor in tensors:
            broadcast(tensor, 0)


def all_reduce_once(
    accumulate: AddGradient,
    token_counts: Sequence[int],
    optimiser: Optimiser,
    should_continue: ShouldContinue,
) -> bool:
    """Accumulate this rank's gradients; all-reduce them; return whether no signal stops a rank.

    `accumulate` is called with the index of each micro-batch of this rank. The last bits of the sum
    depend on the number of processes.
    """
    shares = assign_micro_batches(token_counts, processes.get_world_size())
    for index in shares[processes.get_rank()]:
        accumulate(index)
    if not should_continue():
        return False
    for gradient in optimiser.list_gradients():
        all_reduce(gradient)
    return True


def sum_in_micro_batch_order(
    accumulate: AddGradient,
    token_counts: Sequence[int],
    optimiser: Optimiser,
    should_continue: ShouldContinue,
) -> bool:
    """Sum gradients on all ranks, in micro-batch order; return whether no signal stops a rank.

    The sum is bit for bit that of a single process, for any number of processes. It takes memory
    for two more sets of gradients, and one broadcast of all gradients per micro-batch, where
    `all_reduce_once` takes one all-reduce per update.
    """
    size, rank = processes.get_world_size(), processes.get_rank()
    totals = [torch.zeros_like(gradient) for gradient in optimiser.list_gradients()]
    received = [torch.empty_like(total) for total in totals]
    for first in range(0, len(token_counts), size):
        senders = min(size, len(token_counts) - first)
        optimiser.clear_gradients()
        if rank < senders:
            accumulate(first + rank)
        for sender in range(senders):
            gradients = optimiser.list_gradients() if sender == rank else received
            for total, gradient in zip(totals, gradients, strict=True):
                broadcast(gradient, sender)
                total += gradient
    if not should_continue():
        return False
    for total, gradient in zip(totals, optimiser.list_gradients(), strict=True):
        gradient.copy_(total)
    return True


def assign_micro_batches(token_counts: Sequence[int], world_size: int) -> list[list[int]]:
    """Return each rank's micro-batch indices, chosen so that ranks have similar token sums."""
    shares: list[list[int]] = [[] for _ in range(world_size)]
    loads = [0] * world_size
    for index in sorted(range(len(token_counts)), key=lambda index: -token_counts[index]):
        rank = loads.index(min(loads))
        shares[rank].append(index)
        loads[rank] += token_counts[index]
    return [sorted(share) for share in shares]


def all_reduce(tensor: Tensor) -> None:
    """Replace a tensor, on every rank, by the sum of the tensors of all ranks."""
    with detect_lost_process():
        processes.all_reduce(tensor)


def broadcast(tensor: Tensor, rank: int) -> None:
    """Replace a tensor, on every rank, by the tensor of the given rank."""
    with detect_lost_process():
        processes.broadcast(tensor, src=rank)


def broadcast_message(message: bytes) -> bytes:
    """Return rank 0's message on every rank; ignore the argument of other ranks.

    The message has at most MESSAGE_BYTES bytes, and no space at its ends.
    """
    assert len(message) <= MESSAGE_BYTES
    buffer = torch.frombuffer(bytearray(message.ljust(MESSAGE_BYTES)), dtype=torch.uint8)
    broadcast(buffer, 0)
    return bytes(buffer.tolist()).strip()


@contextmanager
def detect_lost_process() -> Iterator[None]:
    """Context manager that turns a RuntimeError of torch.distributed into a LostProcessError."""
    try:
        yield
    except RuntimeError as fault:
        # the first line of a torch error, without the source location
        words = str(fault).split("\n")[0].rsplit("] ", maxsplit=1)[-1][:120].rstrip(". ")
        fact = f"lost contact with another process of this run ({words})"
        raise LostProcessError(fact, RESUME_HINT) from fault


JOB_KEY = "job"  # the key of the job description in the key-value store
POLL_SECONDS = 0.05
START_SECONDS = 300.0  # the longest wait for all processes of an attempt to start


@final
class Rendezvous:
    """A key-value store through which processes form a group and get the job from rank 0."""

    def __init__(self, rank: ProcessRank, timeout_seconds: float, *, exact: bool) -> None:
        self.rank, self.timeout_seconds, self.exact = rank, timeout_seconds, exact
        self.timeout = timedelta(seconds=timeout_seconds)
        with detect_lost_process():
            self.store: Store
            if rank.rendezvous_file is not None:
                self.store = FileStore(str(rank.rendezvous_file), rank.world_size)
            else:
                shared = next(iter(rendezvous("env://", timeout=self.timeout)))[0]
                self.store = PrefixStore(agree_on_prefix(shared, rank), shared)

    def publish_job(self, job: str) -> None:
        """Store the job description for the other ranks; rank 0 calls this after preparation."""
        with detect_lost_process():
            self.store.set(JOB_KEY, job)

    def wait_for_job(self) -> str:
        """Wait, without a time limit, for rank 0's job description, and return it."""
        with detect_lost_process():
            while not self.store.check([JOB_KEY]):
                time.sleep(POLL_SECONDS)
            return bytes(self.store.get(JOB_KEY)).decode()

    @contextmanager
    def join_group(self, requests: SignalRequests) -> Iterator[TorchProcessGroup]:
        """Context manager that yields the process group; all ranks must join within the timeout.

        Raise InputError on Apple's device, or if this machine has more processes than GPUs.
        """
        backends = "cpu:gloo"
        device_type = select_device().type
        fact = "several processes cannot share Apple's device"
        require(device_type != APPLE_GPU, fact, "no --workers")
        if device_type == "cuda":
            require_gpu_for_each(self.rank)
            torch.cuda.set_device(self.rank.local_rank)
            backends += ",cuda:nccl"
        with detect_lost_process():
            processes.init_process_group(
                backends,
                store=self.store,
                rank=self.rank.rank,
                world_size=self.rank.world_size,
                timeout=self.timeout,
            )
        yield TorchProcessGroup(self.rank, requests, self.timeout_seconds, exact=self.exact)
        processes.destroy_process_group()


def agree_on_prefix(store: Store, rank: ProcessRank, seconds: float = START_SECONDS) -> str:
    """Return a random prefix for the store's keys, the same on all ranks of this attempt.

    Raise LostProcessError if another rank is missing after `seconds`.

    torchrun restarts processes with the store of the last attempt, which still holds the addresses
    and job of that attempt, and ranks may count attempts differently. So rank 0 makes up
    a random prefix. The others ask for it, each under a random name, and confirm it.
    """
    name, end = secrets.token_hex(8), time.monotonic() + seconds
    others = set(range(1, rank.world_size)) if rank.rank == 0 else set()
    if rank.rank:
        store.set(f"ask/{rank.rank}", name)
        while not store.check([f"answer/{name}"]):
            sleep_before(end, "process 0 has not started")
        name = store.get(f"answer/{name}").decode()
        store.set(f"{name}/{rank.rank}", "confirmed")
    while others:
        for other in sorted(others):
            # if an old attempt left this name, no process reads the answer
            if store.check([f"ask/{other}"]):
                store.set(f"answer/{store.get(f'ask/{other}').decode()}", name)
        others = {other for other in others if not store.check([f"{name}/{other}"])}
        if others:
            sleep_before(end, f"process {min(others)} has not started")
    return name


def sleep_before(end: float, fact: str) -> None:
    """Sleep briefly, or raise LostProcessError(fact) if the clock has passed `end`."""
    if time.monotonic() > end:
        raise LostProcessError(fact, "look at what it or torchrun says")
    time.sleep(POLL_SECONDS)


def require_gpu_for_each(rank: ProcessRank) -> None:
    """Raise InputError if this machine has more processes than GPUs."""
    count = torch.cuda.device_count()
    if rank.local_size > count:
        raise InputError(
            f"{rank.local_size} processes on this machine need as many GPUs, and {count} are here",
            "fewer --workers; or CUDA_VISIBLE_DEVICES= to train on the processor",
        )
