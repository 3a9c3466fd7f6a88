"""The number of tokens that a micro-batch may have, estimated from the machine's memory"""

import torch

from transduce.settings import Architecture
from transduce.settings.counts import count_decoder_layer, count_encoder_layer

CPU = torch.device("cpu")
# the most tokens of a micro-batch on each device; on a CPU more tokens were not faster
MAX_TOKENS = {"cpu": 8_192, "cuda": 1 << 20, "mps": 1 << 16}
# the share of the memory for activations that are stored for the backward pass
MEMORY_SHARES = {"cpu": 1 / 8, "cuda": 1 / 2, "mps": 1 / 8}


def estimate_micro_batch_tokens(
    sizes: Architecture, longest: int, memory: int, device: torch.device = CPU
) -> int:
    """Estimate how many source and target tokens of a micro-batch fit in `memory` bytes.

    The result is never less than one pair of sentences of `longest` tokens needs.
    """
    share, most = MEMORY_SHARES[device.type], MAX_TOKENS[device.type]
    return max(2 * longest, min(most, int(memory * share) // estimate_token_bytes(sizes)))


def estimate_token_bytes(sizes: Architecture) -> int:
    """Estimate the bytes of float32 activations per token that the backward pass needs.

    This is the mean over source and target tokens, assuming equally many of both.
    """
    layer_pair = count_encoder_layer(sizes) + count_decoder_layer(sizes)
    return 4 * sizes.layers * layer_pair.activations // 2
