"""A trained model translates a text, beam 4: ours, CTranslate2 and Hugging Face's Marian.

All compute in bfloat16 with the same weights; outputs end where each program ends them.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch.nn.utils.rnn import pad_sequence

from benchmarks.ctranslate2_model import name_symbols, write_model
from benchmarks.on_gpu.scale import Cases, Figures, Scale, milliseconds
from benchmarks.search_input import load_search_input, split_into_batches
from transduce.fast.choose import choose_strategy, equip_for_inference
from transduce.paper.model import StepwiseTransformer, Transformer
from transduce.paper.search import beam_strategy, run_continuous_batching
from transduce.settings import Search
from transduce.settings.search import InferencePrecision
from transduce.vocabulary import BEGIN, END

Sources = list[list[int]]
Translate = Callable[[Sources, int], int]  # sources, so many at once: number of output tokens
FEW = 50  # sentences that are translated one after another
PADDED_AT_MOST = 512  # sentences that Marian's rectangles hold


def cases(scale: Scale) -> Cases:
    """The whole text with many sentences at once; its first sentences one after another."""
    programs = {"transduce": open_ours, "CTranslate2": open_ctranslate2, "Marian": open_marian}
    for program, open_program in programs.items():
        for count in scale.sentences:
            if program != "Marian" or count <= PADDED_AT_MOST:
                name = f"{program}, {count} sentence{'s'[: count - 1]} at once"
                yield name, partial(measure_program, scale, open_program, count)


def measure_program(
    scale: Scale, open_program: Callable[[Transformer, str], Translate], count: int
) -> Figures:
    """Output tokens a second, without END; the first call, which is not measured, warms up."""
    assert scale.text, "a trained model and a text are needed: --text MODEL FILE"
    model, sources = load_search_input(*scale.text)
    if count == 1:
        sources = sources[:FEW]
    translate = open_program(model, scale.device.type)
    written: list[int] = []
    rounds = 1 if open_program is open_marian else 3  # the slowest by far
    seconds = scale.timed(lambda: written.append(translate(sources, count)), rounds=rounds, warm=0)
    return {
        **milliseconds(seconds),
        "output tokens/s": written[-1] / median(seconds),
        "sentences/s": len(sources) / median(seconds),
    }


def open_ours(model: Transformer, device: str) -> Translate:
    """Return our search, by which `transduce translate` searches."""
    equip_for_inference(model.to(device), InferencePrecision("bfloat16"))
    decoder = StepwiseTransformer(model)

    def translate(sources: Sources, count: int) -> int:
        parts = split_into_batches(sources, 1) if count == 1 else [sources]
        search, written = Search(batch_size=count), 0
        for part in parts:
            strategy = beam_strategy(decoder, part, search, operations=model.operations)
            strategy = choose_strategy(strategy, search, decoder.device)
            found = run_continuous_batching(decoder, part, search, strategy)
            written += sum(len(best[0].ids) for _, best in found)
        return written

    return translate


def open_ctranslate2(model: Transformer, device: str) -> Translate:
    """Return CTranslate2's search, which sorts sentences by length itself."""
    import ctranslate2  # type: ignore[import-not-found]

    names = name_symbols(len(model.output.weight))
    with TemporaryDirectory() as name:
        folder = Path(name, "model")
        write_model(model, folder)
        kind = "bfloat16" if device == "cuda" else "float32"
        translator = ctranslate2.Translator(str(folder), device=device, compute_type=kind)

    def translate(sources: Sources, count: int) -> int:
        found = translator.translate_batch(
            [[names[number] for number in one] for one in sources],
            beam_size=4,
            length_penalty=0.6,
            max_batch_size=count,
        )
        return sum(len(one.hypotheses[0]) for one in found)

    return translate


def open_marian(model: Transformer, device: str) -> Translate:
    """Return Marian's search of padded batches, sorted by length."""
    from benchmarks.marian import build_marian, copy_weights

    theirs = build_marian(model.sizes, len(model.output.weight))
    copy_weights(theirs, model)
    theirs = theirs.eval().to(device, torch.bfloat16)

    @torch.inference_mode()
    def translate(sources: Sources, count: int) -> int:
        written = 0
        for part in split_into_batches(sorted(sources, key=len), count):
            rows = [torch.tensor(one) for one in part]
            ids = pad_sequence(rows, batch_first=True, padding_value=BEGIN).to(device)
            lengths = torch.tensor([len(one) for one in part])
            real = (torch.arange(ids.shape[1]) < lengths[:, None]).long().to(device)
            found = theirs.generate(
                input_ids=ids,
                attention_mask=real,
                num_beams=4,
                length_penalty=0.6,
                do_sample=False,
                max_new_tokens=len(part[-1]) + Search.extra_length,
            )
            written += int(((found != BEGIN) & (found != END)).sum())
        return written

    return translate
