"""Zeroing by bits, compared with torch.where."""

import math

import pytest
import torch

from transduce.fast.bfloat16 import zero_where_at_most, zero_where_not_positive

SPECIAL = [0.0, -0.0, 1e-40, -1e-40, 1.5, -1.5, math.inf, -math.inf]


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_elements_are_zeroed_where_the_controls_are_not_positive(kind):
    controls = torch.tensor(SPECIAL * 9, dtype=kind)
    x = torch.randn(len(controls), generator=torch.Generator().manual_seed(1)).to(kind)
    expected = torch.where(controls > 0, x, 0)
    assert torch.equal(zero_where_not_positive(x, controls), expected)


@pytest.mark.parametrize("limit", [-(2**15), -7, 0, 2**15 - 1])
def test_elements_are_zeroed_where_integers_are_at_most_a_limit(limit):
    controls = torch.tensor([-(2**15), -8, -7, -6, 0, 1, 2**15 - 1] * 11, dtype=torch.int16)
    x = torch.tensor([*SPECIAL, math.nan, 3.0, 4.0] * 7, dtype=torch.bfloat16)
    found = zero_where_at_most(x, controls, limit)
    expected = torch.where(controls > limit, x, 0)
    assert torch.equal(found.view(torch.int16), expected.view(torch.int16)), "to the bit"


def test_rows_that_do_not_lie_one_after_the_other_are_zeroed_too():
    x = torch.randn(6, 8, dtype=torch.bfloat16)
    controls = torch.randn(8, 6, dtype=torch.bfloat16).t()
    expected = torch.where(controls[:, ::2] > 0, x[:, ::2], 0)
    assert torch.equal(zero_where_not_positive(x[:, ::2], controls[:, ::2]), expected)
