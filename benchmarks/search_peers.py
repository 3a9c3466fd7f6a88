"""A worker: Marian's beam search with our weights.

Arguments: shape, sentences a turn, sentences at once, length, precision.
"""

import sys
import time

import torch
from torch import Tensor

from benchmarks.machine import read_memory
from benchmarks.marian import build_marian, copy_weights
from benchmarks.search_input import load_search_input, split_into_batches
from benchmarks.search_turn import build_search_turn
from benchmarks.shapes import SHAPES
from benchmarks.turns import Turn, serve
from transduce.vocabulary import BEGIN


def main(shape: str, count: str, at_once: str, length: str, precision: str) -> None:
    """Serve turns."""
    start = read_memory()["resident"]
    model = build_marian(SHAPES[shape]).eval()
    weights, sources = load_search_input(shape, count)
    copy_weights(model, weights)
    model.to(getattr(torch, precision))
    model.generation_config.forced_eos_token_id = None  # no step for END
    parts = list(split_into_batches(sorted(sources, key=len), int(at_once)))

    @torch.inference_mode()
    def translate_batch(part: list[list[int]]) -> list[tuple[int, ...]]:
        """The best output of each, without BEGIN."""
        ids = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(one) for one in part], batch_first=True, padding_value=BEGIN
        )
        written: Tensor = model.generate(
            input_ids=ids,
            attention_mask=(ids != BEGIN).long(),
            num_beams=4,
            do_sample=False,
            min_new_tokens=int(length),
            max_new_tokens=int(length),
        )
        return [tuple(row[1:]) for row in written.tolist()]

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        found = {
            tuple(source): output
            for part in parts
            for source, output in zip(part, translate_batch(part), strict=True)
        }
        seconds = time.perf_counter() - began
        outputs = [found[tuple(source)] for source in sources]
        return build_search_turn(outputs, seconds, start)

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
