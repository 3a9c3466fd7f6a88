"""The same updates and searches by Hugging Face's Marian, padded, on the same card."""

from functools import partial
from statistics import median

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from benchmarks.marian import build_marian
from benchmarks.on_gpu.ladder import UPDATES, build_batch, count_operations, count_tokens
from benchmarks.on_gpu.scale import BIG, Cases, Figures, Scale, lengths, milliseconds
from benchmarks.on_gpu.searching import LENGTH
from transduce.packed import Batch, Packed
from transduce.vocabulary import BEGIN

IGNORED = -100  # a label that cross-entropy leaves out


def cases(scale: Scale) -> Cases:
    """Updates of base and big, searches, and updates that torch compiles."""
    sizes = {"base": scale, "big": scale if scale.rehearsed else scale.with_sizes(BIG)}
    for name, chosen in sizes.items():
        yield f"an update of {name}", partial(measure_update, chosen)
    for count in scale.sentences:
        name = f"search, {count} sentence{'s'[: count - 1]} at once, bfloat16"
        yield name, partial(measure_search, scale, count)
    for name, chosen in sizes.items():
        yield f"an update of {name}, compiled", partial(measure_update, chosen, compiled=True)


def pad(sentences: Packed, value: int) -> Tensor:
    """Return a batch as one rectangle [B L]."""
    split = sentences.ids.split(list(sentences.lengths))
    return pad_sequence(list(split), batch_first=True, padding_value=value)


def measure_update(scale: Scale, *, compiled: bool = False) -> Figures:
    """Time of an update in bfloat16 by autocast, with torch's fused Adam."""
    torch.compiler.reset()
    model = build_marian(scale.sizes, scale.symbols).to(scale.device).train()
    optimiser = torch.optim.Adam(
        model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    compute = torch.compile(model) if compiled else model
    updates = [build_batch(scale, number) for number in range(UPDATES)]
    padded = [pad_update(batch, scale.device) for batch in updates]

    def turn() -> None:
        for source, inputs, labels, real in padded:
            optimiser.zero_grad()
            with torch.autocast(scale.device.type, torch.bfloat16):
                logits = compute(
                    input_ids=source, attention_mask=real, decoder_input_ids=inputs
                ).logits
                loss = functional.cross_entropy(
                    logits.flatten(0, 1).float(),
                    labels.flatten(),
                    ignore_index=IGNORED,
                    label_smoothing=0.1,
                )
            loss.backward()
            optimiser.step()

    seconds = [s / UPDATES for s in scale.timed(turn)]
    share = UPDATES * median(seconds)
    gpu = scale.device.type == "cuda"
    return {
        **milliseconds(seconds),
        "source + target tokens/s": sum(map(count_tokens, updates)) / share,
        "TFLOP/s": sum(count_operations(scale, batch) for batch in updates) / share / 1e12,
        "GB": torch.cuda.max_memory_allocated() / 1e9 if gpu else 0.0,
    }


def pad_update(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return sources, inputs of the decoder, labels, and where sources are real, on the device."""
    source, inputs = pad(batch.source, BEGIN), pad(batch.target.shift_right(BEGIN), BEGIN)
    real = torch.arange(source.shape[1]) < torch.tensor(batch.source.lengths)[:, None]
    rectangles = (source, inputs, pad(batch.target, IGNORED), real.long())
    return tuple(one.to(device) for one in rectangles)  # type: ignore[return-value]


def measure_search(scale: Scale, count: int) -> Figures:
    """Output tokens a second, beam 4, all outputs of one length."""
    model = build_marian(scale.sizes, scale.symbols).eval().to(scale.device, torch.bfloat16)
    model.generation_config.forced_eos_token_id = None
    length = 3 if scale.rehearsed else LENGTH
    draws = np.random.default_rng(1)
    source = (lengths(40 * count, 28, 0.3, 1)[0] * count)[:count]
    sources = [torch.from_numpy(draws.integers(2, scale.symbols, n)) for n in source]
    ids = pad_sequence(sources, batch_first=True).to(scale.device)
    real = (torch.arange(ids.shape[1]) < torch.tensor(source)[:, None]).long().to(scale.device)

    @torch.inference_mode()
    def search() -> None:
        model.generate(
            input_ids=ids,
            attention_mask=real,
            num_beams=4,
            do_sample=False,
            min_new_tokens=length,
            max_new_tokens=length,
        )

    seconds = scale.timed(search, rounds=3)
    return {
        **milliseconds(seconds),
        "output tokens/s": count * length / median(seconds),
        "sentences/s": count / median(seconds),
    }
