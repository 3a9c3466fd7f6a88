"""Lines of text on their way into the search: numbered, with the beginning that is forced."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeVar, final

from transduce.errors import InputError
from transduce.search import ConstrainedSource, ForcedPrefix
from transduce.search.beam_state import max_output_length
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.tasks.translation import Translation
from transduce.text.clean import normalise
from transduce.text.sentences import split_sentences

Part = TypeVar("Part")


@final
@dataclass(frozen=True)
class Line:
    """A line of the input; if outputs are forced to begin somehow, how this one must."""

    number: int  # from 1
    text: str
    prefix: str | None = None


def numbered(texts: Iterable[str], prefixes: Iterable[str] | None) -> Iterator[Line]:
    """Line by line; every line has its prefix, or none has."""
    if prefixes is None:
        yield from (Line(number, text) for number, text in enumerate(texts, start=1))
        return
    for number, (text, prefix) in enumerate(zip_longest(texts, prefixes), start=1):
        if text is None or prefix is None:
            ends, goes = "input ends", "prefixes go"
            if prefix is None:
                ends, goes = "prefixes end", "input goes"
            raise InputError(
                f"the {ends} after line {number - 1}, but the {goes} on",
                "one prefix a line; an empty one leaves the output free",
            )
        yield Line(number, text, prefix)


def blocks(parts: Iterable[Part], size: int) -> Iterator[list[Part]]:
    """So many at a time."""
    remaining = iter(parts)
    while some := list(islice(remaining, size)):
        yield some


def sources_of(line: Line, task: Translation, recipe: Recipe) -> Sequence[Sequence[int]]:
    """The ids of a line; of its sentences, if it is longer than the model has seen."""
    parts = parts_of(line, task, recipe.data.max_length)
    if line.prefix is None:
        return parts
    (prefix,) = task.read_target([line.prefix])
    forced = tuple(prefix[:-1])
    require(
        bool(parts) or not forced,
        f"line {line.number} is empty, but its prefix is not",
        "an empty line has an empty output",
    )
    most = max_output_length(parts[0], recipe.search.extra_length) if parts else 0
    require(
        len(forced) <= most,
        f"line {line.number}: its prefix has {len(forced)} pieces, and its output at most {most}",
        f"raise search.extra_length (--extra-length) to {recipe.search.extra_length + len(forced) - most} or more",
    )
    rules = [ForcedPrefix(forced), *(ForcedPrefix(()) for _ in parts[1:])]
    return [ConstrainedSource(ids, rule) for ids, rule in zip(parts, rules, strict=False)]


def parts_of(line: Line, task: Translation, longest: int) -> list[list[int]]:
    """The same, without its prefix."""
    text = normalise(line.text)
    if not text:
        return []
    (ids,) = task.read([text])
    if len(ids) <= longest:
        return [ids]
    parts = task.read(split_sentences(text))
    worst = max(map(len, parts))
    if worst > longest:
        raise InputError(
            f"line {line.number}: a sentence of {worst:,} pieces, and this model takes {longest:,}",
            "split the sentence, or train with a larger data.max_length",
        )
    return parts
