"""How many labels of a greedy tagger one pass of the decoder gives, and what that saves.

    python -m benchmarks.passes MODEL FILE [LINES]

Jacobi decoding of all labels of a sentence at once: a pass computes every label of a draft. Up to
the first that differs from the draft they are those of greedy search, and behind it they are the
next draft. Times are medians of five rounds in turn with the search by steps.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import final

import torch
from jaxtyping import Bool
from torch import Tensor

import transduce
from transduce.inference.outputs import search_sources
from transduce.packed import Packed
from transduce.paper.model import EncoderOutput, Transformer
from transduce.search.constraints import (
    ConstrainedSource,
    LabelConstraint,
    LabelKind,
    LabelRows,
    require_kind,
)
from transduce.tasks import constrain_source
from transduce.vocabulary import BEGIN, END

ROUNDS = 5
Part = list[ConstrainedSource]

# T tokens of all drafts · V symbols


@final
@dataclass
class Draft:
    """A source's labels and END; the first `certain` of them are those of greedy search."""

    source: ConstrainedSource
    ids: list[int]
    certain: int = 0
    passes: int = 0


@torch.inference_mode()
def label_in_passes(model: Transformer, sources: Sequence[ConstrainedSource]) -> list[Draft]:
    """Return the completed drafts, which begin with the vocabulary's first label at each word."""
    constraints = require_kind([one.constraint for one in sources], LabelConstraint)
    commonest = constraints[0].symbols.kinds.index(LabelKind.FREE)
    drafts = [
        Draft(source, [*[commonest] * constraint.words, END])
        for source, constraint in zip(sources, constraints, strict=True)
    ]
    memory = model.encode(Packed.from_sentences([one.ids for one in sources]))
    each = list(zip(drafts, memory.states.split(memory.lengths), strict=True))
    while each:
        states = [own for _, own in each]
        memory = EncoderOutput(torch.cat(states), tuple(map(len, states)))
        take_pass(model, memory, [draft for draft, _ in each])
        each = [one for one in each if one[0].certain < len(one[0].ids)]
    return drafts


def take_pass(model: Transformer, memory: EncoderOutput, drafts: Sequence[Draft]) -> None:
    """Decode drafts at once; replace each by what the model writes at its places."""
    inputs = Packed.from_sentences([[BEGIN, *one.ids[:-1]] for one in drafts])
    logits = model.logits(model.decode(inputs, memory))
    ids = logits.where(find_allowed(inputs, drafts), -torch.inf).argmax(dim=1)
    for draft, written in zip(drafts, ids.split(list(inputs.lengths)), strict=True):
        before, draft.ids = draft.ids, written.tolist()
        pairs = enumerate(zip(draft.ids, before, strict=True))
        wrong = (place for place, (ours, theirs) in pairs if ours != theirs)
        draft.certain = min(next(wrong, len(before)) + 1, len(before))
        draft.passes += 1


def find_allowed(inputs: Packed, drafts: Sequence[Draft]) -> Bool[Tensor, "T V"]:
    """Return the symbols that may follow each token of the drafts, if the draft is right so far."""
    constraints = [one.source.constraint for one in drafts]
    state = LabelConstraint.start_batch(constraints, inputs.ids.device)
    left = state.rows.labels_left.repeat_interleave(torch.tensor(inputs.lengths))
    rows = LabelRows(left - inputs.compute_positions(), state.entities[inputs.ids])
    return replace(state, rows=rows).allowed(len(state.kinds))


def time_in_turn(ways: Sequence[Callable[[], None]]) -> list[float]:
    """Return the median seconds of each function over `ROUNDS` rounds."""
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, found in zip(ways, seconds, strict=True):
            start = time.perf_counter()
            way()
            found.append(time.perf_counter() - start)
    return list(map(statistics.median, seconds))


def main(path: str, file: str, lines: str = "200") -> None:
    """Print the labels that a pass gives, and times of a batch and of sentences alone."""
    translator = transduce.load(path).searching(beam=1)
    (model,), task, search = translator.models, translator.task, translator.recipe.search
    with Path(file).open(encoding="utf-8") as texts:
        kept = [line for line in map(task.normalise, islice(texts, int(lines))) if line]
    encoded = zip(task.encode_sources(kept), kept, strict=True)
    sources = require_kind(
        [constrain_source(ids, task, line, search) for ids, line in encoded], ConstrainedSource
    )
    drafts, greedy = label_in_passes(model, sources), search_sources([model], sources, search, 1)
    same = sum((*one.ids,) == (*best.ids, END) for one, (best,) in zip(drafts, greedy, strict=True))
    symbols, passes = sum(len(one.ids) for one in drafts), sum(one.passes for one in drafts)
    print(f"{len(sources)} sentences, {symbols:,} symbols, {symbols / passes:.2f} a pass")
    print(f"{same} outputs equal")
    for name, parts in (("in a batch", [sources]), ("alone", [[one] for one in sources])):
        by_steps = partial(for_each, parts, lambda some: search_sources([model], some, search, 1))
        by_passes = partial(for_each, parts, partial(label_in_passes, model))
        steps, drafted = time_in_turn([by_steps, by_passes])
        print(f"{name}: {steps:.2f} s by steps, {drafted:.2f} s by passes")


def for_each(parts: Sequence[Part], function: Callable[[Part], object]) -> None:
    """Call a function with each part of the sources."""
    for part in parts:
        function(part)


if __name__ == "__main__":
    main(*sys.argv[1:])
