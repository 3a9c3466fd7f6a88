"""Prepares input lines for the search: numbers, forced prefixes, encoding, constraints."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol, TypeVar, final, runtime_checkable

from transduce.allowance import require_short_line
from transduce.errors import InputError
from transduce.inference.long_lines import LineWarning, split_line
from transduce.paper.search import max_output_length
from transduce.search import ConstrainedSource, ForcedPrefix
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.tasks import Task, constrain_source

BLOCK_CHARACTERS = 1 << 22  # of a block's texts, from which on no further line is read


@runtime_checkable
class Measured(Protocol):
    """An item of input whose characters are known."""

    @property
    def characters(self) -> int:
        """The number of characters of its texts."""
        ...


Item = TypeVar("Item", bound=Measured)


@final
@dataclass(frozen=True)
class Line:
    """An input line: its number, its text, and the prefix forced on its output, if any."""

    number: int  # line number, from 1
    text: str
    prefix: str | None = None

    @property
    def characters(self) -> int:
        """The number of characters of the text and the prefix."""
        return len(self.text) + len(self.prefix or "")


@final
@dataclass(frozen=True)
class EncodedLine:
    """An input line as parts encoded for the search, or a fallback output if it is not searched.

    A line that is too long and cannot be split has no parts, but a fallback output. The warning
    says that a sentence was split, or that the fallback is used.
    """

    number: int
    sources: Sequence[Sequence[int]]  # the ids of the parts
    texts: Sequence[str]  # the texts of the parts
    warning: LineWarning | None = None
    fallback: str | None = None


def number_lines(texts: Iterable[str], prefixes: Iterable[str] | None) -> Iterator[Line]:
    """Yield each line with its number and prefix; refuse more or fewer prefixes than lines."""
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
    """Yield the items in order as lists of `size` items; the last, and long ones, have fewer."""
    block, characters = list[Item](), 0
    for item in items:
        block.append(item)
        characters += item.characters
        if len(block) == size or characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


def encode_line(line: Line, task: Task, recipe: Recipe, *, strict: bool) -> EncodedLine:
    """Encode a line for the search; split a line that is too long, or, if `strict`, refuse it."""
    require_short_line(line.text, line.number)
    text = task.normalise(line.text)
    texts, parts, warning = list[str](), list[list[int]](), None
    if text:
        longest = recipe.data.max_length
        split, warning = split_line(text, line.number, task, longest, strict=strict)
        texts, parts = [part.text for part in split], [part.ids for part in split]
    if text and not parts:
        return EncodedLine(line.number, [], [], warning, task.fallback(text))
    sources: list[Sequence[int]] = [
        constrain_source(ids, task, part, recipe.search)
        for ids, part in zip(parts, texts, strict=True)
    ]
    forced = encode_prefix(line, task, parts, recipe.search.extra_length)
    if forced:
        require(
            sources[0] is parts[0],
            f"line {line.number} has a prefix, but this task constrains its outputs itself",
            "leave the prefix out",
        )
        sources[0] = ConstrainedSource(parts[0], ForcedPrefix(forced))
    return EncodedLine(line.number, sources, texts, warning)


def encode_prefix(
    line: Line, task: Task, parts: Sequence[Sequence[int]], extra_length: int
) -> tuple[int, ...]:
    """Return a line's forced prefix as ids, () if it has none; refuse a prefix that is too long."""
    if line.prefix is None:
        return ()
    require_short_line(line.prefix, line.number)
    (ids,) = task.encode_targets([task.normalise(line.prefix)])
    require(ids is not None, f"line {line.number}: its prefix has a label unknown to the model")
    assert ids is not None
    forced = tuple(ids[:-1])
    require(
        bool(parts) or not forced,
        f"line {line.number} is empty, but its prefix is not",
        "an empty line has an empty output",
    )
    most = max_output_length(parts[0], extra_length) if parts else 0
    require(
        len(forced) <= most,
        f"line {line.number}: its prefix has {len(forced)} pieces, and its output at most {most}",
        "raise search.extra_length (--extra-length) to "
        f"{extra_length + len(forced) - most} or more",
    )
    return forced
