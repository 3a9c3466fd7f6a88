"""Reads a run's log.jsonl into columns, without the lines that a later resume made void.

The log is not trusted: long lines, holes of a sparse file, and growth do no harm. Columns of long
logs are kept in the user's cache folder, so that lines are parsed only once. A cached file is used
if it is intact, if the code that wrote it parses lines as this code does, and if the log still
begins with the bytes that were parsed. Later lines are read from the log. A damaged cache costs
only time. The run's folder stays as it is: another user may own it, and training writes there.
"""

import errno
import hashlib
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from io import BufferedReader
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float64

from transduce.datasets.cache import cache_folder
from transduce.durable.files import atomic_file, ensure_folder, require_folder
from transduce.durable.folder import open_regular, read_regular
from transduce.errors import TransduceError
from transduce.settings.fields import require
from transduce.training.journal import LOG

BLOCK_BYTES = 1 << 20  # bytes read at once; blocks of 8 MiB would take new memory each time
MAX_LINE_BYTES = 1 << 20  # a longer line is no event; training writes about 300 bytes a line
UNREADABLE = b"?"  # is not JSON; replaces a line that is too long


MAX_STEP = 2**53  # larger integers are no longer exact as float64
LARGEST = 1e300  # no log is long enough for a sum of such numbers to be infinite
MARKS = ("resume", "snapshot", "checkpoint", "failure", "finish")
LEAST_NEW_BYTES = 1 << 24  # columns are cached after this many new bytes, parsed in 1/6 second
MAX_FILE_BYTES = 1 << 30  # the columns of 19 million updates
MAX_FILES = 8  # if there are more, the oldest are deleted
CHECKSUM_BYTES = hashlib.sha256().digest_size
CHUNK = 1 << 20
RUN_HINT = "name the folder of a run"
KNOWN = ("validation", *MARKS)
NUMBER = rb"(?:-?\d++(?:\.\d++)?+(?:[eE][-+]?+\d++)?+|null)"
# an update as training/loop.py logs it, with groups for FIELDS in their order; the last group
# matches any other line
PATTERN = (
    rb'^(?:\{"event": "update", "step": (\d++), "loss": NUMBER, "nats": (NUMBER)'
    rb', "gradient_norm": (NUMBER), "learning_rate": (NUMBER), "source_tokens": \d++'
    rb', "target_tokens": (\d++), "seconds": (NUMBER), "applied": (true|false)'
    rb', "at": "[^"\\\n]*+"\}|(.*+))$'
)
VERSION = b"1 " + PATTERN  # raise the number when the same lines give other values
LINE = re.compile(PATTERN.replace(b"NUMBER", NUMBER), re.MULTILINE)
UpdateFields = Sequence[bytes]  # the pattern's groups: FIELDS as JSON, then an empty one


@final
@dataclass(frozen=True)
class Updates:
    """The N updates of a run as columns; NaN where the log has no finite number."""

    step: Float64[np.ndarray, " N"]
    nats: Float64[np.ndarray, " N"]  # loss per target token, without label smoothing
    gradient_norm: Float64[np.ndarray, " N"]
    learning_rate: Float64[np.ndarray, " N"]
    target_tokens: Float64[np.ndarray, " N"]
    seconds: Float64[np.ndarray, " N"]  # duration of training so far, which never decreases
    applied: Float64[np.ndarray, " N"]  # 1, or 0 for an update that was skipped

    def __len__(self) -> int:
        """Return the number of updates."""
        return len(self.step)

    def select(self, kept: Bool[np.ndarray, " N"]) -> "Updates":
        """Return only the updates where `kept` is true."""
        if kept.all():
            return self
        return Updates(*(getattr(self, name)[kept] for name in FIELDS))


FIELDS = tuple(field.name for field in fields(Updates))


@final
@dataclass(frozen=True)
class LogEvent:
    """A log's event other than an update, and how many updates stand before it."""

    position: int
    values: dict[str, Any]


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Return a line's JSON object, or None if it is not one whose "event" is a string.

    A line of more than `MAX_LINE_BYTES` is not parsed.
    """
    if len(line) > MAX_LINE_BYTES:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # not JSON, too many digits, or too deep
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def parse_numbers(column: Sequence[bytes]) -> list[float]:
    """Return a column of JSON values as floats; NaN for a value that is not a number."""
    try:
        return list(map(float, column))
    except ValueError:  # of JSON's values only a number ends in a digit
        return [float(value) if value[-1:].isdigit() else math.nan for value in column]


@final
@dataclass(frozen=True)
class Validation:
    """The loss and the score of the development set at one step, as far as the log has them."""

    step: int
    nats: float | None
    score: float | None
    score_name: str | None


@final
@dataclass(frozen=True)
class RunLog:
    """A run's updates, validations and steps of other events, and counts of what is left out."""

    updates: Updates
    validations: tuple[Validation, ...]
    marks: Mapping[str, tuple[int, ...]]  # the steps of each kind of event, such as "resume"
    lost: int  # updates made void by a later resume at an earlier step
    unreadable: int  # lines that are no event, or one with an impossible step or out of order
    size: int  # bytes of the log up to the end of its last whole line


def build_updates(rows: Sequence[UpdateFields]) -> Updates:
    """Return a training log's updates as columns of numbers, from rows of raw JSON fields."""
    columns = [list(map(itemgetter(i), rows)) for i in range(len(FIELDS))]
    numbers = np.array([parse_numbers(column) for column in columns[:-1]], dtype=float)
    numbers[~np.isfinite(numbers)] = np.nan
    applied = np.array([value != b"false" for value in columns[-1]], dtype=float)
    return Updates(*[*np.clip(numbers, -LARGEST, LARGEST), applied])


@final
@dataclass(frozen=True)
class LogPart:
    """All updates and events in a part of a log, even those that a later resume made void."""

    updates: Updates
    events: tuple[LogEvent, ...]
    unreadable: int
    size: int  # bytes up to the end of the last whole line
    tail: bytes = b""  # a last line without a newline: cut by a crash, or not wholly written yet
    crc: int | None = None  # the CRC-32 of the log up to `size`; None if some bytes were not read


def read_log_part(path: Path, begin: int = 0, crc: int = 0) -> LogPart:
    """Read a log from byte `begin`, a line's start; an unfinished last line becomes the tail.

    `crc` is the CRC-32 of the bytes before `begin`; a sha256 would take twice as long.
    """
    parts, tail, end = [empty_part(begin)], b"", begin
    with open_regular(path) as stream:
        stream.seek(begin)
        for lines, size in read_line_blocks(stream):
            if lines.endswith(b"\n"):
                parts.append(parse_lines(lines, size))
                crc, end = zlib.crc32(lines, crc), end + len(lines)
            else:
                tail = lines
    part = join_parts(parts)
    is_whole = end == part.size  # false if a hole or an endless line was passed over
    return replace(part, tail=tail, crc=crc if is_whole else None)


def empty_part(size: int = 0) -> LogPart:
    """Return a log part that has no lines and ends at byte `size`."""
    return LogPart(build_updates([]), (), 0, size)


def parse_lines(lines: bytes, end: int) -> LogPart:
    """Parse whole lines of a log into a part; `end` is the byte at which the last line ends."""
    updates, events, unreadable = list[UpdateFields](), list[LogEvent](), 0
    for found in LINE.findall(lines):
        if found[0]:
            updates.append(found)
        elif line := found[-1].strip():
            event = parse_event(line)
            if event is None:
                unreadable += 1
            elif event["event"] == "update":
                given = [json.dumps(event.get(name)).encode() for name in FIELDS]
                updates.append([*given, b""])
            else:
                events.append(LogEvent(len(updates), event))
    return LogPart(build_updates(updates), tuple(events), unreadable, end)


def join_parts(parts: Sequence[LogPart]) -> LogPart:
    """Join consecutive parts of a log into one part."""
    begins = accumulate((len(part.updates) for part in parts), initial=0)
    events = (
        LogEvent(event.position + begin, event.values)
        for begin, part in zip(begins, parts, strict=False)
        for event in part.events
    )
    columns = ([getattr(part.updates, name) for part in parts] for name in FIELDS)
    updates = Updates(*map(np.concatenate, columns))
    unreadable = sum(part.unreadable for part in parts)
    last = parts[-1]
    return LogPart(updates, tuple(events), unreadable, last.size, last.tail, last.crc)


def read_cached_log(path: Path) -> LogPart:
    """Read a whole log, but parse only lines that its cache lacks.

    The cache is renewed if it lacks many. Its errors are ignored.
    """
    known = load_part(path)
    part = join_parts([known, read_log_part(path, known.size, known.crc or 0)])
    if part.crc is not None and part.size - known.size >= LEAST_NEW_BYTES:
        with suppress(TransduceError, OSError, RecursionError):
            store_part(path, part)
    return part


def load_part(path: Path) -> LogPart:
    """Return the cached part of a log if it is still valid, else an empty part."""
    with suppress(TransduceError, OSError):
        cached = cache_path(path)
        if cached.exists():
            known = decode_part(read_regular(cached, MAX_FILE_BYTES))
            if known.crc == compute_crc(path, known.size):
                return known
    return empty_part()


def cache_path(path: Path) -> Path:
    """Return the cache file of a log's columns; its name is a hash of the log's absolute path."""
    name = hashlib.sha256(os.fsencode(path.parent.resolve() / path.name)).hexdigest()
    return cache_folder() / "columns" / name[:32]


def compute_crc(path: Path, size: int) -> int | None:
    """Return the CRC-32 of the first `size` bytes of a log; None if it has fewer."""
    crc, left, buffer = 0, size, memoryview(bytearray(CHUNK))
    with open_regular(path) as stream:
        while count := stream.readinto(buffer[: min(CHUNK, left)]):
            crc, left = zlib.crc32(buffer[:count], crc), left - count
    return None if left else crc


def store_part(path: Path, part: LogPart) -> None:
    """Write a part of the log `path` to the cache, and delete the oldest cache files beyond eight.

    A part that needs more than 1 GiB is not written.
    """
    cached = cache_path(path)
    ensure_folder(cached.parent.parent)
    cached.parent.mkdir(mode=0o700, exist_ok=True)
    events = [[event.position, event.values] for event in part.events]
    about = {"size": part.size, "crc": part.crc, "unreadable": part.unreadable, "events": events}
    columns = [getattr(part.updates, name).astype("<f8", copy=False) for name in FIELDS]
    line = json.dumps(about).encode()
    line += b" " * (-len(line) - 1 & 7) + b"\n"  # the columns begin at a multiple of eight bytes
    pieces: list[bytes | memoryview] = [line, *(memoryview(one).cast("B") for one in columns)]
    if CHECKSUM_BYTES + sum(map(len, pieces)) > MAX_FILE_BYTES:
        return
    with atomic_file(cached) as stream:
        stream.write(checksum(pieces))
        for piece in pieces:
            stream.write(piece)
    for old in sorted(cached.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-MAX_FILES]:
        old.unlink()


def decode_part(content: bytes) -> LogPart:
    """Return the training-log part in a cache file; an empty part if the checksum is wrong."""
    if content[:CHECKSUM_BYTES] != checksum([memoryview(content)[CHECKSUM_BYTES:]]):
        return empty_part()
    end = content.index(b"\n", CHECKSUM_BYTES)
    about: dict[str, Any] = json.loads(content[CHECKSUM_BYTES:end])
    columns = np.frombuffer(memoryview(content)[end + 1 :], "<f8").reshape(len(FIELDS), -1)
    events = tuple(LogEvent(position, values) for position, values in about["events"])
    sizes = about["unreadable"], about["size"]
    return LogPart(Updates(*columns), events, *sizes, crc=about["crc"])


def checksum(pieces: Iterable[bytes | memoryview]) -> bytes:
    """Return the sha256 of `VERSION` followed by the pieces of a cached file's content."""
    digest = hashlib.sha256(VERSION)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def read_run_log(run: Path) -> RunLog:
    """Read a run's log without lines that a resume made void; InputError if there is no log."""
    require_folder(run, RUN_HINT)
    require(not is_missing(run / LOG), f"{run}: no {LOG} lies there", RUN_HINT)
    return resolve_resumes(read_cached_log(run / LOG))


def is_missing(path: Path) -> bool:
    """Return whether a path does not exist; False if its folder may not be searched."""
    try:
        path.lstat()
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False


def resolve_resumes(part: LogPart) -> RunLog:
    """Return a log without the lines that a later resume at an earlier step made void.

    Updates with an impossible step, or a step not above the previous one, count as unreadable.
    """
    if part.tail:
        part = join_parts([part, parse_lines(part.tail, part.size)])
    events = [event for event in part.events if event.values["event"] in KNOWN]
    known = [
        event
        for event in events
        if type(step := event.values.get("step")) is int and 0 <= step <= MAX_STEP
    ]
    steps = part.updates.step
    possible = (steps >= 1) & (steps <= MAX_STEP) & (steps == np.floor(steps))
    counting = possible & (steps <= find_lowest_resume_steps(known, len(part.updates)))
    updates = part.updates.select(counting)
    highest = np.maximum.accumulate(np.concatenate([[0.0], updates.step]))[:-1]
    updates = updates.select(updates.step > highest)  # only rising steps
    lost = int((possible & ~counting).sum())
    misplaced = len(part.updates) - lost - len(updates)
    kept = select_valid(known)
    return RunLog(
        updates=replace(updates, seconds=np.fmax.accumulate(np.fmax(updates.seconds, 0.0))),
        validations=tuple(read_validation(one) for one in kept if one["event"] == "validation"),
        marks={kind: tuple(e["step"] for e in kept if e["event"] == kind) for kind in MARKS},
        lost=lost,
        unreadable=part.unreadable + misplaced + len(events) - len(known),
        size=part.size,
    )


def find_lowest_resume_steps(events: Sequence[LogEvent], count: int) -> Float64[np.ndarray, " N"]:
    """Return for each update the lowest step among the resumes after it; infinity if none."""
    resumes = [event for event in events if event.values["event"] == "resume"]
    positions = np.array([event.position for event in resumes], dtype=int)
    steps = np.array([*(event.values["step"] for event in resumes), np.inf], dtype=float)
    lowest = np.minimum.accumulate(steps[::-1])[::-1]
    return lowest[np.searchsorted(positions, np.arange(count), side="right")]


def select_valid(events: Sequence[LogEvent]) -> list[dict[str, Any]]:
    """Return the events in order, without those that a later resume at a lower step made void."""
    kept, lowest = list[dict[str, Any]](), MAX_STEP
    for event in reversed(events):
        step = event.values["step"]
        if step <= lowest:
            kept.append(event.values)
        if event.values["event"] == "resume":
            lowest = min(lowest, step)
    return kept[::-1]


def read_validation(event: dict[str, Any]) -> Validation:
    """Return a log's event as a validation; values that are not finite numbers become None."""
    score = event.get("score")
    score = score if isinstance(score, dict) else {}
    name = score.get("name")
    return Validation(
        step=event["step"],
        nats=finite_number(event.get("nats")),
        score=finite_number(score.get("value")),
        score_name=name if isinstance(name, str) else None,
    )


def finite_number(value: object) -> float | None:
    """Return a JSON value as a float, or None if it is not a number up to ±1e300."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= LARGEST else None


# --- Lines of an untrusted file -------------------------------------------------------------------


def skip_hole(stream: BufferedReader) -> int:
    """Seek past a sparse file's hole at the stream's position; return how many bytes it skips."""
    at, file = stream.tell(), stream.fileno()
    ahead = os.lseek(file, 0, os.SEEK_CUR)  # the stream has buffered more than it returned
    try:
        data = os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:  # ENXIO: only a hole is left; else the file system knows no holes
        data = os.fstat(file).st_size if error.errno == errno.ENXIO else at
    os.lseek(file, ahead, os.SEEK_SET)
    stream.seek(data)
    return data - at


def read_line_blocks(stream: BufferedReader) -> Iterator[tuple[bytes, int]]:
    """Yield (lines, file offset where the last whole line ends) from the stream's position on.

    Lines that are appended after the call are not read. A line over `MAX_LINE_BYTES` becomes a line
    that is no JSON. A last line without a newline is a block of its own.
    """
    end, rest = stream.tell(), b""
    left = os.fstat(stream.fileno()).st_size - end
    while left > 0:
        if hole := skip_hole(stream):  # such as a terabyte of zeros that takes no space on the disk
            left, rest = left - hole, UNREADABLE
        if not (block := stream.read(max(0, min(BLOCK_BYTES, left)))):
            break
        left -= len(block)
        lines, newline, tail = (rest + block).rpartition(b"\n")
        if newline:
            end = stream.tell() - len(tail)
            yield lines + newline, end
        rest = UNREADABLE if len(tail) > MAX_LINE_BYTES else tail
    if rest:
        yield rest, end
