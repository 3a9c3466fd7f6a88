"""Distribute micro-batches over processes and sum their gradients, in two ways."""

from collections.abc import Callable, Sequence

import torch
from torch import distributed as processes

from transduce.paper.training import Optimiser
from transduce.training.distributed.collectives import all_reduce, broadcast

AddGradient = Callable[[int], None]  # adds the gradient of the micro-batch with this index
ShouldContinue = Callable[[], bool]  # False on every rank if a signal stopped any rank


def all_reduce_once(
    accumulate: AddGradient,
    costs: Sequence[int],
    optimiser: Optimiser,
    should_continue: ShouldContinue,
) -> bool:
    """Accumulate this rank's gradients, then all-reduce; return False if a signal stops a rank.

    `accumulate` is called with the index of each micro-batch of this rank; `costs` are the token
    counts of all micro-batches. The last bits of the sum depend on the number of processes.
    """
    shares = assign_micro_batches(costs, processes.get_world_size())
    for index in shares[processes.get_rank()]:
        accumulate(index)
    if not should_continue():
        return False
    for gradient in optimiser.list_gradients():
        all_reduce(gradient)
    return True


def sum_in_micro_batch_order(
    accumulate: AddGradient,
    costs: Sequence[int],
    optimiser: Optimiser,
    should_continue: ShouldContinue,
) -> bool:
    """Sum all micro-batches' gradients in order on every rank; return False if a signal stops one.

    The sum is bit for bit that of a single process, for any number of processes. It takes one
    broadcast of all gradients per micro-batch, where `all_reduce_once` takes one all-reduce per
    update, and memory for two more sets of gradients.
    """
    size, rank = processes.get_world_size(), processes.get_rank()
    total = [torch.zeros_like(gradient) for gradient in optimiser.list_gradients()]
    received = [torch.empty_like(one) for one in total]
    for first in range(0, len(costs), size):
        present = min(size, len(costs) - first)
        optimiser.clear_gradients()
        if rank < present:
            accumulate(first + rank)
        for sender in range(present):
            gradients = optimiser.list_gradients() if sender == rank else received
            for one, gradient in zip(total, gradients, strict=True):
                broadcast(gradient, sender)
                one += gradient
    if not should_continue():
        return False
    for one, gradient in zip(total, optimiser.list_gradients(), strict=True):
        gradient.copy_(one)
    return True


def assign_micro_batches(costs: Sequence[int], world_size: int) -> list[list[int]]:
    """Return the indices of each rank's micro-batches, such that all ranks have similar costs."""
    shares: list[list[int]] = [[] for _ in range(world_size)]
    loads = [0] * world_size
    for index in sorted(range(len(costs)), key=lambda index: -costs[index]):
        rank = loads.index(min(loads))
        shares[rank].append(index)
        loads[rank] += costs[index]
    return [sorted(share) for share in shares]
