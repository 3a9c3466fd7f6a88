"""A worker: training steps of a peer, padded.

Arguments: shape, updates a turn, precision, peer, allocator.
"""

import math
import sys
import time

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from benchmarks.machine import read_memory
from benchmarks.marian import build_marian
from benchmarks.shapes import SHAPES, V, batches
from benchmarks.turns import Turn, serve
from transduce.machine.process_settings import keep_freed_memory
from transduce.packed import Batch, Packed
from transduce.paper.model import compute_sinusoids
from transduce.settings import Architecture
from transduce.vocabulary import BEGIN

# B sentences · S, T places of the longest source and target
IGNORED = -100  # a label that cross-entropy leaves out


class Torch(nn.Module):
    """torch.nn.Transformer with what its tutorial puts around it, one tied matrix."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.scale = math.sqrt(sizes.d_model)
        self.embedding = nn.Embedding(V, sizes.d_model)
        nn.init.normal_(self.embedding.weight, std=sizes.d_model**-0.5)
        self.register_buffer("positions", compute_sinusoids(256, sizes.d_model).float())
        self.dropout = nn.Dropout(sizes.dropout)
        self.transformer = nn.Transformer(
            sizes.d_model,
            sizes.heads,
            sizes.layers,
            sizes.layers,
            sizes.d_ff,
            sizes.dropout,
            batch_first=True,
        )

    def embed(self, ids: Tensor) -> Tensor:
        """Symbols and places."""
        assert isinstance(self.positions, Tensor)
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.shape[1]])

    def forward(self, source: Tensor, inputs: Tensor, hidden: Tensor) -> Tensor:
        """All logits [B T V]; `hidden` is true at the padding of the source."""
        causal = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
        states = self.transformer(
            self.embed(source),
            self.embed(inputs),
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=torch.zeros(hidden.shape).masked_fill(hidden, -math.inf),
            memory_key_padding_mask=torch.zeros(hidden.shape).masked_fill(hidden, -math.inf),
        )
        return functional.linear(states, self.embedding.weight)


class Marian(nn.Module):
    """Hugging Face's Marian."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.model = build_marian(sizes)

    def forward(self, source: Tensor, inputs: Tensor, hidden: Tensor) -> Tensor:
        """All logits."""
        return self.model(
            input_ids=source, attention_mask=(~hidden).long(), decoder_input_ids=inputs
        ).logits


def pad_sentences(sentences: Packed, value: int) -> Tensor:
    """A rectangle [B L]."""
    return pad_sequence(sentences.ids.split(list(sentences.lengths)), True, value)  # noqa: FBT003


def take_update(
    model: nn.Module, optimiser: torch.optim.Optimizer, batch: Batch, *, lowered: bool
) -> None:
    """One update, as people write it."""
    source, inputs = (
        pad_sentences(batch.source, BEGIN),
        pad_sentences(batch.target.shift_right(BEGIN), BEGIN),
    )
    labels = pad_sentences(batch.target, IGNORED)
    hidden = torch.arange(source.shape[1]) >= torch.tensor(batch.source.lengths)[:, None]
    optimiser.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=lowered):
        logits = model(source, inputs, hidden)
        loss = functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, label_smoothing=0.1
        )
    loss.backward()
    optimiser.step()


def main(shape: str, updates: str, precision: str, peer: str, allocator: str) -> None:
    """Serve turns."""
    if allocator == "kept":
        keep_freed_memory()
    start = read_memory()["resident"]
    model = {"torch": Torch, "marian": Marian}[peer](SHAPES[shape]).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def turn(number: int) -> Turn:
        some = batches(number, int(updates))
        began = time.perf_counter()
        for batch in some:
            take_update(model, optimiser, batch, lowered=precision == "bfloat16")
        seconds = time.perf_counter() - began
        return {
            "seconds": seconds,
            "source_tokens": sum(len(batch.source.ids) for batch in some),
            "target_tokens": sum(len(batch.target.ids) for batch in some),
            "memory": read_memory()["peak"] - start,
        }

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
