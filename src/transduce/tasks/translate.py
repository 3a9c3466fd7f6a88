"""A trained model at work: lines in, lines out, in order, empty for empty."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import final, overload

from transduce.errors import InputError
from transduce.model.transformer import Transformer
from transduce.search import Hypothesis, translate_in_any_order
from transduce.settings import Recipe, Search
from transduce.tasks.decoder import TransformerDecoder
from transduce.tasks.translation import Translation
from transduce.text import sentences
from transduce.text.clean import normalise

BLOCK = 2_000  # lines that are read before the first is said: like lengths are searched together


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
    """A model, its vocabularies, and how to search."""

    model: Transformer
    task: Translation
    recipe: Recipe

    @overload
    def __call__(self, text: str) -> str: ...
    @overload
    def __call__(self, text: list[str]) -> list[str]: ...
    def __call__(self, text: str | list[str]) -> str | list[str]:
        """The best translation of one text, or of each of several."""
        lines = [text] if isinstance(text, str) else text
        best = [outputs[0].text for outputs in self.lines(lines)]
        return best[0] if isinstance(text, str) else best

    def lines(
        self, lines: Iterable[str], *, nbest: int = 1, block: int = BLOCK
    ) -> Iterator[list[Output]]:
        """The best translations of every line, in order, a block of lines at a time."""
        remaining, done = iter(lines), 0
        while some := list(islice(remaining, block)):
            yield from self.block(some, nbest, done)
            done += len(some)

    def searching(self, **changes: int | float | str) -> "Translator":
        """The same with other settings of the search."""
        search: Search = replace(self.recipe.search, **changes)  # type: ignore[arg-type]
        return replace(self, recipe=replace(self.recipe, search=search))

    def block(self, lines: Sequence[str], nbest: int, before: int) -> Iterator[list[Output]]:
        """One block: long lines in sentences, all in one search, lines joined again."""
        parts, line_of = [], []
        for number, line in enumerate(lines):
            for ids in self.sources(line, before + number + 1):
                parts.append(ids)
                line_of.append(number)
        search = self.recipe.search
        decoder = TransformerDecoder(self.model.eval())
        found = dict(translate_in_any_order(decoder, parts, search, nbest=nbest))
        grouped: list[list[list[Hypothesis]]] = [[] for _ in lines]
        for part, number in enumerate(line_of):
            grouped[number].append(found[part])
        for hypotheses in grouped:
            yield self.outputs(hypotheses, nbest)

    def sources(self, line: str, number: int) -> list[list[int]]:
        """The ids of a line; of its sentences, if it is longer than the model has seen."""
        if not normalise(line):
            return []
        longest = self.recipe.data.longest
        (ids,) = self.task.read([line])
        if len(ids) <= longest:
            return [ids]
        parts = self.task.read(sentences.split(line))
        worst = max(map(len, parts))
        if worst > longest:
            raise InputError(
                f"line {number}: a sentence of {worst:,} pieces, and this model takes {longest:,}",
                "split the sentence, or train with a larger data.longest",
            )
        return parts

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
