"""The Transformer: an encoder and a decoder of N layers each    (section 3)"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import AttentionKernel
from transduce.model.attention.mask import FULL_ATTENTION
from transduce.model.attention.select import select_kernel
from transduce.model.decoding.layer_cache import StepTensors
from transduce.model.dropout import dropout
from transduce.model.embedding import Embedding, OutputBias
from transduce.model.initialise import initialise
from transduce.model.layers import DecoderLayer, EncoderLayer
from transduce.model.linear import Linear, LinearOperator
from transduce.model.positions import LearnedPositions, SinusoidalPositions, build_positions
from transduce.model.residual import build_final_norm
from transduce.packed import Packed
from transduce.settings import Architecture

# T target tokens and S source tokens of a whole batch, end to end · V symbols

# the states and caches of one decoding step before the layers → the states after them
RunLayers = Callable[[Tensor, StepTensors], Tensor]


@final
@dataclass(frozen=True)
class EncoderOutput:
    """The encoder's output z1 .. zn for every source sentence of a packed batch    (section 3)"""

    states: Float[Tensor, "S d_model"]
    lengths: tuple[int, ...]


@final
class Transformer(nn.Module):
    """The paper's model: embeddings, encoder, decoder and output projection    (section 3)

    `kernel` replaces the attention kernel that device and precision would select.
    """

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
        self.encoder: Sequence[EncoderLayer] = build_stack(EncoderLayer, sizes)
        self.decoder: Sequence[DecoderLayer] = build_stack(DecoderLayer, sizes)
        self.encoder_final_norm = build_final_norm(sizes)
        self.decoder_final_norm = build_final_norm(sizes)
        self.output_bias = OutputBias(target_symbols) if sizes.output_bias else None
        self.layer_graph: RunLayers | None = None  # replaces the decoder's layers in a search
        self.output_projection: LinearOperator = Linear.from_weight(
            self.output.weight, self.bias_of_logits
        )

    def encode(self, source: Packed) -> EncoderOutput:
        """Compute the encoder's output z1 .. zn of each source sentence x1 .. xn    (section 3)"""
        mixing, device = self.encoder[0].self_attention, self.output.weight.device
        context = mixing.build_context(source.lengths, self.select_kernel(), device)
        x = self.embed(source, self.source, self.source_positions)
        for layer in self.encoder:
            x = layer(x, context)
        return EncoderOutput(self.encoder_final_norm(x), source.lengths)

    def decode(self, inputs: Packed, memory: EncoderOutput) -> Float[Tensor, "T d_model"]:
        """Return the decoder's states for `inputs`, target tokens already shifted right    (3.1)"""
        kernel, device = self.select_kernel(), self.output.weight.device
        context = self.decoder[0].self_attention.build_context(inputs.lengths, kernel, device)
        attend_cross = kernel(inputs.lengths, memory.lengths, FULL_ATTENTION, device)
        x = self.embed(inputs, self.target, self.target_positions)
        for layer in self.decoder:
            x = layer(x, memory.states, context, attend_cross)
        return self.decoder_final_norm(x)

    def logits(self, states: Float[Tensor, "T d_model"]) -> Float[Tensor, "T V"]:
        """Project decoder states to the logits of all symbols    (section 3.4)"""
        return self.output_projection(states)

    @property
    def bias_of_logits(self) -> nn.Parameter | None:
        """The bias of the map before the softmax, None in the paper's model."""
        return None if self.output_bias is None else self.output_bias.weight

    def embed(
        self,
        tokens: Packed,
        embedding: Embedding,
        positions: "SinusoidalPositions | LearnedPositions",
    ) -> Float[Tensor, "T d_model"]:
        """Compute Dropout(√d_model · E(w) + PE(pos)) of packed tokens    (3.4, 3.5, 5.4)"""
        x = embedding(tokens.ids) + positions(tokens.compute_positions(), max(tokens.lengths))
        return dropout(x, self.sizes.dropout, training=self.training)

    def select_kernel(self) -> AttentionKernel:
        """Return `self.kernel` if set, else the best attention kernel for device and precision."""
        weight = self.output.weight
        return self.kernel or select_kernel(self.sizes, weight.device, weight.dtype).kernel

    def named_weights(self) -> dict[str, Tensor]:
        """Return all parameters by name, detached; a tied matrix appears once."""
        return {name: tensor.detach() for name, tensor in self.named_parameters()}


def build_stack(build_layer: Callable[[Architecture, int], nn.Module], sizes: Architecture) -> Any:  # noqa: ANN401 - torch's ModuleList does not type its elements
    """Build the N layers of the encoder or the decoder as a ModuleList."""
    return nn.ModuleList(build_layer(sizes, number) for number in range(sizes.layers))


def build_transformer(
    sizes: Architecture, source_symbols: int, target_symbols: int, seed: int
) -> Transformer:
    """Build an untrained model whose initial weights are determined by the seed alone."""
    model = Transformer(sizes, source_symbols, target_symbols)
    initialise(model, torch.Generator().manual_seed(seed))
    return model
