"""Proves an export: the other program translates lines, and its outputs are compared with ours."""

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, final

from transduce.errors import SaveError
from transduce.exports.target import Engine, EngineOutput
from transduce.inference.load import Member
from transduce.inference.outputs import search_sources
from transduce.search import Hypothesis
from transduce.search.beam_state import max_output_length
from transduce.text.clean import normalise

LINES = 1_000  # at most so many lines of a text are translated
MADE_UP, LONGEST = 64, 12  # lines made of random pieces, and the most pieces of one
SHARE = 0.9  # fewer equal texts of a float32 model are an error, not rounding


@final
@dataclass(frozen=True)
class Comparison:
    """How many texts are equal in a search of one width, and how far log-probabilities differ."""

    beam: int
    lines: int
    equal: int
    largest_difference: float | None  # of log P, over equal texts; None if none is known
    mean_difference: float | None
    unfinished: int  # lines whose log P is left out: their outputs reach the limit of the length

    def __str__(self) -> str:
        unfinished = f", {self.unfinished} without an end" if self.unfinished else ""
        known = (
            ""
            if self.largest_difference is None
            else (
                f", log P differs by {self.mean_difference:.1e} in the mean, "
                f"{self.largest_difference:.1e} at most"
            )
        )
        texts = f"{self.equal:,} of {self.lines:,} texts equal"
        return f"beam {self.beam}: {texts}{known}{unfinished}"


@final
@dataclass(frozen=True)
class Proof:
    """The comparisons of an exported model in its own program with the model here."""

    engine: str
    text: str  # what was translated
    comparisons: tuple[Comparison, ...]
    left_out: int = 0  # lines that are empty, or too long for one search

    def as_json(self) -> dict[str, Any]:
        """Return the proof as JSON values."""
        return asdict(self)


def make_up_lines(member: Member, seed: int = 1) -> list[str]:
    """Return 64 lines of random pieces of the source vocabulary, for models without a text."""
    vocabulary, draw = member.task.source, random.Random(seed)
    count = len(vocabulary)
    ids = [draw.choices(range(2, count), k=draw.randint(1, LONGEST)) for _ in range(MADE_UP)]
    return [normalise(vocabulary.decode(one)).replace("\ufffd", "") for one in ids]


@final
@dataclass(frozen=True)
class Source:
    """A line to translate, its ids, and the most symbols of its output before END."""

    line: str
    ids: list[int]
    limit: int


def prove(member: Member, engine: Engine, lines: Sequence[str], text: str) -> Proof:
    """Translate lines with the engine and here, greedily and with the model's own beam width."""
    longest = member.recipe.data.max_length
    sources = [encode(member, line) for line in lines]
    usable = [source for source in sources if 1 < len(source.ids) <= longest]
    usable.sort(key=lambda source: source.limit)
    beams = sorted({1, member.recipe.search.beam})
    found = tuple(compare(member, engine, usable, beam) for beam in beams)
    return Proof(engine.name, text, found, left_out=len(sources) - len(usable))


def encode(member: Member, line: str) -> Source:
    """Return a line with its ids as this model reads it."""
    (ids,) = member.task.encode_sources([member.task.normalise(line)])
    limit = max_output_length(ids, member.recipe.search.extra_length)
    return Source(line, list(ids), limit)


def compare(member: Member, engine: Engine, sources: Sequence[Source], beam: int) -> Comparison:
    """Compare the best outputs of a search of one width without a length penalty.

    At the limit of the length our search adds the end and its probability, and others do not: then
    log P is not compared, nor is the text of a beam, which that probability orders.
    """
    ours = translate(member, [source.ids for source in sources], beam)
    theirs = list[EngineOutput]()
    for limit, group in groupby(sources, key=lambda source: source.limit):
        lines = [source.line for source in group]  # sources of one length
        theirs += engine.translate(lines, beam, limit)
    pairs = list(zip(sources, ours, theirs, strict=True))
    ended = [pair for pair in pairs if len(pair[1].ids) < pair[0].limit]
    compared = pairs if beam == 1 and engine.limits_length else ended
    differences = [
        abs(own.log_prob - other.log_prob)
        for _, own, other in ended
        if is_equal(member, own, other) and not math.isnan(other.log_prob)
    ]
    return Comparison(
        beam,
        lines=len(compared),
        equal=sum(is_equal(member, own, other) for _, own, other in compared),
        largest_difference=max(differences, default=None),
        mean_difference=sum(differences) / len(differences) if differences else None,
        unfinished=len(pairs) - len(ended),
    )


def is_equal(member: Member, own: Hypothesis, other: EngineOutput) -> bool:
    """Return whether a hypothesis has the text of another program's output."""
    return member.task.decode(own.ids, "") == normalise(other.text)


def translate(member: Member, sources: list[list[int]], beam: int) -> list[Hypothesis]:
    """Return this model's best output of each source by a search without a length penalty."""
    search = replace(member.recipe.search, beam=beam, penalty="none")
    return [found[0] for found in search_sources((member.model,), sources, search, 1)]


def require_proven(proof: Proof) -> None:
    """Refuse an export in float32 whose greedy outputs are not those of the model.

    Wider beams may differ: programs end a search by different rules.
    """
    greedy = proof.comparisons[0]
    if greedy.equal < SHARE * greedy.lines:
        raise SaveError(
            f"{proof.engine} does not translate as this model does ({greedy}), so nothing is kept",
            "try another version of it; a model that is hardly trained has no clear outputs",
        )
