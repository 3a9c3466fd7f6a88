"""Counter-based random numbers: functions of a key alone, equal on any device and in any batch"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.machine.device import accumulation_dtype

GOLDEN = -0x61C8864680B583EB  # SplitMix64's increment: 2^64 / golden ratio, as a signed number
# the shift and the factor of each round of SplitMix64
ROUNDS = ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15))


def mix_bits(bits: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Hash 64-bit integers one to one, so that each bit depends on all    (SplitMix64, 2014)"""
    for shift, factor in ROUNDS:
        bits = (bits ^ shift_right(bits, shift)) * factor  # integers wrap around
    return bits ^ shift_right(bits, 31)


def shift_right(bits: Int[Tensor, "*shape"], count: int) -> Int[Tensor, "*shape"]:
    """Shift 64-bit integers to the right by `count` bits, with zeros from the left."""
    return (bits >> count) & ((1 << (64 - count)) - 1)


def derive_key(
    key: Int[Tensor, "*#shape"], number: Int[Tensor, "*#shape"] | int
) -> Int[Tensor, "*shape"]:
    """Derive a new random key from a key and an integer; other integers give other keys."""
    return mix_bits((key ^ number) + GOLDEN)


def key_from_seed(seed: int, device: torch.device) -> Int[Tensor, ""]:
    """Derive a random key on a device from a user's seed."""
    return derive_key(torch.zeros((), dtype=torch.long, device=device), seed)


def uniform_noise(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return one uniform float64 number in the open interval (0, 1) for each key.

    The numbers are computed on the CPU if the device has no float64.
    """
    bits = shift_right(key, 12)
    wide = bits if accumulation_dtype(key.device) == torch.float64 else bits.cpu()
    return (wide.double() + 0.5) * 2.0**-52


def gumbel_noise(key: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return Gumbel noise for each key: -log(-log u) with u uniform in (0, 1).

    The argmax of log p + noise over symbols is a sample from p.
    """
    noise = -(-uniform_noise(key).log()).log()
    return noise.to(key.device, accumulation_dtype(key.device))
