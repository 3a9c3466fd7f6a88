"""Searches the parts of many lines at once, and joins their hypotheses into the lines' outputs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from transduce.equip import choose_search_operations
from transduce.inference.alignment import Alignment
from transduce.inference.combine_parts import Combination
from transduce.inference.decoders import build_decoder
from transduce.inference.lines import EncodedLine
from transduce.inference.long_lines import LineWarning
from transduce.inference.search_memory import limit_batch_size
from transduce.paper.model import Transformer
from transduce.paper.search import Hypothesis, beam_strategy
from transduce.search import (
    ConstrainedSource,
    sampling_strategy,
    search_in_memory,
    with_constraints,
)
from transduce.settings import Search
from transduce.settings.search import Sampling
from transduce.tasks import Task

Sources = Sequence[Sequence[int]]


@final
@dataclass(frozen=True)
class Output:
    """One output of a line; score and log P are sums over the line's parts, nan if not computed."""

    text: str
    score: float
    log_prob: float
    alignment: Alignment | None = None  # with the source, if it was asked for
    lost: tuple[str, ...] = ()  # placeholders, URLs, addresses and numbers that did not come back

    def as_json(self) -> dict[str, Any]:
        """Return the fields as values for JSON, with None in place of nan."""
        numbers = {"score": self.score, "log_prob": self.log_prob}
        known = {name: None if math.isnan(one) else one for name, one in numbers.items()}
        links = {} if self.alignment is None else self.alignment.as_json()
        lost = {"lost": list(self.lost)} if self.lost else {}
        return {"text": self.text, **known, **links, **lost}


@final
@dataclass(frozen=True)
class BlockResult:
    """The results of a block of lines: the outputs of each line, best first, and warnings."""

    outputs: list[list[Output]]
    warnings: list[LineWarning]


def search_sources(
    models: Sequence[Transformer], sources: Sources, search: Search, n: int
) -> list[list[Hypothesis]]:
    """Return the `n` best hypotheses of each source; equal sources are searched once."""
    unique: dict[object, int] = {}
    indices = [unique.setdefault(deduplication_key(source), len(unique)) for source in sources]
    first = dict(zip(reversed(indices), reversed(sources), strict=True))
    distinct: Sources = [first[index] for index in range(len(unique))]
    search = limit_batch_size(models, distinct, search, search.beam)
    operations = choose_search_operations(models, len(distinct))
    decoder, distinct = with_constraints(build_decoder(models, operations), distinct)
    strategy = beam_strategy(decoder, distinct, search, n, operations=operations[0])
    found = dict(search_in_memory(decoder, distinct, search, strategy))
    return [found[index] for index in indices]


def sample_sources(
    models: Sequence[Transformer],
    sources: Sources,
    keys: Sequence[int],
    search: Search,
    sampling: Sampling,
    n: int,
) -> list[list[Hypothesis]]:
    """Draw `n` samples for each source, with random numbers from the source's key."""
    search = limit_batch_size(models, sources, search, n)
    operations = choose_search_operations(models, len(sources))
    decoder, sources = with_constraints(build_decoder(models, operations), sources)
    strategy = sampling_strategy(
        decoder, sources, search, sampling, samples=n, keys=keys, operations=operations[0]
    )
    found = dict(search_in_memory(decoder, sources, search, strategy))
    return [found[index] for index in range(len(sources))]


def deduplication_key(source: Sequence[int]) -> object:
    """Return a hashable key, equal for sources with equal ids and equal constraints."""
    return tuple(source), source.constraint if isinstance(source, ConstrainedSource) else None


def join_parts(line: EncodedLine, combinations: Sequence[Combination], task: Task) -> list[Output]:
    """Join each combination of hypotheses of a line's parts to one output.

    An empty line has an empty output; a line that was not searched has its fallback output.
    """
    if line.fallback is not None:
        return [Output(line.fallback, math.nan, math.nan)]
    if not line.sources:
        return [Output("", 0.0, 0.0)]
    return [
        Output(
            task.join(
                [task.decode(one.ids, text) for one, text in zip(chosen, line.texts, strict=True)]
            ),
            sum(one.score for one in chosen),
            sum(one.log_prob for one in chosen),
        )
        for chosen in combinations
    ]


def keep_different(
    combinations: Sequence[Combination], outputs: Sequence[Output], n: int
) -> tuple[list[Combination], list[Output]]:
    """Return the best `n` outputs with different texts, and their combinations, best first."""
    first: dict[str, int] = {}
    for index, output in enumerate(outputs):
        first.setdefault(output.text, index)
    kept = list(first.values())[:n]
    return [combinations[index] for index in kept], [outputs[index] for index in kept]


def collect_warnings(line: EncodedLine, best: Combination, task: Task) -> list[LineWarning]:
    """Return a line's own warning, if any, and a warning for each part with a repaired output."""
    repaired = [
        task.find_fault(part.ids, text) for part, text in zip(best, line.texts, strict=True)
    ]
    warnings = [LineWarning(line.number, fault, "repaired") for fault in repaired if fault]
    return [line.warning, *warnings] if line.warning else warnings
