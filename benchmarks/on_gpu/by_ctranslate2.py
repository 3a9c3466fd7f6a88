"""The same searches by CTranslate2 with our weights, on the same card.

Its wheel is made for CUDA 12. Where only a later cuBLAS is installed, a link named
libcublas.so.12 to it, in a folder of LD_LIBRARY_PATH, is enough.
"""

from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.ctranslate2_model import name_symbols, write_model
from benchmarks.on_gpu.scale import Cases, Figures, Scale, milliseconds
from benchmarks.on_gpu.searching import LENGTH, draw_sources
from transduce.paper.model import build_transformer


def cases(scale: Scale) -> Cases:
    """Many sentences at once, some, one alone, in both of its half precisions."""
    for kind in ("float32",) if scale.rehearsed else ("bfloat16", "float16"):
        for count in scale.sentences:
            name = f"{count} sentence{'s'[: count - 1]} at once, {kind}"
            yield name, partial(measure_search, scale, count, kind)


def measure_search(scale: Scale, count: int, kind: str) -> Figures:
    """Output tokens a second, beam 4, all outputs of one length."""
    import ctranslate2  # type: ignore[import-not-found]

    length = 3 if scale.rehearsed else LENGTH
    names = name_symbols(scale.symbols)
    texts = [[names[number] for number in one] for one in draw_sources(scale, count)]
    with TemporaryDirectory() as name:
        folder = Path(name, "model")
        write_model(build_transformer(scale.sizes, scale.symbols, scale.symbols, 1), folder)
        translator = ctranslate2.Translator(
            str(folder), device=scale.device.type, compute_type=kind
        )
    seconds = scale.timed(
        lambda: translator.translate_batch(
            texts,
            beam_size=4,
            length_penalty=0.6,
            max_batch_size=count,
            min_decoding_length=length,
            max_decoding_length=length,
        ),
        rounds=3,
    )
    return {
        **milliseconds(seconds),
        "output tokens/s": count * length / median(seconds),
        "sentences/s": count / median(seconds),
    }
