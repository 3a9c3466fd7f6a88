"""Outputs and word links of a line, and the search that finds them for many lines at once

The batch of a search is limited to what is estimated to fit in free memory, because a process over
the limit of its control group is killed without an error, and cannot try again. If the system
raises an error instead, `search/bounds.py` halves the batch.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from transduce.equip import adapt_strategy, choose_batch_size, choose_search_operations
from transduce.errors import NotEnoughMemoryError
from transduce.inference.lines import EncodedLine, LineWarning
from transduce.machine.limits import free_memory_bytes
from transduce.mixing import build_stepwise_model
from transduce.paper.model import Transformer
from transduce.paper.operations import Operations
from transduce.paper.search import Hypothesis, StepwiseModel
from transduce.search.bounds import (
    COPIES,
    SAMPLING_COPIES,
    choose_beam_strategy,
    estimate_bytes,
    require_affordable_beam,
    search_in_memory,
)
from transduce.search.constraints import with_constraints
from transduce.search.ensemble import Ensemble
from transduce.search.sampling import sampling_strategy
from transduce.settings import Search
from transduce.settings.search import Sampling
from transduce.tasks import Task

Sources = Sequence[Sequence[int]]
Combination = Sequence[Hypothesis]  # a hypothesis of each part of a line, in order


@final
@dataclass(frozen=True)
class Alignment:
    """The links between the words of a source and a target; `str` gives Pharaoh's format.

    A word is what spaces separate in a normalised text, in which a no-break space is a space, and
    invisible characters are left out. Words are counted from 0.
    """

    links: tuple[tuple[int, int], ...] = ()  # (source word, target word), in ascending order
    weights: tuple[float, ...] = ()  # of each link: the largest weight between its words' pieces

    def __str__(self) -> str:
        return " ".join(f"{i}-{j}" for i, j in self.links)

    def rank_links(self) -> Sequence[tuple[int, int]]:
        """Return the links, largest weight first."""
        pairs = zip(self.weights, self.links, strict=True)
        return [link for _, link in sorted(pairs, key=lambda pair: -pair[0])]

    def as_json(self) -> dict[str, Any]:
        """Return the links and their weights, rounded to four decimals, as values for JSON."""
        weights = [round(weight, 4) for weight in self.weights]
        return {"alignment": [list(link) for link in self.links], "weights": weights}


@final
@dataclass(frozen=True)
class Output:
    """An output for an input line; score and log P are sums over its parts, nan if not computed."""

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
    """Return at most `n` best hypotheses of each source; equal sources are searched once."""
    unique: dict[object, int] = {}
    constraints = [getattr(source, "constraint", None) for source in sources]
    keys = [(tuple(source), one) for source, one in zip(sources, constraints, strict=True)]
    indices = [unique.setdefault(key, len(unique)) for key in keys]
    first = dict(zip(reversed(indices), reversed(sources), strict=True))
    distinct: Sources = [first[index] for index in range(len(unique))]
    search = fit_batch_size(models, distinct, search, search.beam)
    operations = choose_search_operations(models, len(distinct))
    model, distinct = with_constraints(combine_models(models, operations), distinct)
    strategy = choose_beam_strategy(model, distinct, search, n, operations=operations[0])
    strategy = adapt_strategy(strategy, search, model.device)
    found = dict(search_in_memory(model, distinct, search, strategy))
    return [found[index][:n] for index in indices]


def sample_sources(
    models: Sequence[Transformer],
    sources: Sources,
    keys: Sequence[int],
    search: Search,
    sampling: Sampling,
    n: int,
) -> list[list[Hypothesis]]:
    """Return `n` random samples for each source, seeded by `sampling.seed` and its key."""
    # with top-k, only k symbols have random keys and noise
    copies = COPIES if sampling.top_k else SAMPLING_COPIES
    search = fit_batch_size(models, sources, search, n, copies)
    operations = choose_search_operations(models, len(sources))
    model, sources = with_constraints(combine_models(models, operations), sources)
    strategy = sampling_strategy(
        model, sources, search, sampling, samples=n, keys=keys, operations=operations[0]
    )
    found = dict(search_in_memory(model, sources, search, strategy))
    return [found[index] for index in range(len(sources))]


def join_parts(line: EncodedLine, combinations: Sequence[Combination], task: Task) -> list[Output]:
    """Return one output for each combination of hypotheses of a line's parts.

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
    """Drop outputs with repeated texts; return the combinations and outputs of the first `n`."""
    first: dict[str, int] = {}
    for index, output in enumerate(outputs):
        first.setdefault(output.text, index)
    kept = list(first.values())[:n]
    return [combinations[index] for index in kept], [outputs[index] for index in kept]


def collect_warnings(line: EncodedLine, best: Combination, task: Task) -> list[LineWarning]:
    """Return a line's own warning, if any, and one per part whose output had to be repaired."""
    repaired = [
        task.find_fault(part.ids, text) for part, text in zip(best, line.texts, strict=True)
    ]
    warnings = [LineWarning(line.number, fault, "repaired") for fault in repaired if fault]
    return [line.warning, *warnings] if line.warning else warnings


SHARE_OF_MEMORY = 0.8  # of free memory to be used; the estimate leaves some things out


def fit_batch_size(
    models: Sequence[Transformer],
    sources: Sequence[Sequence[int]],
    search: Search,
    width: int,
    copies: int = COPIES,
) -> Search:
    """Return `search` with the fastest batch size or, on a CPU, a smaller one that fits in memory.

    A batch size other than the default is not raised. `width` is the number of hypotheses of a
    sentence; `copies` are those of `estimate_bytes`. On a CPU, NotEnoughMemoryError is raised if
    free memory is too small for a single sentence, and InputError if the beam is too wide. On a GPU
    nothing is estimated; the search halves its batch when memory runs out.
    """
    if not sources:
        return search
    device = models[0].output.weight.device
    known = [(model.sizes, len(model.output.weight)) for model in models]
    count = choose_batch_size(device, search.batch_size, known, width)
    if device.type != "cpu":
        return replace(search, batch_size=count)
    longest = sorted(map(len, sources), reverse=True)[:count]
    needs = np.cumsum(
        [sum(estimate_bytes(*one, n, search, width, copies) for one in known) for n in longest]
    )
    require_affordable_beam(int(needs[0]), longest[0], width)
    free = free_memory_bytes()
    if needs[0] > free:
        raise NotEnoughMemoryError(
            f"a sentence of {longest[0]:,} pieces and {width:,} hypotheses may need "
            f"{needs[0] / 1e6:,.0f} MB of memory, and {free / 1e6:,.0f} are free",
            "try a smaller beam, fewer samples, or shorter lines",
        )
    fitting = int((needs <= SHARE_OF_MEMORY * free).sum())
    least = search.batch_size if fitting == len(longest) else 1
    return replace(search, batch_size=max(least, fitting))


def combine_best(found: Sequence[Sequence[Hypothesis]], n: int) -> list[Combination]:
    """Return up to `n` combinations of parts' hypotheses with the highest total scores, best first.

    `found` has each part's hypotheses, best first. Parts are added one by one, and only the `n`
    best sums so far are extended: no other sum can lead to a better total. Equal sums are ordered
    by the ranks of the parts' hypotheses.
    """
    best = [(0.0, list[Hypothesis]())]
    for hypotheses in found:
        # of the hypotheses added to the i-th best sum, only the first n / i can be among the n best
        sums = (
            (total + one.score, chosen, one)
            for rank, (total, chosen) in enumerate(best, start=1)
            for one in hypotheses[: n // rank]
        )
        largest = heapq.nsmallest(n, sums, key=lambda each: -each[0])  # stable, as sorted() is
        best = [(total, [*chosen, one]) for total, chosen, one in largest]
    return [chosen for _, chosen in best]


def combine_samples(found: Sequence[Sequence[Hypothesis]], n: int) -> list[Combination]:
    """Return up to `n` combinations of a line's parts: the i-th sample of each part, for each i."""
    return [[part[index] for part in found] for index in range(min([n, *map(len, found)]))]


def combine_models(
    models: Sequence[Transformer], operations: Sequence[Operations] | None = None
) -> StepwiseModel[Any]:
    """Return one model, or an ensemble of several, as a `StepwiseModel`, set to evaluation mode.

    `operations` are those of each model in this search, by default its own.
    """
    each = operations or [model.operations for model in models]
    members = tuple(
        build_stepwise_model(model.eval() if model.training else model, own)
        for model, own in zip(models, each, strict=True)
    )
    return members[0] if len(members) == 1 else Ensemble(members)
