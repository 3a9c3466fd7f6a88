"""How the gradients of an update come together from the processes that computed them."""

from collections.abc import Callable, Sequence

import torch
from torch import distributed as processes

from transduce.training.distributed.assignment import shares
from transduce.training.distributed.collectives import add_up, give
from transduce.training.optimiser import Optimiser

Learn = Callable[[int], None]  # adds the gradient of the micro-batch of that number
Agree = Callable[[], bool]  # whether all go on with this update


def at_once(learn: Learn, costs: Sequence[int], optimiser: Optimiser, agree: Agree) -> bool:
    """Everybody learns from a share; one exchange adds up all that was learned.

    In which order it adds depends on how many take part: the same number gives the same bits.
    """
    for number in shares(costs, processes.get_world_size())[processes.get_rank()]:
        learn(number)
    if not agree():
        return False
    add_up(optimiser.gradients)
    return True


def in_order(learn: Learn, costs: Sequence[int], optimiser: Optimiser, agree: Agree) -> bool:
    """Gradients of single micro-batches, added by everybody in the order of their numbers.

    That is the sum of a process alone, to the bit, however many take part. It costs an exchange of
    all gradients for each micro-batch, where `at_once` has one an update, and memory for two more
    gradients.
    """
    size, rank = processes.get_world_size(), processes.get_rank()
    total = torch.zeros_like(optimiser.weights.detach())
    heard = torch.empty_like(total)
    for first in range(0, len(costs), size):
        present = min(size, len(costs) - first)
        optimiser.clear()
        if rank < present:
            learn(first + rank)
        for turn in range(present):
            part = optimiser.gradients if turn == rank else heard
            give(part, turn)
            total += part
    if not agree():
        return False
    optimiser.gradients.copy_(total)
    return True
