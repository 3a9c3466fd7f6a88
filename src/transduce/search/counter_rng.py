"""Noise that is a pure function of a few whole numbers, on every device and in any company."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.machine.device import sums_in

GOLDEN = -0x61C8864680B583EB  # 2^64 / golden ratio, as a signed number
ROUNDS = ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15))


def mixed(bits: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """64 bits to 64 others, one to one, every bit depending on all    (SplitMix64, 2014)"""
    for shift, factor in ROUNDS:
        bits = (bits ^ shifted(bits, shift)) * factor  # whole numbers wrap around
    return bits ^ shifted(bits, 31)


def shifted(bits: Int[Tensor, "*shape"], places: int) -> Int[Tensor, "*shape"]:
    """To the right, zeros from the left."""
    return (bits >> places) & ((1 << (64 - places)) - 1)


def keyed(
    key: Int[Tensor, "*#shape"], number: Int[Tensor, "*#shape"] | int
) -> Int[Tensor, "*shape"]:
    """A key and a number to a new key. Of one key, different numbers give different keys."""
    return mixed((key ^ number) + GOLDEN)


def uniform(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """A number between 0 and 1, both excluded; of the processor where the device has no float64."""
    bits = shifted(key, 12)
    wide = bits if sums_in(key.device) == torch.float64 else bits.cpu()
    return (wide.double() + 0.5) * 2.0**-52


def gumbel(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """-log(-log u): the place of the highest log p + noise is a draw from p."""
    noise = -(-uniform(key).log()).log()
    return noise.to(key.device, sums_in(key.device))


def key_of(seed: int, device: torch.device) -> Int[Tensor, ""]:
    """The key that a seed stands for."""
    return keyed(torch.zeros((), dtype=torch.long, device=device), seed)
