"""One layer of a kind, as it stands in a model, over one sentence of n words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.windowed import build_windowed_attention
from transduce.model.initialise import initialise
from transduce.model.mixing.build import Mixing, build_mixing
from transduce.model.mixing.sentence_layout import SentenceLayout
from transduce.reproduce.table1.kinds import Kind
from transduce.settings import Architecture

HEADS = 8  # as in the paper's base model; d_k = d_v = d / h
CPU = torch.device("cpu")


@final
@dataclass(frozen=True)
class Layer:
    """The mixing alone: without its norm, and without the feed-forward network after it."""

    kind: Kind
    sizes: Architecture
    mixing: Mixing
    among: Any  # BatchAttention for self-attention, SentenceLayout for the others
    n: int

    def __call__(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """What the sentence becomes."""
        return self.mixing(x, self.among)

    def words(self, dtype: torch.dtype) -> Float[Tensor, "n d"]:
        """A sentence to run it on, the same each time."""
        generator = torch.Generator().manual_seed(self.n)
        shape = (self.n, self.sizes.d_model)
        return torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()

    def update(self) -> Callable[[], None]:
        """Forward and back in float32: what training does with it."""
        x = self.words(torch.float32)

        def forward_and_back() -> None:
            self.mixing.zero_grad()
            x.grad = None
            self(x).sum().backward()

        return forward_and_back


def sizes_of(kind: Kind, d: int, k: int, r: int) -> Architecture:
    """The settings of a model with this kind of layer."""
    return Architecture(
        d_model=d,
        heads=HEADS,
        d_k=d // HEADS,
        d_v=d // HEADS,
        mixing=kind.mixing,
        kernel_size=k,
        encoder_neighbourhood=r if kind.restricted else 0,
        decoder_neighbourhood=r if kind.restricted else 0,
    )


def layer_of(
    kind: Kind, n: int, sizes: Architecture, *, dtype: torch.dtype = torch.float32
) -> Layer:
    """The first layer of an encoder, with its first weights."""
    return one_of_stack(kind, n, sizes, 0, causal=False, dtype=dtype)


def stack_of(kind: Kind, n: int, sizes: Architecture, layers: int, *, causal: bool) -> list[Layer]:
    """So many layers of an encoder, or of a decoder, in float64."""
    return [
        one_of_stack(kind, n, sizes, number, causal=causal, dtype=torch.float64)
        for number in range(layers)
    ]


def one_of_stack(
    kind: Kind, n: int, sizes: Architecture, number: int, *, causal: bool, dtype: torch.dtype
) -> Layer:
    """Layer `number` of a stack."""
    mixing = build_mixing(sizes, number, causal=causal)
    initialise(mixing, torch.Generator().manual_seed(number))
    sight = AttentionMask(neighbourhood=sizes.encoder_neighbourhood, causal=causal)
    by_attention = kind.mixing == "self-attention"
    among = (
        build_windowed_attention((n,), (n,), sight, CPU)
        if by_attention
        else SentenceLayout((n,), CPU)
    )
    return Layer(kind, sizes, mixing.to(dtype), among, n)
