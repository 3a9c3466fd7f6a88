"""Attention to the KV cache is equation 1, computed in the way that is faster."""

import pytest
import torch
from tests.reference.attention import scaled_dot_product_attention

from transduce.fast import kv_cache as layer_cache
from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.kv_cache import (
    attend_by_products,
    attend_to_cache,
    build_additive_mask,
    is_faster_as_products,
)

BFLOAT16_ERROR = 2**-7  # of numbers near 1, of which 8 bits are kept


def random_step(sentences=5, width=3, slots=16, heads=2, key_width=8, value_width=6):
    """Queries, keys and values in bfloat16, and which slots each hypothesis may read."""
    draws = torch.Generator().manual_seed(1)
    q, k, v = (
        torch.randn(sentences, heads, rows, numbers, generator=draws).bfloat16()
        for rows, numbers in ((width, key_width), (slots + 4, key_width), (slots + 4, value_width))
    )
    allowed = torch.rand(sentences, 1, width, slots, generator=draws) < 0.5
    allowed[..., 0] = True
    return q, k[:, :, :slots], v[:, :, :slots], allowed


def test_two_products_and_a_softmax_are_the_papers_attention():
    q, k, v, allowed = random_step()
    found = attend_by_products(q, k, v, build_additive_mask(~allowed, q.dtype))
    for sentence, out in enumerate(found):
        queries, keys, values = (part[sentence].double() for part in (q, k, v))
        expected, _ = scaled_dot_product_attention(queries, keys, values, allowed[sentence, 0])
        torch.testing.assert_close(out.double(), expected, atol=2 * BFLOAT16_ERROR, rtol=0)


def test_masked_slots_have_no_share_whatever_they_hold():
    q, k, v, allowed = random_step()
    mask = build_additive_mask(~allowed, q.dtype)
    before = attend_by_products(q, k, v, mask)
    unread = ~allowed.any(dim=2)[..., None]
    assert unread.any()
    after = attend_by_products(q, k.masked_fill(unread, 50), v.masked_fill(unread, -50), mask)
    assert torch.equal(before, after)


@pytest.mark.parametrize("rows", [MANY_ROWS - 4, MANY_ROWS])
def test_only_many_rows_in_bfloat16_attend_by_products(rows, monkeypatch):
    q, k, v, allowed = random_step(sentences=rows // 4, width=4)
    mask = build_additive_mask(~allowed, q.dtype)
    monkeypatch.setattr(layer_cache, "has_onednn_bfloat16", lambda: True)
    assert is_faster_as_products(q) == (rows == MANY_ROWS)
    assert not is_faster_as_products(q.float())
    assert not is_faster_as_products(q.to("meta"))
    found = attend_to_cache(q, k, v, mask, 12)
    monkeypatch.setattr(layer_cache, "has_onednn_bfloat16", lambda: False)
    assert not is_faster_as_products(q)
    torch.testing.assert_close(
        found, attend_to_cache(q, k, v, mask, 12), atol=2 * BFLOAT16_ERROR, rtol=0
    )
