"""The search for the outputs of every input line, shared by `translate`, `parse` and `tag`."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar, final

from transduce.cli import display
from transduce.cli.file_path import FilePath
from transduce.cli.processes import Processes
from transduce.cli.searching import TranslatorChoice, WarningPrinter, load_in_worker

if TYPE_CHECKING:
    from transduce.inference.outputs import Output

FILE = FilePath(path_type=Path, allow_dash=True)
Found = TypeVar("Found")  # what is found for a line, such as its outputs
# The end of a line that is not tokenised. It begins where a word does: in a run of letters every
# other beginning would fail, too, after a search to the end of the run.
RAW_END = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}+[.?!]\s*$")


@final
@dataclass(frozen=True)
class SearchInput:
    """The lines to translate, the beginnings forced on their outputs, and how to count the lines.

    If the input is interactive, each line's outputs are found before the next line is read.
    """

    lines: Iterable[str]
    prefixes: Iterable[str] | None
    count_lines: Callable[[int], int]
    interactive: bool = False


def search_lines(
    models: TranslatorChoice, text: SearchInput, processes: Processes, on_warning: WarningPrinter
) -> "Iterator[list[Output]]":
    """Yield the outputs of every line of an input in order, from one process or from several."""
    from transduce.inference.blocks import report_warnings, translate_in_workers
    from transduce.inference.lines import number_lines
    from transduce.inference.translator import BLOCK
    from transduce.machine.process_settings import keep_freed_memory, use_threads

    workers = 1 if text.interactive else processes.choose(text.count_lines, models)
    if workers > 1:
        lines, load = number_lines(text.lines, text.prefixes), partial(load_in_worker, models)
        results = translate_in_workers(load, lines, models.nbest, workers)
        return report_warnings(results, on_warning)
    keep_freed_memory()
    use_threads(processes.threads)
    translator = replace(models.load(), on_warning=on_warning)
    block = 1 if text.interactive else BLOCK
    return translator.nbest_lines(text.lines, models.nbest, block=block, prefixes=text.prefixes)


def suggest_tokenise(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines unchanged; print a note about the first one whose full stop ends a word."""
    is_told = False
    for number, line in enumerate(lines, start=1):
        if not is_told and (raw := RAW_END.search(line)):
            display.print_note(
                f"note: line {number} ends in {raw[0]!r}, and words are separated by blanks; "
                "--tokenise splits raw text"
            )
            is_told = True
        yield line


def show_line_count(
    outputs: Iterator[Found], *, live: bool, verb: str = "translate"
) -> Iterator[Found]:
    """Yield outputs unchanged, and show on a terminal how many lines are done."""
    console = display.build_console()
    if not live or not console.is_terminal:
        yield from outputs
        return
    with console.status(f"{verb}: reading") as status:
        for number, best in enumerate(outputs, start=1):
            status.update(f"{verb}: {number:,} lines")
            yield best


def format_outputs(number: int, outputs: "list[Output]", *, nbest: int, as_json: bool) -> str:
    """Format one input line's outputs as text, as tab-separated columns, or as JSON lines."""
    if as_json:
        best = [one.as_json() for one in outputs]
        return json.dumps({"line": number, "outputs": best}, ensure_ascii=False) + "\n"
    texts = [format_output(one) for one in outputs]
    if nbest == 1:
        return texts[0] + "\n"
    return "".join(
        f"{number}\t{one.score:.4f}\t{one.log_prob:.4f}\t{text}\n"
        for one, text in zip(outputs, texts, strict=True)
    )


def format_output(output: "Output") -> str:
    """Return the text of an output and, if it has one, its alignment after " ||| "."""
    return output.text if output.alignment is None else f"{output.text} ||| {output.alignment}"


@contextmanager
def open_output(output: Path | None) -> Iterator[IO[str]]:
    """Open the output for a with block: standard output, or a file that is written atomically."""
    import io

    from transduce.durable import atomic_file, resolve_output

    if output is None or str(output) == "-":
        yield sys.stdout
        return
    with atomic_file(resolve_output(output)) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()
