"""Counter-based random numbers: the published generator, and their statistics."""

import math

import pytest
import torch

from transduce.search.sampling import (
    GOLDEN,
    derive_key,
    gumbel_noise,
    key_from_seed,
    mix_bits,
    uniform_noise,
)

FIRST = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]


def test_the_numbers_are_those_of_the_published_generator():
    """SplitMix64 from 0: its first numbers, as its authors' program prints them."""
    states = torch.arange(1, 5) * GOLDEN
    assert [number % 2**64 for number in mix_bits(states).tolist()] == FIRST


def test_different_numbers_never_give_the_same_key():
    keys = derive_key(key_from_seed(1, torch.device("cpu")), torch.arange(100_000))
    assert len(keys.unique()) == 100_000


def test_every_number_that_goes_into_a_key_changes_it():
    device = torch.device("cpu")
    keys = [
        derive_key(derive_key(key_from_seed(s, device), a), b).item()
        for s, a, b in [(1, 2, 3), (2, 2, 3), (1, 3, 3), (1, 2, 4), (1, 3, 2), (2, 1, 3)]
    ]
    assert len(set(keys)) == 6


def test_uniform_numbers_are_spread_evenly_and_never_0_or_1():
    keys = derive_key(key_from_seed(7, torch.device("cpu")), torch.arange(100_000))
    numbers = uniform_noise(keys)
    counts = torch.histc(numbers, bins=100, min=0, max=1)
    chi_square = ((counts - 1_000) ** 2 / 1_000).sum().item()
    assert chi_square < 149  # 99 degrees of freedom: 0.1 % of good generators are above
    ends = uniform_noise(torch.tensor([0, -1]))
    assert 0 < ends[0] < ends[1] < 1


def test_numbers_of_neighbouring_keys_are_uncorrelated():
    keys = derive_key(key_from_seed(7, torch.device("cpu")), torch.arange(100_000))
    numbers = uniform_noise(keys)
    pair = torch.stack([numbers[:-1], numbers[1:]])
    assert torch.corrcoef(pair)[0, 1].abs() < 0.01


def test_gumbel_noise_has_its_mean_and_variance():
    noise = gumbel_noise(derive_key(key_from_seed(3, torch.device("cpu")), torch.arange(200_000)))
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.01)
    assert noise.var().item() == pytest.approx(math.pi**2 / 6, rel=0.02)
