"""Searched block by block, the highest sums are those of a stable sort."""

import math

import pytest
import torch

from transduce.fast.highest_sums import highest_sums, highest_sums_by_loops


def random_log_probs(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).log_softmax(dim=-1)


def highest(values, count):
    """Return each row's highest values and their columns."""
    return highest_sums(torch.zeros(len(values), 1, dtype=values.dtype), values, count)


@pytest.mark.parametrize("symbols", [2, 63, 64, 65, 500, 640, 5_001])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("count", [1, 6])
def test_the_top_sums_are_those_of_a_stable_sort(symbols, dtype, count):
    """bfloat16 has so few values that most rows hold equals."""
    scores, log_probs = (
        random_log_probs(20, 3).to(dtype),
        random_log_probs(60, symbols, seed=symbols).to(dtype),
    )
    values, columns = highest_sums(scores, log_probs, count)
    everything = (scores[:, :, None] + log_probs.view(20, 3, symbols)).flatten(1)
    expected = everything.sort(dim=1, descending=True, stable=True)
    assert torch.equal(values, expected.values[:, :count])
    assert torch.equal(columns, expected.indices[:, :count])


def test_a_sentence_gets_the_same_in_any_batch():
    scores = torch.zeros(30, 2)
    log_probs = -(random_log_probs(60, 2_000).abs() % 3).round()  # nothing but equals
    together = highest_sums(scores, log_probs, 4)[1]
    separate = [
        highest_sums(scores[s : s + 1], log_probs[2 * s : 2 * s + 2], 4)[1] for s in range(30)
    ]
    assert torch.equal(together, torch.cat(separate))


@pytest.mark.parametrize("offset", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_values_of_any_sign_are_ordered_as_by_a_stable_sort(offset, dtype):
    values = torch.randn(50, 300, generator=torch.Generator().manual_seed(3)).to(dtype) + offset
    values[:, ::7] = values[:, :1]  # ties
    values[:, 5], values[:, 9] = torch.inf, -torch.inf
    values[:, 20::40], values[:, 21::40] = 0.0, -0.0
    found, columns = highest(values, 300)
    expected = values.sort(dim=1, descending=True, stable=True)
    assert torch.equal(found, expected.values)
    assert torch.equal(columns, expected.indices)


@pytest.mark.parametrize("symbols", [65, 500])
def test_sums_of_any_sign_are_those_of_a_stable_sort(symbols):
    generator = torch.Generator().manual_seed(symbols)
    scores = torch.randn(20, 3, generator=generator) * 3
    log_probs = torch.randn(60, symbols, generator=generator)
    values, columns = highest_sums(scores, log_probs, 6)
    everything = (scores[:, :, None] + log_probs.view(20, 3, symbols)).flatten(1)
    expected = everything.sort(dim=1, descending=True, stable=True)
    assert torch.equal(values, expected.values[:, :6])
    assert torch.equal(columns, expected.indices[:, :6])


def test_nan_of_either_sign_comes_last_and_minus_infinity_before_it():
    row = torch.tensor([[torch.nan, -torch.inf, -2.0, torch.nan, 0.0, 3.0, torch.inf]])
    row[0, 0].copysign_(torch.tensor(-1.0))
    assert row.signbit()[0, 0]
    assert highest(row, 7)[1].tolist() == [[6, 5, 4, 2, 1, 0, 3]]
    assert highest(row, 1)[1].tolist() == [[6]]


def test_zeros_of_either_sign_are_equal():
    row = torch.tensor([[-1.0, -0.0, 0.0, -0.0]])
    assert highest(row, 3)[1].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("share", [0.02, 0.5, 0.999])
def test_a_nan_in_a_block_takes_no_other_symbol_of_the_block_with_it(share):
    scores, log_probs = random_log_probs(6, 2), random_log_probs(12, 640)
    draw = torch.rand(12, 640, generator=torch.Generator().manual_seed(5))
    log_probs = log_probs.masked_fill(draw < share, torch.nan)
    log_probs[:, 128:192] = torch.nan  # a whole block
    log_probs[:, 300:500] = -torch.inf
    values, columns = highest_sums(scores, log_probs, 4)
    everything = (scores[:, :, None] + log_probs.view(6, 2, 640)).flatten(1)
    expected = [sorted(row, key=lambda x: -x)[:4] for row in
                [[x for x in row if x == x] for row in everything.tolist()]]  # fmt: skip
    assert values.tolist() == expected
    assert torch.equal(everything.gather(1, columns), values)


@pytest.mark.parametrize("find", [highest_sums, highest_sums_by_loops])
def test_values_that_only_float64_tells_apart_are_in_order(find):
    values = torch.zeros(1, 200, dtype=torch.float64)
    values[0, 150], values[0, 70] = 1 + 1e-12, 1
    assert find(torch.zeros(1, 1, dtype=torch.float64), values, 2)[1].tolist() == [[150, 70]]


def sort_by_hand(scores, log_probs, count):
    """Each sentence's columns by falling sum, the leftmost of equal ones first, NaN last."""
    sums = (scores[:, :, None] + log_probs.view(*scores.shape, -1)).flatten(1).tolist()
    return [
        sorted(range(len(row)), key=lambda column: rank(row[column], column))[:count]
        for row in sums
    ]


def rank(value, column):
    return (True, 0, column) if math.isnan(value) else (False, -value, column)


@pytest.mark.usefixtures("compiled_loops")
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("symbols", [9, 63, 64, 65, 700])
@pytest.mark.parametrize("what", ["numbers", "ties", "zeros", "NaN", "infinite"])
@pytest.mark.parametrize("sentences", [1, 80])
def test_compiled_loops_find_the_same_in_any_number_of_rows(sentences, what, symbols, width):
    draws = torch.Generator().manual_seed(symbols)
    log_probs = -torch.rand(sentences * width, symbols, generator=draws) * 9
    scores = -torch.rand(sentences, width, generator=draws)
    if what == "ties":
        log_probs, scores = log_probs.round(), scores.round()
    elif what == "zeros":
        log_probs[:, ::2], log_probs[:, 1::2], scores[:] = 0.0, -0.0, 0.0
    elif what == "NaN":
        log_probs[torch.rand(log_probs.shape, generator=draws) < 0.5] = torch.nan
        log_probs[:width] = torch.nan
    elif what == "infinite":
        log_probs[torch.rand(log_probs.shape, generator=draws) < 0.5] = -torch.inf
        scores[:40, 1:] = -torch.inf
    count = min(2 * width, symbols)
    values, columns = highest_sums_by_loops(scores, log_probs, count)
    assert columns.tolist() == sort_by_hand(scores, log_probs, count)
    sums = (scores[:, :, None] + log_probs.view(sentences, width, symbols)).flatten(1)
    assert torch.equal(values.nan_to_num(1), sums.gather(1, columns).nan_to_num(1))
