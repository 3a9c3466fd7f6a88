"""Models and batches small enough to be compared with anything."""

import torch

from transduce.mixing import find_mixing
from transduce.packed import Packed
from transduce.paper.model import Transformer, initialise
from transduce.paper.operations import PLAIN
from transduce.settings import Architecture

SYMBOLS = 11
BEGIN = 1


def sizes(**changes):
    """A model of two layers whose widths all differ, without dropout."""
    tiny = {"layers": 2, "d_model": 8, "d_ff": 12, "heads": 2, "d_k": 3, "d_v": 5, "dropout": 0.0}
    return Architecture(**(tiny | {"max_positions": 40} | changes))


def model_of(architecture=None, *, symbols=SYMBOLS, seed=1, operations=PLAIN):
    """A model in float64 whose norms and biases have left their first values, too."""
    architecture = architecture or sizes()
    model = Transformer(
        architecture,
        symbols,
        symbols,
        operations=operations,
        build_mixing=find_mixing(architecture),
    ).double()
    generator = torch.Generator().manual_seed(seed)
    initialise(model, generator)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name or "bias" in name:
                noise = torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
                weight.add_(noise, alpha=0.2)
    return model


def sentences(lengths, *, symbols=SYMBOLS, seed=2):
    """Random ids, END (0) last in each sentence."""
    generator = torch.Generator().manual_seed(seed)
    return [
        [*torch.randint(2, symbols, (n - 1,), generator=generator).tolist(), 0] for n in lengths
    ]


def packed(lengths, *, symbols=SYMBOLS, seed=2):
    """The same, end to end."""
    return Packed.from_sentences(sentences(lengths, symbols=symbols, seed=seed))


def states_of(model, source, target):
    """Encoder states and decoder states of a batch."""
    memory = model.encode(source)
    return memory.states, model.decode(target.shift_right(BEGIN), memory)
