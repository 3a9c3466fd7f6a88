"""The highest of many log-probabilities: the same ones on every device and in any company.

`torch.topk` picks among equals as its algorithm happens to meet them, and is slow on wide rows.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

# S sentences · W hypotheses of each · R = S W rows · V symbols · P places, of W V · K the highest

BLOCK = 64  # symbols that are looked at by their maximum first


def highest(
    values: Float[Tensor, "S P"], count: int
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """The `count` highest of each row and their places, best first; of equals the leftmost."""
    places = torch.arange(values.shape[1], device=values.device).expand_as(values)
    places = places_of_highest(values, places, count)
    return values.gather(1, places), places


def highest_sums(
    scores: Float[Tensor, "S W"], log_probs: Float[Tensor, "R V"], count: int
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """The same of all sums of a score and a log-probability of its row; places are in W V."""

    def sums(places: Int[Tensor, "S P"]) -> Float[Tensor, "S P"]:
        rows = places // log_probs.shape[1]
        return log_probs.reshape(len(scores), -1).gather(1, places) + scores.gather(1, rows)

    places = promising_places(scores, log_probs, count)
    places = places_of_highest(sums(places), places, count)
    return sums(places), places


def promising_places(
    scores: Float[Tensor, "S W"], log_probs: Float[Tensor, "R V"], count: int
) -> Int[Tensor, "S P"]:
    """Where the highest must be: in the blocks with the highest maxima. These are fast to find."""
    (sentences, width), symbols, device = scores.shape, log_probs.shape[1], scores.device
    blocks = symbols // BLOCK  # of a row; what is left of a row is looked at always
    if width * blocks <= count:
        return torch.arange(width * symbols, device=device).expand(sentences, -1)
    maxima = log_probs[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK)).amax(dim=2)
    _, best = highest((maxima.view(*scores.shape, blocks) + scores[:, :, None]).flatten(1), count)
    firsts = best // blocks * symbols + best % blocks * BLOCK  # [S K]
    inside = firsts[:, :, None] + torch.arange(BLOCK, device=device)
    ends = torch.arange(1, width + 1, device=device)[:, None] * symbols
    rest = ends - torch.arange(symbols % BLOCK, 0, -1, device=device)
    return torch.cat([inside.flatten(1), rest.flatten().expand(sentences, -1)], dim=1)


def places_of_highest(
    values: Float[Tensor, "S P"], places: Int[Tensor, "S P"], count: int
) -> Int[Tensor, "S K"]:
    """Of some values and their places, the places of the highest.

    No two keys are equal: no log-probability is above 0, the bits of a positive float rise with
    it, and the place breaks ties. What is not a number comes last.
    """
    keys = (values.float().abs().view(torch.int32).long() << 32) | places
    return keys.topk(count, dim=1, largest=False).values & 0xFFFFFFFF
