"""The steps of an output: the model's most probable pieces, and the beam of its search."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.paper.model import Transformer
from transduce.search.trace import LiveHypothesis
from transduce.view.attention.record import BeamHypothesis, NextPiece, OutputStep
from transduce.view.attention.words import readable_piece
from transduce.vocabulary import Vocabulary

# T pieces of the output · V symbols

ALTERNATIVES = 5  # the most probable next pieces that are recorded for each step
SLICE = 256  # number of positions whose probabilities are computed at once

Beam = Sequence[LiveHypothesis]


@torch.no_grad()
def rank_next_pieces(
    model: Transformer,
    states: Float[Tensor, "T d_model"],
    output: Sequence[int],
    vocabulary: Vocabulary,
) -> list[OutputStep]:
    """Return an `OutputStep` for each output piece, from the decoder's state before the piece."""
    steps = list[OutputStep]()
    for part in states.split(SLICE):
        logits = model.logits(part)
        probabilities = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(dim=1)
        count, nothing = min(ALTERNATIVES, len(vocabulary)), probabilities.new_zeros(len(part), 1)
        values, ids = model.operations.highest_sums(nothing, probabilities, count)
        for row, best, symbols in zip(probabilities, values, ids, strict=True):
            written = output[len(steps)]
            chosen = NextPiece(readable_piece(vocabulary, written), float(row[written]))
            pairs = zip(symbols.tolist(), best.tolist(), strict=True)
            ranked = tuple(NextPiece(readable_piece(vocabulary, n), p) for n, p in pairs)
            steps.append(OutputStep(chosen, ranked))
    return steps


def describe_beams(
    beams: Sequence[Beam], output: Sequence[int], vocabulary: Vocabulary
) -> Iterator[tuple[BeamHypothesis, ...]]:
    """Yield the hypotheses that each step starts from, with the index of each one's parent."""
    for length, (before, beam) in enumerate(pairwise([(), *beams])):
        parents = {one.ids: index for index, one in enumerate(before)}
        chosen = tuple(output[:length])
        yield tuple(
            BeamHypothesis(
                parent=parents.get(one.ids[:-1], -1),
                piece=readable_piece(vocabulary, one.ids[-1]) if one.ids else "",
                log_prob=one.log_prob,
                alternatives=tuple(
                    NextPiece(readable_piece(vocabulary, n), math.exp(p)) for n, p in one.following
                ),
                is_chosen=one.ids == chosen,
            )
            for one in beam
        )
