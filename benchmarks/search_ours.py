"""A worker: beam search of ours.

Arguments: shape, sentences a turn, sentences at once, length, precision, which share of how many.
"""

import sys
import time

import torch

from benchmarks.forced import Forced
from benchmarks.machine import memory_now
from benchmarks.searched import searched
from benchmarks.shapes import SHAPES, V, sentences
from benchmarks.turns import Turn, serve
from transduce.cli.process import keep_memory
from transduce.model.layout import lay_for_answers
from transduce.model.transformer import transformer
from transduce.search import translate_ids
from transduce.settings import Search
from transduce.tasks.decoder import TransformerDecoder


def main(shape: str, count: str, at_once: str, length: str, precision: str, share: str) -> None:
    """Serve turns."""
    keep_memory()
    start = memory_now()["resident"]
    model = transformer(SHAPES[shape], V, V, 1).eval().to(getattr(torch, precision))
    lay_for_answers(model)
    decoder = Forced(TransformerDecoder(model), int(length))
    first_source, every = map(int, share.split("/"))
    sources, size = sentences(int(count))[first_source::every], int(at_once)
    parts = [sources[first : first + size] for first in range(0, len(sources), size)]

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        found = [translate_ids(decoder, part, Search(batch=size)) for part in parts]
        seconds = time.perf_counter() - began
        outputs = [best[0].ids for part in found for best in part]
        return searched(outputs, seconds, start)

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
