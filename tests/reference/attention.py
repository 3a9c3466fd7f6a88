"""Equation 1 as the sentence in section 3.2.1 says it: one query of one head at a time."""

import math

import torch


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
