"""Ways to attend, at the lengths of real sentences, forward and back."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from benchmarks.on_gpu.scale import Cases, Figures, Scale, lengths, milliseconds
from benchmarks.padded_attention import PaddedAttention
from transduce.fast.blocks import BucketedAttention
from transduce.fast.varlen import VarlenAttention
from transduce.paper.operations import FULL_ATTENTION, AttentionMask, BatchAttention

MASKS = {"past only": AttentionMask(causal=True), "over the source": FULL_ATTENTION}
SPREADS = {"near-equal lengths, about 28": 0.05, "lengths 3 to 120, mean 28": 0.6}


def cases(scale: Scale) -> Cases:
    """Every way, every mask, two kinds of batches."""
    ways = {
        "torch's variable-length kernel": VarlenAttention,
        "rectangles, backward by hand": BucketedAttention,
        "one rectangle, torch's scaled dot product": PaddedAttention,
        "one rectangle, products and softmax, compiled": Multiplied,
        "FlexAttention, sentences as documents, compiled": Documents,
    }
    for spread, deviation in SPREADS.items():
        source, target = lengths(scale.tokens, 28, deviation, 1)
        for kind in MASKS:
            sides = (target, source if kind == "over the source" else target)
            for way, kernel in ways.items():
                name = f"{way}; {kind}; {spread}"
                yield name, partial(measure_attention, scale, kernel, sides, MASKS[kind])


def measure_attention(
    scale: Scale,
    kernel: Callable[..., BatchAttention],
    sides: tuple[Sequence[int], Sequence[int]],
    allowed: AttentionMask,
) -> Figures:
    """One layer's attention of an update, and of its gradients."""
    attend = kernel(*sides, allowed, scale.device)
    heads, width = scale.sizes.heads, scale.sizes.d_k
    q, k, v = (scale.random(sum(side), heads, width) for side in (sides[0], sides[1], sides[1]))
    back = scale.random(sum(sides[0]), heads, width)
    for side in (q, k, v):
        side.requires_grad_()
    return milliseconds(scale.timed(lambda: torch.autograd.grad(attend(q, k, v), (q, k, v), back)))


class Multiplied(PaddedAttention):
    """softmax(Q Kᵀ / √d_k) V over one rectangle, left to the compiler."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, _dropout: float = 0.0) -> Tensor:
        """Pad, attend, and take the padding out again."""
        return attend_padded(self, q, k, v)


@torch.compile(dynamic=True)
def attend_padded(one: PaddedAttention, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Equation 1 over rectangles."""
    padded_q = q[one.query_tokens].unflatten(0, (-1, one.height)).transpose(1, 2)
    padded_k, padded_v = (
        side[one.key_tokens].unflatten(0, (-1, one.width)).transpose(1, 2) for side in (k, v)
    )
    scores = padded_q @ padded_k.transpose(2, 3) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~one.allowed, -math.inf).softmax(dim=-1)
    return (weights @ padded_v).transpose(1, 2).flatten(0, 1)[one.query_real]


class Documents:
    """FlexAttention over the whole batch, a sentence being a document."""

    def __init__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        allowed: AttentionMask,
        device: torch.device,
    ) -> None:
        of_query, of_key = (
            torch.arange(len(side)).repeat_interleave(torch.tensor(side)).to(device)
            for side in (queries, keys)
        )

        def may_attend(_b: Tensor, _h: Tensor, query: Tensor, key: Tensor) -> Tensor:
            same = of_query[query] == of_key[key]
            return same & (query >= key) if allowed.causal else same

        self.mask = create_block_mask(may_attend, None, None, len(of_query), len(of_key), device)
        self.attend = torch.compile(flex_attention, dynamic=False)

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, _dropout: float = 0.0) -> Tensor:
        """As one sentence of all, heads apart."""
        sides = (side.transpose(0, 1)[None] for side in (q, k, v))
        return self.attend(*sides, block_mask=self.mask)[0].transpose(0, 1)
