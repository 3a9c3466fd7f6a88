"""How many tokens a micro-batch may hold: estimated once from memory, stored with the run."""

import torch

from transduce.model.counts import count_decoder_layer, count_encoder_layer
from transduce.settings import Architecture

CPU = torch.device("cpu")
MAX_TOKENS = {"cpu": 8_192, "cuda": 1 << 20, "mps": 1 << 16}  # more gave a CPU no speed
MEMORY_SHARES = {"cpu": 1 / 8, "cuda": 1 / 2, "mps": 1 / 8}  # for what the backward pass needs


def estimate_micro_batch_tokens(
    sizes: Architecture, longest: int, memory: int, device: torch.device = CPU
) -> int:
    """Return how many tokens of both sides fit in a share of `memory`; at least a longest pair."""
    share, most = MEMORY_SHARES[device.type], MAX_TOKENS[device.type]
    return max(2 * longest, min(most, int(memory * share) // estimate_token_bytes(sizes)))


def estimate_token_bytes(sizes: Architecture) -> int:
    """Estimate the bytes of activations that one token keeps until the backward pass, float32.

    Source and target tokens count alike: half of a batch passes each stack.
    """
    layer_pair = count_encoder_layer(sizes) + count_decoder_layer(sizes)
    return 4 * sizes.layers * layer_pair.activations // 2
