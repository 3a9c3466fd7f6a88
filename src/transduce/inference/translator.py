"""A trained model at work: lines in, lines out, in order, empty for empty."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final, overload

from transduce.errors import InputError
from transduce.inference.decoders import decoder_of
from transduce.inference.likelihood import log_probs_of
from transduce.inference.lines import Line, blocks, numbered, sources_of
from transduce.model.transformer import Transformer
from transduce.search import (
    ConstrainedDecoder,
    ConstrainedSource,
    Hypothesis,
    beam_search_unordered,
    sample_unordered,
)
from transduce.search.penalties import DIVISORS
from transduce.settings import Recipe, Search
from transduce.settings.search import Sampling
from transduce.tasks.translation import Translation

BLOCK = 2_000  # lines that are read before the first is said: like lengths are searched together
TOKENS = 8_192  # of given pairs at once, both sides
PARTS = 20  # bits of a sample's key that number the sentences of a line


@final
@dataclass(frozen=True)
class Output:
    """One translation of a line, with the sums over its sentences."""

    text: str
    score: float
    log_prob: float


@final
@dataclass(frozen=True)
class Translator:
    """A model, its vocabularies, and how to search or to draw."""

    model: Transformer
    task: Translation
    recipe: Recipe
    hash: str = ""  # sha256 of the manifest of what was read, if it was
    others: tuple["Translator", ...] = ()  # of an ensemble
    draws: Sampling | None = None

    def __repr__(self) -> str:
        data, others = self.recipe.data, f", {len(self.models)} models" if self.others else ""
        return f"<{self.recipe.name}: {data.source_language} to {data.target_language}{others}>"

    @property
    def models(self) -> tuple[Transformer, ...]:
        """All that answer together."""
        return (self.model, *(other.model for other in self.others))

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
        best = [outputs[0].text for outputs in self.lines(lines, prefixes=prefixes)]
        return best[0] if isinstance(text, str) else best

    def lines(
        self,
        lines: Iterable[str],
        *,
        nbest: int = 1,
        block: int = BLOCK,
        prefixes: Iterable[str] | None = None,
    ) -> Iterator[list[Output]]:
        """The best translations of every line, in order, a block of lines at a time."""
        for some in blocks(numbered(lines, prefixes), block):
            yield from self.block(some, nbest)

    def likelihoods(
        self, pairs: Iterable[tuple[str, str]], *, block: int = BLOCK
    ) -> Iterator[Output]:
        """Targets that are given, with the scores that they would have if they were found."""
        before = 0
        for some in blocks(pairs, block):
            yield from self.block_of_pairs(some, before)
            before += len(some)

    def searching(self, **changes: int | float | str) -> "Translator":
        """The same with other settings of the search."""
        search: Search = replace(self.recipe.search, **changes)  # type: ignore[arg-type]
        others = tuple(other.searching(**changes) for other in self.others)
        return replace(self, recipe=replace(self.recipe, search=search), others=others)

    def sampling(self, **changes: int | float) -> "Translator":
        """The same, but outputs are drawn: with temperature, top_k, top_p and seed."""
        draws: Sampling = replace(self.draws or Sampling(), **changes)  # type: ignore[arg-type]
        return replace(self, draws=draws)

    def block(self, lines: Sequence[Line], nbest: int) -> Iterator[list[Output]]:
        """One block: long lines in sentences, all in one search, lines joined again."""
        parts, keys = [], []
        for line in lines:
            for place, ids in enumerate(sources_of(line, self.task, self.recipe)):
                parts.append(ids)
                keys.append(line.number << PARTS | place)
        found = self.found(parts, keys, nbest)
        grouped: dict[int, list[list[Hypothesis]]] = {line.number: [] for line in lines}
        for part, key in enumerate(keys):
            grouped[key >> PARTS].append(found[part])
        for hypotheses in grouped.values():
            yield self.outputs(hypotheses, nbest)

    def found(
        self, parts: Sequence[Sequence[int]], keys: Sequence[int], nbest: int
    ) -> dict[int, list[Hypothesis]]:
        """What the search, or chance, makes of each part."""
        decoder, search = decoder_of(self.models), self.recipe.search
        if any(isinstance(part, ConstrainedSource) for part in parts):
            decoder = ConstrainedDecoder(decoder)
        if self.draws is None:
            return dict(beam_search_unordered(decoder, parts, search, nbest=nbest))
        return dict(sample_unordered(decoder, parts, search, self.draws, samples=nbest, keys=keys))

    def outputs(self, parts: Sequence[Sequence[Hypothesis]], nbest: int) -> list[Output]:
        """The translations of a line from those of its sentences; an empty line's is empty."""
        if not parts:
            return [Output("", 0.0, 0.0)]
        ranks = range(min(nbest, *map(len, parts)))
        return [
            Output(
                " ".join(self.task.say(part[rank].ids) for part in parts),
                sum(part[rank].score for part in parts),
                sum(part[rank].log_prob for part in parts),
            )
            for rank in ranks
        ]

    def block_of_pairs(self, pairs: Sequence[tuple[str, str]], before: int) -> Iterator[Output]:
        """One block of pairs; none may be longer than what could have been found."""
        longest, search = self.recipe.data.max_length, self.recipe.search
        sides = zip(*pairs, strict=True)
        sources, targets = self.task.read(next(sides)), self.task.read_target(next(sides))
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
        log_probs = log_probs_of(self.models, sources, targets, tokens)
        for (_, text), ids, log_prob in zip(pairs, targets, log_probs, strict=True):
            divisor = DIVISORS[search.penalty](len(ids), search.alpha)
            yield Output(text, log_prob / divisor, log_prob)
