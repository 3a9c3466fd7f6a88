"""Log-softmax by compiled loops is that in float64, to the rounding of float32."""

import pytest
import torch

from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.loss import log_softmax_by_loops_if_faster

pytestmark = pytest.mark.usefixtures("compiled_loops")
ERROR = 4e-6  # of numbers up to 32 in float32, two roundings


def draw_logits(symbols, scale=3.0):
    draws = torch.Generator().manual_seed(symbols)
    return torch.randn(MANY_ROWS, symbols, generator=draws) * scale


@pytest.mark.parametrize("symbols", [1, 2, 255, 256, 257, 5_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_log_probabilities_of_many_rows_are_those_in_float64(symbols, dtype):
    logits = draw_logits(symbols).to(dtype)
    expected = torch.log_softmax(logits.double(), dim=1)
    found = log_softmax_by_loops_if_faster(logits)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, atol=ERROR, rtol=0)


def test_float32_logits_are_written_over():
    logits = draw_logits(300)
    assert log_softmax_by_loops_if_faster(logits).data_ptr() == logits.data_ptr()


def test_logits_far_from_each_other_have_finite_or_no_probability():
    logits = draw_logits(300, scale=100.0)
    logits[:, ::3] = -torch.inf
    logits[:, 5] += 1_000
    expected = torch.log_softmax(logits.double(), dim=1)
    torch.testing.assert_close(
        log_softmax_by_loops_if_faster(logits).double(), expected, atol=0, rtol=1e-6
    )


def test_large_logits_are_as_exact_as_small_ones():
    logits = draw_logits(300) + 1_000
    expected = torch.log_softmax(logits.double(), dim=1)
    torch.testing.assert_close(
        log_softmax_by_loops_if_faster(logits).double(), expected, atol=ERROR, rtol=0
    )


def test_a_logit_that_is_no_number_spoils_its_row_alone():
    logits = draw_logits(300)
    logits[3, 7] = torch.nan
    found = log_softmax_by_loops_if_faster(logits)
    assert found[3].isnan().all()
    assert found.isnan().sum() == 300


def test_other_types_are_left_to_torch():
    logits = draw_logits(300).double()
    expected = torch.log_softmax(logits, dim=1)
    assert torch.equal(log_softmax_by_loops_if_faster(logits), expected)
