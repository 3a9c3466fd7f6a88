"""Who computes which micro-batches of an update: any answer gives the same gradient."""

from collections.abc import Sequence


def shares(costs: Sequence[int], size: int) -> list[list[int]]:
    """The numbers of each process's micro-batches: the next costliest to whoever has least."""
    shares: list[list[int]] = [[] for _ in range(size)]
    loads = [0] * size
    for number in sorted(range(len(costs)), key=lambda number: -costs[number]):
        rank = loads.index(min(loads))
        shares[rank].append(number)
        loads[rank] += costs[number]
    return [sorted(share) for share in shares]
