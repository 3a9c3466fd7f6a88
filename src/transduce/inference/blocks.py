"""Translate blocks of lines in worker processes, in order, and pass on warnings about lines."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal

from transduce.equip import equip_for_long_searches
from transduce.inference.lines import Line, split_into_blocks
from transduce.inference.long_lines import OnWarning
from transduce.inference.outputs import BlockResult, Output
from transduce.inference.pairs import Pair
from transduce.inference.worker_processes import run_in_workers
from transduce.machine.process_settings import keep_freed_memory, use_threads
from transduce.settings import Search

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

PairMethod = Literal["score_block", "align_block"]  # what a translator does with a block of pairs
WORKER_BLOCK = 250  # lines per request to a worker: few enough that all workers get requests


def translate_in_workers(
    load: "Callable[[], Translator]", lines: Iterable[Line], n: int, workers: int
) -> Generator[BlockResult, None, None]:
    """Translate lines block by block, in order, in `workers` processes that each call `load`."""
    blocks = split_into_blocks(lines, WORKER_BLOCK)
    return run_in_workers(load, (methodcaller("translate_block", b, n) for b in blocks), workers)


def run_pairs_in_workers(
    load: "Callable[[], Translator]", method: PairMethod, pairs: Iterable[Pair], workers: int
) -> Generator[BlockResult, None, None]:
    """Score or align pairs block by block, in order, in `workers` processes that call `load`."""
    blocks = split_into_blocks(pairs, WORKER_BLOCK)
    return run_in_workers(load, (methodcaller(method, b) for b in blocks), workers)


def report_warnings(
    results: Generator[BlockResult, None, None], on_warning: OnWarning
) -> Generator[list[Output], None, None]:
    """Yield every line's outputs; call `on_warning` with a block's warnings before its first line.

    Closing this generator closes `results`, which ends the worker processes.
    """
    with closing(results):
        for result in results:
            for warning in result.warnings:
                on_warning(warning)
            yield from result.outputs


def reload_in_worker(
    reload: "Callable[[], Translator]", search: Search, changes: Mapping[str, Any]
) -> "Translator":
    """Load a translator with these settings in a worker process that uses one thread."""
    keep_freed_memory()
    use_threads(1)
    found = reload()
    equip_for_long_searches(found.models)
    return replace(found, recipe=replace(found.recipe, search=search), **changes)
