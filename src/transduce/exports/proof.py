"""Compares an exported model's outputs in the other program with the original model's outputs."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.errors import SaveError
from transduce.exports.target import Engine, EngineOutput
from transduce.inference.load import TaskModel
from transduce.inference.outputs import combine_models, fit_batch_size, search_sources
from transduce.paper.operations import PLAIN
from transduce.paper.search import (
    BeamState,
    DecodingStrategy,
    Hypothesis,
    StepResult,
    beam_strategy,
    max_output_length,
)
from transduce.search.bounds import search_in_memory
from transduce.text.clean import normalise
from transduce.vocabulary import END

MOST_LINES = 1_000  # the most lines of a text that are translated
MADE_UP, LONGEST = 64, 12  # number of lines made of random pieces, and the most pieces of one
SMALLEST_SHARE = 0.9  # the least share of equal texts in float32; rounding may change the rest


@final
@dataclass(frozen=True)
class Comparison:
    """The counts of equal outputs for one beam width, and the differences of log-probabilities."""

    beam: int
    lines: int
    equal: int
    largest_difference: float | None  # in log P of equal texts; None without log P
    mean_difference: float | None
    unfinished: int  # lines whose outputs reach the length limit; their log P is not compared
    ended_otherwise: int = 0  # lines where our own rule to end hypotheses gives another output

    def __str__(self) -> str:
        unfinished = f", {self.unfinished} without an end" if self.unfinished else ""
        if not self.lines:
            return f"beam {self.beam}: nothing is compared{unfinished}"
        if self.ended_otherwise:
            unfinished += (
                f"; our own search gives {self.ended_otherwise} compared lines another output"
            )
        texts = f"{self.equal:,} of {self.lines:,} texts equal"
        if self.largest_difference is not None:
            mean, most = self.mean_difference, self.largest_difference
            texts += f", log P differs by {mean:.1e} in the mean, {most:.1e} at most"
        return f"beam {self.beam}: {texts}{unfinished}"


@final
@dataclass(frozen=True)
class Proof:
    """The comparisons of an exported model's outputs with the original's, one per beam width."""

    engine: str
    text: str  # a phrase on what was translated, such as "64 lines"
    comparisons: tuple[Comparison, ...]
    left_out: int = 0  # number of lines that are empty or too long for one search


def make_up_lines(model: TaskModel) -> list[str]:
    """Return 64 test lines, each of 1 to 12 random pieces of a model's source vocabulary."""
    vocabulary, draw = model.task.source, random.Random(1)
    count = len(vocabulary)
    ids = [draw.choices(range(2, count), k=draw.randint(1, LONGEST)) for _ in range(MADE_UP)]
    return [normalise(vocabulary.decode(one)).replace("\ufffd", "") for one in ids]


@final
@dataclass(frozen=True)
class Source:
    """A line to translate, its token ids, and the maximum output length, END not counted."""

    line: str
    ids: list[int]
    limit: int


def compare_programs(
    model: TaskModel, engine: Engine, lines: Sequence[str], text_name: str
) -> Proof:
    """Compare a model's and an engine's translations of lines, by greedy and by beam search.

    Empty lines and those with more tokens than the model's maximum length are left out. A greedy
    engine has no comparison by beam search. `text_name` describes the lines, for display.
    """
    longest = model.recipe.data.max_length
    sources = [encode_source(model, line) for line in lines]
    usable = [source for source in sources if 1 < len(source.ids) <= longest]
    usable.sort(key=lambda source: source.limit)
    beams = [1] if engine.is_greedy else sorted({1, model.recipe.search.beam})
    found = tuple(compare_best_outputs(model, engine, usable, beam) for beam in beams)
    return Proof(engine.name, text_name, found, left_out=len(sources) - len(usable))


def encode_source(model: TaskModel, line: str) -> Source:
    """Return a line with its source token ids and its maximum output length for this model."""
    (ids,) = model.task.encode_sources([model.task.normalise(line)])
    limit = max_output_length(len(ids) - 1, model.recipe.search.extra_length)
    return Source(line, list(ids), limit)


def compare_best_outputs(
    model: TaskModel, engine: Engine, sources: Sequence[Source], beam: int
) -> Comparison:
    """Compare a model's best outputs with the engine's, at one beam width, without length penalty.

    `sources` are sorted by `limit`. Our search ends hypotheses by the engine's rule. At the length
    limit our search adds END and its probability; other programs do not. So log P is not compared
    for outputs that reach the limit. With a beam wider than 1, or an engine without that limit,
    their texts are not compared either.
    """
    ids = [source.ids for source in sources]
    ours = by_own_rule = translate(model, ids, beam)
    if engine.ends_in_best_beam and beam > 1:
        ours = search_with_restricted_ends(model, ids, beam)
    theirs = list[EngineOutput]()  # one call for each limit, if the engine obeys limits
    for limit, group in groupby(sources, lambda one: one.limit if engine.limits_length else 0):
        theirs += engine.translate([source.line for source in group], beam, limit)
    pairs = list(zip(sources, ours, theirs, strict=True))
    ended = [
        (source, mine, other)
        for source, mine, other in pairs
        if len(mine.ids) < source.limit and not (beam > 1 and other.is_cut)
    ]
    compared = pairs if beam == 1 and engine.limits_length else ended
    with_end = {id(mine) for _, mine, _ in ended}
    differences = [
        abs(mine.log_prob - other.log_prob)
        for _, mine, other in ended
        if is_equal(model, mine, other) and not math.isnan(other.log_prob)
    ]
    return Comparison(
        beam,
        lines=len(compared),
        equal=sum(is_equal(model, mine, other) for _, mine, other in compared),
        largest_difference=max(differences, default=None),
        mean_difference=sum(differences) / len(differences) if differences else None,
        unfinished=len(pairs) - len(ended),
        ended_otherwise=sum(
            one.ids != mine.ids
            for one, mine in zip(by_own_rule, ours, strict=True)
            if id(mine) in with_end
        ),
    )


def is_equal(model: TaskModel, own: Hypothesis, other: EngineOutput) -> bool:
    """Return whether a model's own hypothesis and another program's output have the same text."""
    return model.task.decode(own.ids, "") == normalise(other.text)


def translate(model: TaskModel, sources: list[list[int]], beam: int) -> list[Hypothesis]:
    """Return a model's best hypothesis for each source of token ids, without a length penalty."""
    search = replace(model.recipe.search, beam=beam, penalty="none")
    return [found[0] for found in search_sources((model.transformer,), sources, search, 1)]


def explain_unproved(proof: Proof) -> str:
    """Return why no greedy output could be compared, or an empty string if any was."""
    greedy = proof.comparisons[0]
    if greedy.lines:
        return ""
    counts = [
        f"{proof.left_out:,} lines are empty or too long for one search" * bool(proof.left_out),
        f"{greedy.unfinished:,} outputs have no end" * bool(greedy.unfinished),
    ]
    reason = ", ".join(filter(None, counts)) or "there are no lines"
    return f"{proof.engine} could load it, but nothing was compared: {reason}"


def search_with_restricted_ends(
    model: TaskModel, sources: list[list[int]], beam: int
) -> list[Hypothesis]:
    """Return each source's best hypothesis by the ending rule of CTranslate2 and `transformers`.

    By their rule END ends a hypothesis only as one of the W best continuations, by our own rule
    as one of the 2 W best. W is the width of the beam.
    """
    search = replace(model.recipe.search, beam=beam, penalty="none")
    search = fit_batch_size((model.transformer,), sources, search, beam)
    stepwise = combine_models((model.transformer,))
    operations = model.transformer.operations
    strategy = restrict_ends(beam_strategy(stepwise, sources, search, operations=operations))
    found = dict(search_in_memory(stepwise, sources, search, strategy))
    return [found[number][0] for number in range(len(sources))]


def restrict_ends(strategy: DecodingStrategy) -> DecodingStrategy:
    """Return a strategy that ends a hypothesis only if END is among the W best continuations.

    Any other END gets the log P -inf. At the length limit, END is the only continuation, and keeps
    its log P.
    """

    def expand(beams: BeamState, log_probs: Float[Tensor, "R V"]) -> StepResult:
        width, symbols = strategy.width, log_probs.shape[1]
        _, best = PLAIN.highest_sums(beams.log_probs, log_probs, width)
        ends = torch.arange(width, device=best.device) * symbols + END  # the W columns of END
        may_end = (best[:, :, None] == ends).any(dim=1)  # [sentences W]
        may_end |= (beams.lengths + 1 == beams.max_lengths)[:, None]
        log_probs = log_probs.clone()
        log_probs[:, END].masked_fill_(~may_end.flatten(), -torch.inf)
        return strategy.expand(beams, log_probs)

    return replace(strategy, expand=expand)


def require_proven(proof: Proof) -> None:
    """Raise SaveError if under 90 % of an export's greedy outputs equal the original model's.

    Wider beams may differ: programs end a search by different rules.
    """
    greedy = proof.comparisons[0]
    if greedy.equal < SMALLEST_SHARE * greedy.lines:
        raise SaveError(
            f"{proof.engine} does not translate as this model does ({greedy}), so nothing is kept",
            "try another version of it; a model that is hardly trained has no clear outputs",
        )
