"""Scores or aligns the line pairs of two files, in one process or in several."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.cli.processes import Processes, count_file_lines
from transduce.cli.searching import TranslatorChoice, WarningPrinter, load_in_worker

if TYPE_CHECKING:
    from transduce.inference.blocks import PairMethod
    from transduce.inference.outputs import Output


def run_on_files(
    choice: TranslatorChoice,
    method: "PairMethod",
    files: tuple[Path, Path],
    processes: Processes,
    on_warning: WarningPrinter,
) -> "Iterator[Output]":
    """Yield the `Output` of `method`, score or align, for each line of a source and a target file.

    Worker processes share the lines if `processes` chooses more than one.
    """
    from transduce.inference.blocks import report_warnings, run_pairs_in_workers
    from transduce.inference.pairs import number_pairs
    from transduce.machine.process_settings import keep_freed_memory, use_threads
    from transduce.text.files import read_pairs

    pairs, load = read_pairs(*files), partial(load_in_worker, choice)
    workers = processes.choose(partial(count_file_lines, files[0]), choice)
    if workers > 1:
        results = run_pairs_in_workers(load, method, number_pairs(pairs), workers)
        return (output for (output,) in report_warnings(results, on_warning))
    keep_freed_memory()
    use_threads(processes.threads)
    return replace(choice.load(), on_warning=on_warning).run_on_pairs(method, pairs)
