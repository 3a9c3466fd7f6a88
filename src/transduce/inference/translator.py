"""Trained models as a function from lines to lines: in order, an empty line for an empty one."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import methodcaller
from typing import final, overload

from transduce.errors import InputError
from transduce.inference.decoders import build_decoder
from transduce.inference.likelihood import target_log_probs
from transduce.inference.lines import Line, encode_line, number_lines, split_into_blocks
from transduce.inference.worker_processes import run_in_workers
from transduce.model.transformer import Transformer
from transduce.search import (
    ConstrainedDecoder,
    ConstrainedSource,
    Hypothesis,
    beam_search_unordered,
    sample_unordered,
    score_log_probs,
)
from transduce.settings import Recipe, Search
from transduce.settings.search import Sampling
from transduce.tasks import Task

BLOCK = 2_000  # lines read before the first output: sentences of like length are searched together
WORKER_BLOCK = 250  # lines that a worker takes at once: enough of like lengths, a share for all
TOKENS = 8_192  # tokens of a batch of given pairs, both sides
PART_BITS = 20  # bits of a sample's random key that number the parts of a line


@final
@dataclass(frozen=True)
class Output:
    """One translation of a line, with score and log P summed over its sentences."""

    text: str
    score: float
    log_prob: float


@final
@dataclass(frozen=True)
class Translator:
    """A callable from source text to translations: models, their task, and how to search."""

    models: tuple[Transformer, ...]  # several are an ensemble
    task: Task
    recipe: Recipe  # the first model's, with the search and data.max_length that hold for all
    hashes: tuple[str, ...] = ()  # sha256 of each model's manifest, if it was read from a folder
    sampling_settings: Sampling | None = None  # none: beam search

    def __post_init__(self) -> None:
        for model in self.models:  # learned positions must reach as far as each may be asked
            replace(self.recipe, architecture=model.sizes)

    def __repr__(self) -> str:
        data, count = self.recipe.data, len(self.models)
        others = f", {count} models" if count > 1 else ""
        return f"<{self.recipe.name}: {data.source_language} to {data.target_language}{others}>"

    @overload
    def __call__(self, text: str, *, prefix: str | None = None) -> str: ...
    @overload
    def __call__(self, text: list[str], *, prefix: list[str] | None = None) -> list[str]: ...
    def __call__(
        self, text: str | list[str], *, prefix: str | list[str] | None = None
    ) -> str | list[str]:
        """The best translation of one text, or of each of several; it begins with its prefix."""
        lines = [text] if isinstance(text, str) else text
        prefixes = [prefix] if isinstance(prefix, str) else prefix
        best = [outputs[0].text for outputs in self.nbest_lines(lines, prefixes=prefixes)]
        return best[0] if isinstance(text, str) else best

    def nbest_lines(
        self,
        lines: Iterable[str],
        n: int = 1,
        *,
        block: int = BLOCK,
        prefixes: Iterable[str] | None = None,
    ) -> Iterator[list[Output]]:
        """Yield the `n` best translations of every line, in order; reads `block` lines at a time."""
        for some in split_into_blocks(number_lines(lines, prefixes), block):
            yield from self.translate_block(some, n)

    def likelihood(
        self, pairs: Iterable[tuple[str, str]], *, block: int = BLOCK
    ) -> Iterator[Output]:
        """Yield each given target with the score and log P that the model gives it."""
        before = 0
        for some in split_into_blocks(pairs, block):
            yield from self.score_block(some, before)
            before += len(some)

    def searching(self, **changes: int | float | str) -> "Translator":
        """Return a translator with other settings of the beam search, such as `beam=8`."""
        search: Search = replace(self.recipe.search, **changes)  # type: ignore[arg-type]
        return replace(self, recipe=replace(self.recipe, search=search))

    def sampling(self, **changes: int | float) -> "Translator":
        """Return a translator that samples, with `temperature`, `top_k`, `top_p` and `seed`."""
        before = self.sampling_settings or Sampling()
        settings: Sampling = replace(before, **changes)  # type: ignore[arg-type]
        return replace(self, sampling_settings=settings)

    def translate_block(self, lines: Sequence[Line], n: int) -> list[list[Output]]:
        """Return the `n` best translations of each line; all parts of all lines share one search."""
        parts, keys, ends = list[Sequence[int]](), list[int](), [0]
        for line in lines:
            own = encode_line(line, self.task, self.recipe)
            parts += own
            keys += [line.number << PART_BITS | index for index in range(len(own))]
            ends.append(len(parts))
        found = self.search_parts(parts, keys, n)
        by_line = ([found[part] for part in range(*span)] for span in pairwise(ends))
        return [self.join_parts(own, n) for own in by_line]

    def search_parts(
        self, parts: Sequence[Sequence[int]], keys: Sequence[int], n: int
    ) -> dict[int, list[Hypothesis]]:
        """Return the `n` best hypotheses, or `n` samples, of each part by its index."""
        decoder, search = build_decoder(self.models), self.recipe.search
        if any(isinstance(part, ConstrainedSource) for part in parts):
            decoder = ConstrainedDecoder(decoder)
        sampling = self.sampling_settings
        if sampling is None:
            return dict(beam_search_unordered(decoder, parts, search, nbest=n))
        return dict(sample_unordered(decoder, parts, search, sampling, samples=n, keys=keys))

    def join_parts(self, parts: Sequence[Sequence[Hypothesis]], n: int) -> list[Output]:
        """Join the hypotheses of a line's parts into its `n` best outputs, rank by rank."""
        if not parts:
            return [Output("", 0.0, 0.0)]
        ranks = range(min(n, *map(len, parts)))
        return [
            Output(
                self.task.join([self.task.decode(part[rank].ids) for part in parts]),
                sum(part[rank].score for part in parts),
                sum(part[rank].log_prob for part in parts),
            )
            for rank in ranks
        ]

    def score_block(self, pairs: Sequence[tuple[str, str]], before: int) -> Iterator[Output]:
        """Yield each target of a block of pairs with its score; `before` lines came earlier."""
        longest, search = self.recipe.data.max_length, self.recipe.search
        task = self.task
        sides = ([task.normalise(line) for line in side] for side in zip(*pairs, strict=True))
        sources, targets = task.encode_sources(next(sides)), task.encode_targets(next(sides))
        ranges = (("source", sources, longest), ("target", targets, longest + search.extra_length))
        for name, side, most in ranges:
            for number, ids in enumerate(side, start=before + 1):
                if len(ids) > most:
                    raise InputError(
                        f"line {number}: a {name} of {len(ids):,} pieces, and this model takes "
                        f"{most:,}",
                        "split the sentence, or train with a larger data.max_length",
                    )
        tokens = max(TOKENS, 2 * longest + search.extra_length)
        log_probs = target_log_probs(self.models, sources, targets, tokens)
        scores = score_log_probs(log_probs, list(map(len, targets)), search)
        for (_, text), score, log_prob in zip(pairs, scores, log_probs, strict=True):
            yield Output(text, score, log_prob)


def translate_in_workers(
    load: Callable[[], Translator], lines: Iterable[Line], n: int, workers: int
) -> Generator[list[Output], None, None]:
    """Yield the `n` best translations of every line in order; each worker calls `load` once."""
    blocks = split_into_blocks(lines, WORKER_BLOCK)
    requests = (methodcaller("translate_block", block, n) for block in blocks)
    with closing(run_in_workers(load, requests, workers)) as results:
        for outputs in results:
            yield from outputs
