"""A worker: CTranslate2's beam search with our weights.

Arguments: shape, sentences a turn, sentences at once, length, precision, workers, threads of each.
As with ours, a model folder and a text may stand for the first two, and the length be 0.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import ctranslate2  # type: ignore[import-not-found]

from benchmarks.ctranslate2_model import name_symbols, write_model
from benchmarks.machine import read_memory
from benchmarks.search_input import load_search_input
from benchmarks.search_turn import build_search_turn
from benchmarks.turns import Turn, serve


def main(shape: str, count: str, at_once: str, length: str, *how: str) -> None:
    """Serve turns."""
    precision, workers, threads = how
    with TemporaryDirectory() as name:
        folder = Path(name, "model")
        model, sources = load_search_input(shape, count)
        write_model(model, folder)
        start = read_memory()["resident"]
        translator = ctranslate2.Translator(
            str(folder),
            compute_type=precision,
            inter_threads=int(workers),
            intra_threads=int(threads),
        )
    names = name_symbols(len(model.output.weight))
    texts = [[names[number] for number in one] for one in sources]
    lengths = {"min_decoding_length": int(length), "max_decoding_length": int(length)}

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        found = translator.translate_batch(
            texts,
            beam_size=4,
            length_penalty=0.6,
            max_batch_size=int(at_once),
            **(lengths if int(length) else {}),
        )
        seconds = time.perf_counter() - began
        outputs = [tuple(int(word[1:]) for word in one.hypotheses[0]) for one in found]
        return build_search_turn(outputs, seconds, start)

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
