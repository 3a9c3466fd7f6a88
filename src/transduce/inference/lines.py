"""Input lines on their way into the search: numbered, split if too long, with forced prefixes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeVar, final

from transduce.errors import InputError
from transduce.search import ConstrainedSource, ForcedPrefix
from transduce.search.beam_state import max_output_length
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.tasks import Task

Item = TypeVar("Item")


@final
@dataclass(frozen=True)
class Line:
    """An input line: its number, its text, and the forced prefix of its output, if it has one."""

    number: int  # from 1
    text: str
    prefix: str | None = None


def number_lines(texts: Iterable[str], prefixes: Iterable[str] | None) -> Iterator[Line]:
    """Yield each text with its line number and its prefix; refuse prefixes of another count."""
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


def split_into_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in order as lists of `size` items; the last list may be shorter."""
    remaining = iter(items)
    while block := list(islice(remaining, size)):
        yield block


def encode_line(line: Line, task: Task, recipe: Recipe) -> Sequence[Sequence[int]]:
    """Encode a line as the sources to search: one, or one a sentence if the line is too long.

    A forced prefix constrains the output of the first source.
    """
    parts = encode_parts(line, task, recipe.data.max_length)
    if line.prefix is None:
        return parts
    (prefix,) = task.encode_targets([task.normalise(line.prefix)])
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
    constraints = [ForcedPrefix(forced), *(ForcedPrefix(()) for _ in parts[1:])]
    return [
        ConstrainedSource(ids, constraint)
        for ids, constraint in zip(parts, constraints, strict=False)
    ]


def encode_parts(line: Line, task: Task, max_length: int) -> list[list[int]]:
    """Encode a line as a whole if it has at most `max_length` pieces, else sentence by sentence."""
    text = task.normalise(line.text)
    if not text:
        return []
    parts = task.encode_sources([text])
    if len(parts[0]) > max_length and task.split_levels:
        parts = task.encode_sources(task.split_levels[0].split(text))
    worst = max(map(len, parts))
    if worst > max_length:
        raise InputError(
            f"line {line.number}: a sentence of {worst:,} pieces, and this model takes {max_length:,}",
            "split the sentence, or train with a larger data.max_length",
        )
    return parts
