"""The base class of token-mixing layers: self-attention and the other layers of Table 1.

In a token-mixing layer each position of a sentence depends on other positions (section 4). The
layer builds its own per-batch context and declares the shape of its entries in the KV cache, so
that the rest of the model is the same for all token-mixing layers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import AttentionKernel, BatchAttention
from transduce.model.decoding.layer_cache import CacheShape, LayerCache
from transduce.model.mixing.sentence_layout import SentenceLayout

# T tokens of a whole batch, end to end · R rows, one per hypothesis

Context = TypeVar("Context")
MixingContext = BatchAttention | SentenceLayout


class Mixing(nn.Module, Generic[Context], ABC):
    """Base class of token-mixing layers: self-attention and its alternatives of Table 1."""

    cache_shape: CacheShape  # shape of the entries that a decoding step stores in the KV cache
    reach: int  # number of earlier steps whose entries a decoding step reads

    @abstractmethod
    def build_context(
        self, lengths: Sequence[int], kernel: AttentionKernel, device: torch.device
    ) -> Context:
        """Build the indices and masks that the layer needs for a batch with these sentence lengths.

        All layers of a stack share this context.
        """

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "T d_model"], context: Context, /
    ) -> Float[Tensor, "T d_model"]:
        """Return each token's output, computed from the positions of the token's sentence."""

    @abstractmethod
    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + output for the newest token of R hypotheses, and cache the token."""

    @abstractmethod
    def initialise(self, generator: torch.Generator) -> None:
        """Draw all initial weights of the layer from the random generator, in place."""

    @property
    @abstractmethod
    def last_matrix(self) -> Tensor | None:
        """This token-mixing layer's last matrix, which `scale_by_depth` divides, or None."""

    if TYPE_CHECKING:
        __call__ = forward
