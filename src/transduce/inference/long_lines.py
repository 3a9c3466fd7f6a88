"""Splits lines that are too long for a model into parts: sentences, clauses, words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, final

from transduce.errors import InputError
from transduce.tasks import SplitLevel, Task

WHOLE = 50_000  # characters of a text that is encoded before it is known to fit
HINT = "split the sentence, or train with a larger data.max_length"


WarningKind = Literal["too long", "repaired", "unknown label", "lost"]


@final
@dataclass(frozen=True)
class LineWarning:
    """A warning about one input line, such as that its sentence was split or is not scored."""

    line: int  # line number, from 1
    fact: str  # what the warning says
    kind: WarningKind = "too long"
    unit: str = "line"  # what is counted: lines, or the sentences of a document

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
    """Encode a line in parts of at most `max_length` pieces; warn (refuse if `strict`) of a cut.

    A line that is too long is split into its sentences. A sentence that is still too long is
    halved at clauses, words or characters until all parts fit, with a warning; if `strict`, the
    line is refused. A line that the task cannot split has no parts if the task has a fallback
    output; else the line is refused. A text of over `WHOLE` characters is split before it is
    encoded, because its pieces take 200 times its own memory.
    """
    sentences, parts = [text], list[list[int]]()
    if len(text) <= WHOLE or not task.split_levels:
        parts = task.encode_sources([text])
    if task.split_levels and (not parts or len(parts[0]) > max_length):
        sentences = task.split_levels[0].split(text)
        parts = task.encode_sources([one for one in sentences if len(one) <= WHOLE])
    worst = max(map(len, parts), default=0)
    longest = max(map(len, sentences))
    if len(parts) == len(sentences) and worst <= max_length:
        return [Part(*part) for part in zip(sentences, parts, strict=True)], None
    fact = f"a sentence of {worst:,} pieces, and this model takes {max_length:,}"
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
    """Halve a text at clauses, words or characters until no part exceeds `max_length` pieces.

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
    """Cut a text in two at the boundary of two units (such as words) nearest to its middle."""
    units = level.split(text)
    if len(units) == 1:
        return units
    ends = list(accumulate(map(len, units)))[:-1]
    middle = min(range(len(ends)), key=lambda n: abs(2 * ends[n] - ends[-1] - len(units[-1])))
    return level.joint.join(units[: middle + 1]), level.joint.join(units[middle + 1 :])
