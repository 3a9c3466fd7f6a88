"""Equation 1 as the sentence in section 3.2.1 says it: one query of one head at a time."""

import math

import torch
from torch.nn import functional


def attention_by_hand(q, k, v, allowed):
    """What every head [t H d_v] of a sentence sees, from q [t H K], k [s H K], v [s H d_v]."""
    out = torch.zeros(*q.shape[:2], v.shape[2], dtype=q.dtype)
    for t in range(q.shape[0]):
        for h in range(q.shape[1]):
            keys = [s for s in range(k.shape[0]) if allowed(t, s)]
            scores = [float(q[t, h] @ k[s, h]) / math.sqrt(q.shape[2]) for s in keys]
            total = sum(math.exp(score) for score in scores)
            for s, score in zip(keys, scores, strict=True):
                out[t, h] += math.exp(score) / total * v[s, h]
    return out


def packed_attention_by_hand(q, k, v, *, queries, keys, allowed):
    """The same for sentences end to end: nobody sees another sentence."""
    parts = zip(q.split(queries), k.split(keys), v.split(keys), strict=True)
    return torch.cat([attention_by_hand(*part, allowed) for part in parts])


def scaled_dot_product_attention(q, k, v, allowed, dropout=0.0):
    """What the heads [H t d_v] of one sentence see, and their weights [H t s]."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return functional.dropout(weights, dropout) @ v, weights


class ReferenceAttention:
    """Attention of sentences end to end, one after the other."""

    def __init__(self, queries, keys, mask, device=None):
        self.queries, self.keys, self.mask, self.device = list(queries), list(keys), mask, device

    def __call__(self, q, k, v, dropout=0.0):
        outputs = []
        for parts in zip(
            q.split(self.queries), k.split(self.keys), v.split(self.keys), strict=True
        ):
            some_q, some_k, some_v = (part.transpose(0, 1) for part in parts)
            positions = (torch.arange(x.shape[1]) for x in (some_q, some_k))
            allowed = self.mask.compute_allowed(*positions)
            out, _ = scaled_dot_product_attention(some_q, some_k, some_v, allowed, dropout)
            outputs.append(out.transpose(0, 1))
        return torch.cat(outputs)
