"""A worker: beam search of ours.

Arguments: shape, sentences a turn, sentences at once, length, precision, which share of how many.
A model folder and a text may stand for the first two; at a length of 0 outputs end where they end.
"""

import sys
import time
from functools import partial

from benchmarks.fixed_length import FixedLengthDecoder
from benchmarks.machine import read_memory
from benchmarks.search_input import load_search_input, split_into_batches
from benchmarks.search_turn import build_search_turn
from benchmarks.turns import Turn, serve
from transduce.equip import equip_for_long_searches
from transduce.fast.choose import equip_for_inference
from transduce.machine.process_settings import keep_freed_memory
from transduce.paper.model import StepwiseTransformer
from transduce.paper.search import beam_search
from transduce.settings import Search
from transduce.settings.search import InferencePrecision


def main(shape: str, count: str, at_once: str, length: str, precision: str, share: str) -> None:
    """Serve turns."""
    keep_freed_memory()
    start = read_memory()["resident"]
    model, sources = load_search_input(shape, count)
    equip_for_inference(model, InferencePrecision(precision))
    equip_for_long_searches([model])  # as a worker process of `translate` does
    decoder = StepwiseTransformer(model)
    first_source, every = map(int, share.split("/"))
    sources, search = sources[first_source::every], Search(batch_size=int(at_once))

    find = partial(beam_search, search=search, operations=model.operations)

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        if int(length):
            parts = split_into_batches(sources, int(at_once))
            forced = FixedLengthDecoder(decoder, int(length))
            found = [best for part in parts for best in find(forced, part)]
        else:
            found = find(decoder, sources)
        seconds = time.perf_counter() - began
        return build_search_turn([best[0].ids for best in found], seconds, start)

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
