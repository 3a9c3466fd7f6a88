"""What every mixing layer provides: the layers of Table 1, self-attention among them    (section 4)

A mixing is a layer through which the positions of a sentence exchange information. It builds its
own per-batch context and states what the KV cache keeps for it, so that the rest of the model need
not know which one it is.
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

# T tokens of a whole batch, end to end · R rows

Context = TypeVar("Context")
MixingContext = BatchAttention | SentenceLayout


class Mixing(nn.Module, Generic[Context], ABC):
    """A layer through which the positions of a sentence exchange information    (Table 1)"""

    cache_shape: CacheShape  # what one decoding step keeps for later ones
    reach: int  # how many steps back a decoding step reads

    @abstractmethod
    def build_context(
        self, lengths: Sequence[int], kernel: AttentionKernel, device: torch.device
    ) -> Context:
        """Build what the layer needs to know of a batch of sentences of these lengths.

        All layers of a stack share one context.
        """

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "T d_model"], context: Context, /
    ) -> Float[Tensor, "T d_model"]:
        """Compute each position of a packed batch from the positions of its own sentence."""

    @abstractmethod
    def decode_step(
        self, x: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Compute one more position of every row from the cache, and append to it."""

    @abstractmethod
    def initialise(self, generator: torch.Generator) -> None:
        """Draw all first weights of the layer from the generator."""

    @property
    @abstractmethod
    def last_matrix(self) -> Tensor | None:
        """The last matrix of the output path, scaled by depth; None if there is none."""

    if TYPE_CHECKING:
        __call__ = forward
