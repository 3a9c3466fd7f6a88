"""A worker: the product of two matrices, all that a processor can do. Argument: precision."""

import sys
import time

import torch

from benchmarks.turns import Turn, serve

REPEATS = 200


def main(precision: str) -> None:
    """Serve turns of [2048 x 512] times [512 x 2048]."""
    kind = getattr(torch, precision)
    a, b = torch.rand(2048, 512).to(kind), torch.rand(512, 2048).to(kind)

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        for _ in range(REPEATS):
            torch.mm(a, b)
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "operations": REPEATS * 2 * 2048 * 512 * 2048}

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
