"""The whole model: two stacks of N layers over packed sentences    (section 3)"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import AttentionKernel, BatchAttention
from transduce.model.attention.mask import FULL_ATTENTION, AttentionMask
from transduce.model.attention.select import select_kernel
from transduce.model.dropout import dropout
from transduce.model.embedding import Embedding
from transduce.model.initialise import initialise
from transduce.model.layers import DecoderLayer, EncoderLayer
from transduce.model.mixing.sentence_layout import SentenceLayout
from transduce.model.positions import LearnedPositions, SinusoidalPositions, build_positions
from transduce.model.residual import top
from transduce.packed import Packed
from transduce.settings import Architecture

# T target tokens and S source tokens of a whole batch, end to end · V symbols


@final
@dataclass(frozen=True)
class EncoderOutput:
    """z1 .. zn of every sentence of a batch: what the decoder looks at."""

    states: Float[Tensor, "S d_model"]
    lengths: tuple[int, ...]


@final
class Transformer(nn.Module):
    """Encoder and decoder. `kernel` is the way to attend, if it is not left to the device."""

    def __init__(
        self,
        sizes: Architecture,
        source_symbols: int,
        target_symbols: int,
        *,
        kernel: AttentionKernel | None = None,
    ) -> None:
        super().__init__()
        self.sizes, self.kernel = sizes, kernel
        self.target = Embedding(target_symbols, sizes.d_model)
        self.source = (
            self.target
            if sizes.tie_embeddings == "all"
            else Embedding(source_symbols, sizes.d_model)
        )
        self.output = (
            self.target
            if sizes.tie_embeddings != "none"
            else Embedding(target_symbols, sizes.d_model)
        )
        self.source_positions = build_positions(sizes)
        self.target_positions = build_positions(sizes)
        self.encoder: Sequence[EncoderLayer] = stack(EncoderLayer, sizes)
        self.decoder: Sequence[DecoderLayer] = stack(DecoderLayer, sizes)
        self.encoder_final_norm, self.decoder_final_norm = top(sizes), top(sizes)

    def encode(self, source: Packed) -> EncoderOutput:
        """x1 .. xn to z1 .. zn, every sentence of the batch for itself."""
        sight = AttentionMask(neighbourhood=self.sizes.encoder_neighbourhood)
        among = self.among(source.lengths, sight)
        x = self.embed(source, self.source, self.source_positions)
        for layer in self.encoder:
            x = layer(x, among)
        return EncoderOutput(self.encoder_final_norm(x), source.lengths)

    def decode(self, inputs: Packed, memory: EncoderOutput) -> Float[Tensor, "T d_model"]:
        """The decoder's states, of outputs already shifted right by one."""
        sight = AttentionMask(causal=True, neighbourhood=self.sizes.decoder_neighbourhood)
        among = self.among(inputs.lengths, sight)
        attend_cross = self.attend(inputs.lengths, memory.lengths, FULL_ATTENTION)
        x = self.embed(inputs, self.target, self.target_positions)
        for layer in self.decoder:
            x = layer(x, memory.states, among, attend_cross)
        return self.decoder_final_norm(x)

    def logits(self, states: Float[Tensor, "T d_model"]) -> Float[Tensor, "T V"]:
        """The scores of all symbols before the softmax    (section 3.4)"""
        return self.output.logits(states)

    def embed(
        self, words: Packed, embedding: Embedding, places: "SinusoidalPositions | LearnedPositions"
    ) -> Float[Tensor, "T d_model"]:
        """Dropout(√d_model · E(w) + PE(pos))    (sections 3.4, 3.5 and 5.4)"""
        x = embedding(words.ids) + places(words.compute_positions(), max(words.lengths))
        return dropout(x, self.sizes.dropout, training=self.training)

    def among(
        self, lengths: Sequence[int], sight: AttentionMask
    ) -> BatchAttention | SentenceLayout:
        """What the layers' mixing asks of a batch: made once, used by all of them."""
        if self.sizes.mixing == "self-attention":
            return self.attend(lengths, lengths, sight)
        return SentenceLayout(lengths, self.output.weight.device)

    def attend(
        self, queries: Sequence[int], keys: Sequence[int], sight: AttentionMask
    ) -> BatchAttention:
        """The kernel, prepared for the lengths of a batch."""
        weight = self.output.weight
        kernel = self.kernel or select_kernel(self.sizes, weight.device, weight.dtype).kernel
        return kernel(queries, keys, sight, weight.device)

    def weights(self) -> dict[str, Tensor]:
        """Every learned tensor once, by name."""
        return {name: tensor.detach() for name, tensor in self.named_parameters()}


def stack(layer: Callable[[Architecture, int], nn.Module], sizes: Architecture) -> Any:  # noqa: ANN401
    """N layers; torch's list of modules does not tell of which kind they are."""
    return nn.ModuleList(layer(sizes, number) for number in range(sizes.layers))


def build_transformer(
    sizes: Architecture, source_symbols: int, target_symbols: int, seed: int
) -> Transformer:
    """A new model with first weights that follow from the seed."""
    model = Transformer(sizes, source_symbols, target_symbols)
    initialise(model, torch.Generator().manual_seed(seed))
    return model
