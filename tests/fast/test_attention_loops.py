"""Attention by compiled loops is equation 1, as in float64, to the rounding of what it is given."""

from unittest.mock import Mock

import pytest
import torch
from tests.fast.test_layer_cache import random_step
from tests.reference.attention import scaled_dot_product_attention

from transduce.fast import search_loops
from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.kv_cache import (
    attend_by_loops_if_faster,
    attend_to_cache,
    build_additive_mask,
)

pytestmark = pytest.mark.usefixtures("compiled_loops")
ERROR = 2e-6  # of sums of numbers near 1 in float32
BFLOAT16_ERROR = 2**-8  # of numbers up to 2, of which 8 bits are kept


def float32_step(**sizes):
    q, k, v, allowed = random_step(**sizes)
    return q.float(), k.float(), v.float(), allowed


def attend(q, k, v, allowed):
    return search_loops.attend_by_loops(q, k, v, build_additive_mask(~allowed, q.dtype))


def require_the_papers_attention(found, q, k, v, allowed, error):
    for sentence, out in enumerate(found.unflatten(2, (q.shape[1], -1)).transpose(1, 2)):
        queries, keys, values = (part[sentence].double() for part in (q, k, v))
        expected, _ = scaled_dot_product_attention(queries, keys, values, allowed[sentence, 0])
        torch.testing.assert_close(out.double(), expected, atol=error, rtol=0)


@pytest.mark.parametrize("sizes", [{}, {"key_width": 1}, {"key_width": 33, "value_width": 70}])
@pytest.mark.parametrize("slots", [4, 16, 80])
@pytest.mark.parametrize("width", [1, 3, 4, 6])
def test_loops_compute_the_papers_attention(width, slots, sizes):
    q, k, v, allowed = float32_step(width=width, slots=slots, **sizes)
    found = attend(q, k, v, allowed)
    require_the_papers_attention(found, q, k, v, allowed, ERROR)


@pytest.mark.parametrize(("slots", "together"), [(400, 5), (1200, 4), (6000, 1)])
def test_sentences_whose_weights_are_many_are_computed_in_groups(slots, together, monkeypatch):
    by_loops = Mock(wraps=search_loops.attend)
    monkeypatch.setattr(search_loops, "attend", by_loops)
    q, k, v, allowed = float32_step(sentences=5, width=100, slots=slots)
    found = attend(q, k, v, allowed)
    assert by_loops.call_args.args[3].shape == (together, 2, 100 * slots)
    require_the_papers_attention(found, q, k, v, allowed, ERROR)


def test_loops_read_numbers_in_bfloat16():
    q, k, v, allowed = random_step(slots=80, key_width=33)
    found = attend(q, k, v, allowed)
    assert found.dtype == torch.bfloat16
    require_the_papers_attention(found, q, k, v, allowed, BFLOAT16_ERROR)


@pytest.mark.parametrize("slots", [[0], [5, 6], [0, 1, 2, 3, 40, 77], range(0, 80, 3), range(80)])
def test_any_slots_of_a_sentence_may_be_those_that_are_read(slots):
    q, k, v, allowed = float32_step(slots=80)
    allowed[1], allowed[1, ..., list(slots)] = False, True
    require_the_papers_attention(attend(q, k, v, allowed), q, k, v, allowed, ERROR)


@pytest.mark.parametrize("slots", [[0], [5, 6], [0, 1, 2, 3, 40, 77]])
def test_blocks_of_slots_that_no_hypothesis_of_a_sentence_reads_are_not_touched(slots):
    q, k, v, allowed = float32_step(slots=80)
    allowed[1], allowed[1, ..., list(slots)] = False, True
    before = attend(q, k, v, allowed)
    unread = [slot for slot in range(80) if slot // 4 not in {one // 4 for one in slots}]
    k[1, :, unread], v[1, :, unread] = torch.nan, torch.nan
    assert torch.equal(attend(q, k, v, allowed), before)


def test_queries_keys_and_values_may_be_slices_of_other_tensors():
    q, k, v, allowed = float32_step()
    expected = attend(q, k.contiguous(), v.contiguous(), allowed)
    side_by_side = torch.stack([torch.zeros_like(q), q]).permute(1, 3, 0, 2, 4).contiguous()
    every_other = torch.stack([k, k.neg()])[:, 1:]
    rest = attend(side_by_side[:, :, 1].transpose(1, 2)[1:], every_other[0], v[1:], allowed[1:])
    assert torch.equal(rest, expected[1:])


def test_one_mask_may_be_that_of_all_hypotheses():
    q, k, v, allowed = float32_step()
    allowed[:] = allowed[:, :, :1]
    assert torch.equal(attend(q, k, v, allowed[:, :, :1]), attend(q, k, v, allowed))


def test_masked_slots_have_no_share_whatever_they_hold():
    q, k, v, allowed = float32_step()
    before = attend(q, k, v, allowed)
    unread = ~allowed.any(dim=2)[..., None]
    assert unread.any()
    after = attend(q, k.masked_fill(unread, 50), v.masked_fill(unread, -50), allowed)
    assert torch.equal(before, after)


def test_a_number_that_is_none_spoils_its_hypotheses_alone():
    q, k, v, allowed = float32_step()
    k[2, 0, 0, 0] = torch.nan  # a slot that all hypotheses of sentence 2 may read
    out = attend(q, k, v, allowed)
    assert out[2, :, :6].isnan().all()
    assert out.isnan().sum() == out[2, :, :6].numel()


@pytest.mark.parametrize("width", [1, 2, 3, 5, 6, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_number_of_hypotheses_attends_by_loops(dtype, width):
    q, k, v, allowed = random_step(sentences=MANY_ROWS, width=width)
    q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
    mask = build_additive_mask(~allowed, dtype)
    found = attend_by_loops_if_faster(q, k, v, mask, 12)
    assert found.is_contiguous()
    error = 4 * BFLOAT16_ERROR if dtype == torch.bfloat16 else ERROR
    torch.testing.assert_close(found, attend_to_cache(q, k, v, mask, 12), atol=error, rtol=0)


@pytest.mark.parametrize("rows", [MANY_ROWS - 4, MANY_ROWS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_only_many_rows_in_float32_or_bfloat16_attend_by_loops(dtype, rows, monkeypatch):
    taken = []

    def attend_by_loops(q, k, v, mask):
        taken.append(q)
        return operator(q, k, v, mask)

    operator = search_loops.LOOP_OPERATOR
    monkeypatch.setattr(search_loops, "LOOP_OPERATOR", attend_by_loops)
    q, k, v, allowed = random_step(sentences=rows // 4, width=4)
    q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
    mask = build_additive_mask(~allowed, dtype)
    found = attend_by_loops_if_faster(q, k, v, mask, 12)
    assert len(taken) == (rows == MANY_ROWS and dtype != torch.float64)
    error = 2 * BFLOAT16_ERROR if dtype == torch.bfloat16 else ERROR
    torch.testing.assert_close(found, attend_to_cache(q, k, v, mask, 12), atol=error, rtol=0)


@pytest.mark.parametrize("side", ["keys", "values"])
def test_keys_or_values_that_lie_apart_are_refused(side):
    q, k, v, allowed = float32_step()
    apart = (k if side == "keys" else v).transpose(1, 2).contiguous().transpose(1, 2)
    with pytest.raises(AssertionError, match=f"the {side} of a head lie apart"):
        attend(q, *((apart, v) if side == "keys" else (k, apart)), allowed)
