"""How many tokens a micro-batch may hold: estimated once from memory, stored with the run."""

import torch

from transduce.settings import Architecture

CPU = torch.device("cpu")
MOST = {"cpu": 8_192, "cuda": 1 << 20, "mps": 1 << 16}  # of both sides: more gave a CPU no speed
SHARES = {"cpu": 1 / 8, "cuda": 1 / 2, "mps": 1 / 8}  # of memory, for what the backward needs


def estimate_micro_batch_tokens(
    sizes: Architecture, longest: int, memory: int, device: torch.device = CPU
) -> int:
    """Tokens of a micro-batch that a share of `memory` holds; at least one longest pair."""
    share, most = SHARES[device.type], MOST[device.type]
    return max(2 * longest, min(most, int(memory * share) // estimate_token_bytes(sizes)))


def estimate_token_bytes(sizes: Architecture) -> int:
    """Estimate the bytes of activations that one token keeps until the backward pass, float32."""
    heads = sizes.heads * (2 * sizes.d_k + sizes.d_v)
    return 4 * sizes.layers * (3 * heads + 8 * sizes.d_model + 3 * sizes.d_ff)
