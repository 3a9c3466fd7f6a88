"""Equation 1: Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V."""

import math

import torch
from tests.reference.attention import attention_by_hand

from transduce.paper import operations


def attention(q, k, v, allowed=None):
    """The output of equation 1, and its weights."""
    everyone = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool)
    allowed = everyone if allowed is None else allowed
    return operations.attention(q, k, v, allowed), operations.attention_weights(q, k, allowed)


def test_the_output_is_a_weighted_sum_of_the_values():
    """Each weight comes from a query and the key that belongs to the value."""
    q, k, v = torch.randn(3, 2, 5, 4, dtype=torch.float64).unbind()
    seen, weights = attention(q, k, v)
    torch.testing.assert_close(seen, weights @ v)
    by_place = [x.transpose(0, 1) for x in (q, k, v)]
    by_hand = attention_by_hand(by_place[0], by_place[1], by_place[2], lambda *_: True)
    torch.testing.assert_close(seen.transpose(0, 1), by_hand, rtol=0, atol=1e-12)


def test_scores_are_divided_by_the_root_of_d_k():
    """One query of four ones; its keys score 4 and 0, over √4 = 2: softmax(2, 0)."""
    q = torch.ones(1, 1, 4)
    k = torch.stack([torch.ones(4), torch.zeros(4)])[None]
    _, weights = attention(q, k, torch.zeros(1, 2, 1))
    e2 = math.exp(2)
    torch.testing.assert_close(weights[0, 0], torch.tensor([e2 / (e2 + 1), 1 / (e2 + 1)]))


def test_the_scale_follows_d_k_and_not_d_v_nor_d_model():
    q = torch.randn(1, 2, 9, dtype=torch.float64)
    for d_v in (1, 9, 25):
        v = torch.randn(1, 2, d_v, dtype=torch.float64)
        seen, weights = attention(q, q, v)
        expected = (q @ q.transpose(1, 2) / 3).softmax(dim=-1)
        torch.testing.assert_close(weights, expected)
        torch.testing.assert_close(seen, expected @ v)


def test_illegal_connections_are_minus_infinity_before_the_softmax():
    """So the legal ones share all the weight; a mask after the softmax would leave less than 1."""
    q, k, v = torch.randn(3, 1, 3, 4, dtype=torch.float64).unbind()
    allowed = torch.ones(3, 3, dtype=torch.bool).tril()
    seen, weights = attention(q, k, v, allowed)
    assert not weights[:, ~allowed].any()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(1, 3, dtype=torch.float64))
    seen_of_two, first_two = attention(q[:, 1:2], k[:, :2], v[:, :2])
    torch.testing.assert_close(weights[0, 1, :2], first_two[0, 0])
    torch.testing.assert_close(seen[0, 1], seen_of_two[0, 0])
