"""Greedy search in passes: the model computes every symbol of a draft at once    (section 7)

A pass decodes a whole draft, as training does, and finds what the model would write at each place.
Up to the first place where that is not the draft's symbol, it is the output of greedy search;
behind it, it is the next draft. A pass makes at least one more symbol certain. Where symbols depend
little on those before them, as labels do, a few passes take the place of a step for each symbol.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.errors import NotFiniteError
from transduce.packed import Packed, compute_sentence_starts, move_to_device
from transduce.paper.model import EncoderOutput, Transformer
from transduce.paper.search import Hypothesis, score_log_probs
from transduce.search.constraints import ConstrainedSource, require_kind
from transduce.search.label_constraint import LabelConstraint, LabelKind
from transduce.settings import Search
from transduce.vocabulary import BEGIN, END

PASSES = 8  # a tagger that is not done then is a poor one, for which passes do not pay

# T tokens of all drafts · V symbols


@final
@dataclass
class Draft:
    """A source's output, of which the first `certain` symbols are those of greedy search."""

    source: ConstrainedSource
    ids: list[int]
    certain: int = 0
    log_prob: float = 0.0  # the sum of log P over the certain symbols
    passes: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the whole output is certain."""
        return self.certain > 0 and self.ids[self.certain - 1] == END

    @property
    def inputs(self) -> list[int]:
        """The decoder's inputs, after which the draft's symbols, or one more, are computed."""
        return [BEGIN, *(self.ids[:-1] if self.ids[-1:] == [END] else self.ids)]

    def score(self, search: Search) -> Hypothesis:
        """Return a draft that is done as the hypothesis that greedy search finds."""
        (score,) = score_log_probs([self.log_prob], [self.certain], search)
        return Hypothesis(tuple(self.ids[: self.certain - 1]), score, self.log_prob)


def are_labelled(sources: Sequence[ConstrainedSource]) -> bool:
    """Return whether the output of each source is one label a word, by the tagging constraint."""
    return all(isinstance(source.constraint, LabelConstraint) for source in sources)


def label_in_passes(
    model: Transformer, sources: Sequence[ConstrainedSource], search: Search
) -> list[Draft]:
    """Return a draft for each source, whose constraint is that of tagging, after some passes.

    The first draft has the same label at every word: the first one of the vocabulary, which is the
    commonest. A draft that is not done after `PASSES` passes is left to the search by steps.
    """
    constraints = require_kind([one.constraint for one in sources], LabelConstraint)
    commonest = constraints[0].symbols.kinds.index(LabelKind.FREE)
    drafts = [
        Draft(source, [*[commonest] * constraint.words, END])
        for source, constraint in zip(sources, constraints, strict=True)
    ]
    by_length = sorted(drafts, key=lambda one: len(one.ids), reverse=True)
    for first in range(0, len(drafts), search.batch_size):
        improve(model, by_length[first : first + search.batch_size])
    return drafts


@torch.inference_mode()
def improve(model: Transformer, drafts: Sequence[Draft]) -> None:
    """Take at most `PASSES` passes over a batch of drafts, without those that are done."""
    sources = Packed.from_sentences([one.source.ids for one in drafts])
    memory = model.encode(sources.to(model.output.weight.device))
    each = list(zip(drafts, memory.states.split(memory.lengths), strict=True))
    for _ in range(PASSES):
        states = [own for _, own in each]
        memory = EncoderOutput(torch.cat(states), tuple(map(len, states)))
        take_pass(model, memory, [draft for draft, _ in each])
        each = [one for one in each if not one[0].is_done]
        if not each:
            break


def take_pass(model: Transformer, memory: EncoderOutput, drafts: Sequence[Draft]) -> None:
    """Decode drafts at once; replace each by what the model writes at its places."""
    inputs = Packed.from_sentences([one.inputs for one in drafts])
    states = model.decode(inputs.to(memory.states.device), memory)
    log_probs = model.operations.log_softmax(model.logits(states))
    ids, best = find_best_symbols(log_probs, inputs.lengths, drafts)
    for draft, found, logs, length in zip(drafts, ids, best, inputs.lengths, strict=True):
        written = found[:length]
        written = written[: written.index(END) + 1] if END in written else written
        same = (ours == theirs for ours, theirs in zip(written, draft.ids, strict=False))
        agreed = next((place for place, equal in enumerate(same) if not equal), len(draft.ids))
        draft.certain = min(agreed + 1, len(written))
        draft.ids, draft.log_prob = written, sum(logs[: draft.certain])
        draft.passes += 1
        if not draft.log_prob > -torch.inf:
            raise NotFiniteError(
                "a sentence has no output with a finite probability",
                "the weights are damaged: verify the model, or take an older checkpoint",
            )


def find_best_symbols(
    log_probs: Float[Tensor, "T V"], lengths: Sequence[int], drafts: Sequence[Draft]
) -> tuple[list[list[int]], list[list[float]]]:
    """Return for each draft the likeliest symbol at each place that its constraint allows.

    Each symbol's constraint follows from the symbols that are returned before it. Beyond a draft's
    own places they mean nothing.
    """
    constraints = [one.source.constraint for one in drafts]
    state = constraints[0].start_batch(constraints, log_probs.device)
    starts, last = compute_sentence_starts(lengths), torch.tensor(lengths) - 1
    ids, best = [], []
    for place in range(max(lengths)):
        rows = move_to_device(starts + last.clamp(max=place), log_probs.device)
        of_place = log_probs[rows]
        allowed = state.allowed(log_probs.shape[1])
        if allowed is not None:
            of_place = of_place.where(allowed, -torch.inf)
        highest = of_place.max(dim=1)
        state = state.advance(highest.indices)
        ids.append(highest.indices)
        best.append(highest.values)
    return torch.stack(ids, dim=1).tolist(), torch.stack(best, dim=1).tolist()
