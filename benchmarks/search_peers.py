"""A worker: Marian's beam search with our weights.

Arguments: shape, sentences a turn, sentences at once, length, precision.
"""

import sys
import time

import torch
from torch import Tensor

from benchmarks.machine import memory_now
from benchmarks.marian import marian, with_weights
from benchmarks.searched import searched
from benchmarks.shapes import SHAPES
from benchmarks.task import in_parts, task
from benchmarks.turns import Turn, serve
from transduce.vocabulary import BEGIN, END


def main(shape: str, count: str, at_once: str, length: str, precision: str) -> None:
    """Serve turns."""
    start = memory_now()["resident"]
    model = marian(SHAPES[shape]).eval()
    weights, sources = task(shape, count)
    with_weights(model, weights)
    model.to(getattr(torch, precision))
    parts = list(in_parts(sorted(sources, key=len), int(at_once)))

    @torch.inference_mode()
    def translated(part: list[list[int]]) -> list[tuple[int, ...]]:
        """The best output of each, without BEGIN and END."""
        ids = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(one) for one in part], batch_first=True, padding_value=BEGIN
        )
        written: Tensor = model.generate(
            input_ids=ids,
            attention_mask=(ids != BEGIN).long(),
            num_beams=4,
            do_sample=False,
            min_new_tokens=int(length),
            max_new_tokens=int(length) + 1,
        )
        return [tuple(row[1 : row.index(END)]) for row in written.tolist()]

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        found = {
            tuple(source): output
            for part in parts
            for source, output in zip(part, translated(part), strict=True)
        }
        seconds = time.perf_counter() - began
        outputs = [found[tuple(source)] for source in sources]
        return searched(outputs, seconds, start)

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
