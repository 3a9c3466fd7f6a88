"""Prepares lines for the search: numbers, prefixes, splits of long lines, ids, constraints."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Literal, TypeVar, final

from transduce.allowance import require_short_line
from transduce.errors import InputError
from transduce.paper.search import max_output_length
from transduce.search.constraints import ConstrainedSource, ForcedPrefix
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.tasks import SplitLevel, Task, constrain_source

WHOLE = 50_000  # the most characters of a text that is encoded without being split first
BLOCK_CHARACTERS = 1 << 22  # a block that has this many gets no further line
HINT = "split the sentence, or train with a larger data.max_length"


WarningKind = Literal["too long", "repaired", "unknown label", "lost"]


@final
@dataclass(frozen=True)
class LineWarning:
    """A warning about one input line, such as that its sentence was split or is not scored."""

    line: int  # line number, from 1
    fact: str  # what the warning says
    kind: WarningKind = "too long"
    unit: str = "line"  # what `line` counts: lines, or the sentences of a document

    def __str__(self) -> str:
        return f"{self.unit} {self.line}: {self.fact}"


OnWarning = Callable[[LineWarning], None]


@final
@dataclass(frozen=True)
class Part:
    """A part of a line: text, ids with END, and the split level (such as words) it was cut at."""

    text: str
    ids: list[int]
    level: int = 0  # index in `Task.split_levels`: sentences, clauses, words, ...


def split_line(
    text: str, number: int, task: Task, max_length: int, *, strict: bool
) -> tuple[list[Part], LineWarning | None]:
    """Return a line's encoded parts and a warning or None; if `strict`, refuse a too long sentence.

    A line that is too long is split into its sentences. A sentence that is still too long is
    halved at clauses, words or characters until all parts fit, with a warning; if `strict`, the
    line is refused. A line that the task cannot split has no parts if the task has a fallback
    output; else the line is refused. A text of over `WHOLE` characters is split before it is
    encoded, because encoding takes 200 times the memory of the text.
    """
    sentences, parts = [text], list[list[int]]()
    if len(text) <= WHOLE or not task.split_levels:
        parts = task.encode_sources([text])
    if task.split_levels and (not parts or len(parts[0]) > max_length):
        sentences = task.split_levels[0].split(text)
        parts = task.encode_sources([one for one in sentences if len(one) <= WHOLE])
    most_pieces = max(map(len, parts), default=0)
    longest = max(map(len, sentences))
    if len(parts) == len(sentences) and most_pieces <= max_length:
        return [Part(*part) for part in zip(sentences, parts, strict=True)], None
    fact = f"a sentence of {most_pieces:,} pieces, and this model takes {max_length:,}"
    if len(parts) < len(sentences):
        fact = f"a sentence of {longest:,} characters, and this model takes {max_length:,} pieces"
    error = InputError(f"line {number}: {fact}", HINT)
    if not strict and task.fallback(text) is not None:
        return [], LineWarning(number, f"{fact}; not searched")
    if strict or not task.split_levels:
        raise error
    fitting = [part for one in sentences for part in halve_until_it_fits(one, 1, task, max_length)]
    if any(len(part.ids) > max_length for part in fitting):  # a single character can be too long
        raise error
    level = task.split_levels[max(part.level for part in fitting)]
    return fitting, LineWarning(number, f"{fact}; split at {level.name}")


def halve_until_it_fits(text: str, level: int, task: Task, max_length: int) -> Iterator[Part]:
    """Halve a text at split levels from `level` on; yield parts that fit or cannot be halved.

    `level` is the index of the first split level that is tried.
    """
    pending = [(text, level, 0)]
    while pending:
        text, level, cut = pending.pop()
        is_last = level == len(task.split_levels)
        ids = task.encode_sources([text])[0] if is_last or len(text) <= WHOLE else None
        if ids is not None and (is_last or len(ids) <= max_length):
            yield Part(text, ids, cut)
            continue
        halves = halve(text, task.split_levels[level])
        if len(halves) == 1:
            pending.append((text, level + 1, cut))
        else:
            pending += [(half, level, level) for half in reversed(halves)]


def halve(text: str, level: SplitLevel) -> Sequence[str]:
    """Return the halves of a text, cut between two units such as words, or its only unit."""
    units = level.split(text)
    if len(units) == 1:
        return units
    ends = list(accumulate(map(len, units)))[:-1]
    middle = min(range(len(ends)), key=lambda n: abs(2 * ends[n] - ends[-1] - len(units[-1])))
    return level.joint.join(units[: middle + 1]), level.joint.join(units[middle + 1 :])


@final
@dataclass(frozen=True)
class Line:
    """An input line, its text, and the beginning that its output must have, if any."""

    number: int  # line number, from 1
    text: str
    prefix: str | None = None

    @property
    def characters(self) -> int:
        """The number of characters of the text and the prefix."""
        return len(self.text) + len(self.prefix or "")


@final
@dataclass(frozen=True)
class Pair:
    """A source line and its target line, with their line number."""

    number: int  # line number, from 1
    source: str
    target: str

    @property
    def characters(self) -> int:
        """The number of characters of both sides."""
        return len(self.source) + len(self.target)


Item = TypeVar("Item", Line, Pair)


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


def number_lines(
    texts: Iterable[str], prefixes: Iterable[str] | None, first: int = 1
) -> Iterator[Line]:
    """Yield texts as lines numbered from `first`, each with its prefix; refuse unequal counts."""
    if prefixes is None:
        yield from (Line(number, text) for number, text in enumerate(texts, start=first))
        return
    for number, (text, prefix) in enumerate(zip_longest(texts, prefixes), start=first):
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
    """Yield lists of `size` items, fewer if a list reaches BLOCK_CHARACTERS or is the last."""
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
    """Encode a line for the search; a line that is too long is split, or refused if `strict`."""
    require_short_line(line.text, line.number)
    text, longest = task.normalise(line.text), recipe.data.max_length
    if not text:
        parts, warning = list[Part](), None
    else:
        parts, warning = split_line(text, line.number, task, longest, strict=strict)
        if not parts:
            return EncodedLine(line.number, [], [], warning, task.fallback(text))
    sources: list[Sequence[int]] = [
        constrain_source(part.ids, task, part.text, recipe.search) for part in parts
    ]
    if forced := encode_prefix(line, task, parts, recipe.search.extra_length):
        require(
            sources[0] is parts[0].ids,
            f"line {line.number} has a prefix, but this task constrains its outputs itself",
            "leave the prefix out",
        )
        sources[0] = ConstrainedSource(parts[0].ids, ForcedPrefix(forced))
    return EncodedLine(line.number, sources, [part.text for part in parts], warning)


def encode_prefix(
    line: Line, task: Task, parts: Sequence[Part], extra_length: int
) -> tuple[int, ...]:
    """Return a line's forced prefix as ids, () if it has none; refuse a prefix that is too long.

    It may have as many pieces as the line's first part, and `extra_length` more. Also refused
    are a prefix with a label unknown to the model, and a non-empty prefix of an empty line.
    """
    if line.prefix is None:
        return ()
    require_short_line(line.prefix, line.number)
    (ids,) = task.encode_targets([task.normalise(line.prefix)])
    if ids is None:
        raise InputError(f"line {line.number}: its prefix has a label unknown to the model")
    forced = tuple(ids[:-1])
    require(
        bool(parts) or not forced,
        f"line {line.number}: its text is empty, but its prefix is not",
        "an empty line has an empty output",
    )
    most = max_output_length(len(parts[0].ids) - 1, extra_length) if parts else 0
    require(
        len(forced) <= most,
        f"line {line.number}: its prefix has {len(forced)} pieces, and its output at most {most}",
        "raise search.extra_length (--extra-length) to "
        f"{extra_length + len(forced) - most} or more",
    )
    return forced
