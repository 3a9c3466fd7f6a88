"""The task that converts pictures or sounds to text, and text, pictures or sounds to pictures.

A corpus file has two columns. A path in a column, relative to the file, stands for a picture or a
sound. A signal is a list of samples. A sample is one of the 256 bytes of a byte-pair vocabulary.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, final

from transduce.errors import InputError
from transduce.settings import Data
from transduce.settings.data import ModelDescription
from transduce.settings.fields import require
from transduce.tasks.task import Task, TaskKind
from transduce.text.clean import normalise
from transduce.text.files import display_name, read_pairs_tsv, read_short_lines
from transduce.text.signals import SUFFIXES, Signal, read_signal_line
from transduce.vocabulary import BEGIN, BYTES, END, Vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

FIRST = BEGIN + 1  # the id of the byte 0


@final
@dataclass(frozen=True)
class SignalTask(Task):
    """The task of converting from pictures or sounds, or to pictures, scored by exact match."""

    rows: tuple[int, int]  # row sizes (samples a row or a second) of source and target; 0 for text

    metrics: ClassVar[tuple[str, ...]] = ("exact-match",)

    def normalise(self, line: str) -> str:
        """Normalise a line; replace the path of a picture or sound by its signal in text form."""
        return normalise_signal(line)

    def encode_sources(self, lines: Iterable[str]) -> list[list[int]]:
        """Return ids, END last, of signals with row size `rows[0]`, or of texts if that is 0.

        InputError for any other line.
        """
        return encode_lines(self.source, lines, self.rows[0], "data.source_row")

    def encode_targets(self, lines: Sequence[str]) -> list[list[int]]:
        """Return ids, END last, of signals with row size `rows[1]`, or of texts if that is 0.

        InputError for any other line.
        """
        return encode_lines(self.target, lines, self.rows[1], "data.target_row")

    def decode(self, ids: Sequence[int], line: str = "") -> str:  # noqa: ARG002 - ids suffice
        """Convert ids to text or, if targets are pictures, to a line of text that holds a picture.

        A partial last row is filled with 0 or cut off.
        """
        if not self.rows[1]:
            return normalise(self.target.decode(list(ids)))
        samples, row = bytes(one - FIRST for one in ids if is_sample(one)), self.rows[1]
        size = row * max(1, round(len(samples) / row))
        return Signal("picture", row, samples.ljust(size, b"\0")[:size]).to_line()

    def find_fault(self, ids: Sequence[int], line: str) -> str:  # noqa: ARG002
        """Return what `decode` repairs in a picture as a phrase; "" for a whole one or a text."""
        row = self.rows[1]
        is_whole = not row or (ids and len(ids) % row == 0 and all(map(is_sample, ids)))
        return "" if is_whole else f"{len(ids):,} symbols for rows of {row}, repaired"

    def parse_output(self, output: str) -> Any:  # noqa: ANN401 - a str or an array
        """Return an output line as text, or as an array of grey levels if it holds a picture."""
        signal = Signal.from_line(output)
        return output if signal is None else signal.to_pixels()

    def describe(self, data: Data) -> ModelDescription:  # noqa: ARG002 - signals have no language
        """Return this model's title, purpose, example files and hub tag for its model card."""
        names = [f"signals ({row:,} samples a row)" if row else "text" for row in self.rows]
        return ModelDescription(
            pipeline_tag="other",
            title=" to ".join(names),
            purpose=f"transduces {' to '.join(names)}",
            files=("files.txt", "pictures" if self.rows[1] else "output.txt"),
        )


def is_sample(symbol_id: int) -> bool:
    """Return whether an id stands for a byte, which is a sample."""
    return FIRST <= symbol_id < FIRST + BYTES


def encode_lines(
    vocabulary: Vocabulary, lines: Iterable[str], row: int, setting: str
) -> list[list[int]]:
    """Return ids, END last, of signals with row size `row`, or of texts if `row` is 0.

    InputError for any other line; it names `setting`, which `row` comes from.
    """
    lines = list(lines)
    signals = [require_row(line, row, setting) for line in lines]
    if not row:
        return [[*ids, END] for ids in vocabulary.encode_batch(lines)]
    return [[*(FIRST + one for one in signal.samples), END] for signal in signals if signal]


def require_row(line: str, row: int, setting: str) -> Signal | None:
    """Return a line's signal, None for text (row 0); InputError if its row size is not `row`."""
    signal = Signal.from_line(line)
    fact = f"{signal or 'a line of text'} where {setting} is {row}"
    hint = "0 is for text; other numbers are pixels a row, or samples a second"
    require((signal.row if signal else 0) == row, fact, hint)
    return signal


def normalise_signal(line: str) -> str:
    """Return a signal's line unchanged; normalise any other, and replace a path by its signal."""
    return line if Signal.from_line(line) else read_signal_line(normalise(line), Path())


def read_signal_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (source, target) of each line; paths of pictures and sounds become their signals.

    Raise InputError for a line without a signal or unlike line 1, and for a sound as target.
    """
    first: tuple[str, ...] = ()
    for number, pair in enumerate(read_pairs_tsv(path), start=1):
        source, target = (read_side(side, path, number) for side in pair)
        forms = tuple(str(Signal.from_line(side) or "text") for side in (source, target))
        first = first or forms
        if set(forms) == {"text"}:
            fact = "neither side is a picture or a sound"
            hint = f"paths end in {', '.join(SUFFIXES)}; everything else is text"
            raise InputError(fact, hint, file=path, line=number)
        fact = f"{' to '.join(forms)}, and line 1 is {' to '.join(first)}"
        if forms != first:
            raise InputError(fact, "one list has signals of one size", file=path, line=number)
        made = Signal.from_line(target)
        if made is not None and made.kind != "picture":
            fact = "the target is a sound, and models write text or pictures"
            raise InputError(fact, "exchange the columns", file=path, line=number)
        yield source, target


def read_signal_sources(path: Path, row: int) -> Iterator[str]:
    """Yield each line, a path replaced by its signal; InputError if its row size is not `row`."""
    for number, line in enumerate(read_short_lines(path), start=1):
        yield read_side(line, path, number, row)


def read_side(side: str, path: Path, number: int, row: int | None = None) -> str:
    """Return `side` stripped, or its file's signal; if `row` is given, refuse other row sizes.

    An InputError names `path` and line `number`.
    """
    try:
        found = read_signal_line(side.strip(), path.parent)
        if found and row is not None:
            require_row(found, row, "data.source_row")
    except InputError as error:
        raise InputError(error.fact, error.hint, file=display_name(path), line=number) from error
    return found


def infer_sizes(pairs: Iterable[tuple[str, str]]) -> Mapping[str, int]:
    """Return {"data.source_row": 28, …}, settings that fit the row sizes and longest signals.

    An update has room for four of the longest signals.
    """
    rows, longest = [0, 0], [0, 0]
    for pair in pairs:
        for side, line in enumerate(pair):
            if signal := Signal.from_line(line):
                rows[side] = signal.row
                longest[side] = max(longest[side], len(signal.samples))
    most = max(256, *(one + 1 for one in longest))
    return {
        "data.source_row": rows[0],
        "data.target_row": rows[1],
        "data.max_length": most,
        **dict.fromkeys(("data.source_tokens", "data.target_tokens"), 4 * most),
        "search.extra_length": max(50, longest[1]),
    }


def build_signal_task(data: Data, vocabularies: Vocabularies) -> SignalTask:
    """Build the task of signals from vocabularies, `data.source_row` and `data.target_row`.

    InputError unless `data.vocabulary` is "byte-pair".
    """
    fact = f"data.vocabulary is {data.vocabulary}, and signals are bytes of byte-pair vocabularies"
    require(data.vocabulary == "byte-pair", fact, "--set data.vocabulary=byte-pair")
    rows = (data.source_row, data.target_row)
    return SignalTask(vocabularies.source, vocabularies.target, rows)


SIGNAL = TaskKind(
    build=build_signal_task,
    read_file=read_signal_pairs,
    read_test_file=read_signal_pairs,
    test_file="a path or a text, a tab, and what it becomes on each line",
    options="--signals FILE",
    normalise=normalise_signal,
    source_text=lambda line: " " if Signal.from_line(line) else line,
    infer_settings=infer_sizes,
    has_languages=False,
)
KINDS = {"signal": SIGNAL}
