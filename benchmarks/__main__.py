"""Measure, keep the figures in results/, and make docs/records/speed.md and its pages of them."""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks import (
    memory,
    peers,
    plan,
    search,
    startup,
    summary,
    training,
    vocabulary,
    windowed,
)
from benchmarks.machine import machine, slug
from benchmarks.options import Options
from benchmarks.page import Part, page

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
SUMMARY = ROOT / "docs/records/speed.md"
PAGES = ROOT / "docs/records/speed"  # one for each kind of machine

Measure = Callable[[Options], dict[str, Any]]
PARTS: Mapping[str, tuple[Measure, Part]] = MappingProxyType(
    {
        "training": (training.measure, Part("Training", training.page)),
        "kernels": (training.measure_kernels, Part("Ways to attend", training.page_kernels)),
        "windowed": (windowed.measure, Part("Restricted attention", windowed.page)),
        "search": (search.measure, Part("Search", search.page)),
        "model": (search.measure_model, Part("Search with a trained model", search.page_model)),
        "vocabulary": (vocabulary.measure, Part("Vocabulary", vocabulary.page)),
        "plan": (plan.measure, Part("Plan", plan.page)),
        "startup": (startup.measure, Part("Start", startup.page)),
        "memory": (memory.measure, Part("Memory and the size of a corpus", memory.page)),
    }
)


def main(words: Sequence[str]) -> None:
    """Measure the named parts one by one, and write the results after each."""
    asked = arguments(words)
    results = RESULTS / f"{time.strftime('%Y-%m-%d')}-{slug()}.json"
    if asked.quick:
        results = Path(tempfile.mkdtemp(), "quick.json")
    if asked.page:
        results = asked.page
    options = Options(
        rounds=1 if asked.quick else asked.rounds,
        quick=asked.quick,
        threads=asked.threads,
        text=asked.text,
        model=asked.model,
        pairs=tuple(asked.pairs),
        no_peers="" if asked.page else peers.install_peers(),
    )
    found = read_earlier_results(results)
    for name in [] if asked.page else asked.parts or [one for one in PARTS if one != "model"]:
        print(f"{name} …", file=sys.stderr)
        found["machine"] = machine()
        found["parts"][name] = measure_part(PARTS[name][0], options, words)
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    made = page(found, {name: part for name, (_, part) in PARTS.items()})
    if asked.quick:
        print(made)
    else:
        page_path(results).write_text(made, encoding="utf-8")
        SUMMARY.write_text(
            summary.page(read_newest_results(), read_gpu_results()), encoding="utf-8"
        )


def page_path(results: Path) -> Path:
    """Return the path of a machine's page, from that of its results, DAY-MACHINE.json."""
    return PAGES / f"{results.stem[len('2026-01-01-') :]}.md"


def read_newest_results() -> dict[Path, dict[str, Any]]:
    """Read the newest results of every machine, by the page that shows them."""
    days = {page_path(one): one for one in sorted(RESULTS.glob("20*.json"))}
    return {
        at.relative_to(SUMMARY.parent): json.loads(one.read_text(encoding="utf-8"))
        for at, one in sorted(days.items())
    }


def read_earlier_results(results: Path) -> dict[str, Any]:
    """Read these results, or else those of the last day on this machine."""
    days = sorted(results.parent.glob(f"20*-{slug()}.json"))
    newest = results if results.exists() else days[-1] if days else None
    return json.loads(newest.read_text(encoding="utf-8")) if newest else {"parts": {}}


def read_gpu_results() -> dict[str, Any] | None:
    """Read the last results of `benchmarks/gpu`, if there are any."""
    files = sorted(RESULTS.glob("gpu-*.json"))
    return json.loads(files[-1].read_text(encoding="utf-8")) if files else None


def measure_part(measure: Measure, options: Options, words: Sequence[str]) -> dict[str, Any]:
    """Measure a part; return its figures with command, time, load and threads."""
    load, began = os.getloadavg()[0], time.perf_counter()
    figures = measure(options)
    return {
        # where this machine keeps a model or a text says nothing
        "command": shlex.join(["benchmarks/run", *(Path(word).name for word in words)]),
        "at": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "seconds": round(time.perf_counter() - began),
        "load before": round(load, 1),
        "rounds": options.rounds,
        "threads": options.threads,
        "figures": figures,
    }


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    add = parser.add_argument
    add(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}; if none is named, all but model",
    )
    add("--rounds", type=int, default=5, help="how often every variant has its turn (5)")
    add("--threads", type=int, default=os.cpu_count(), help="of every variant (all cores)")
    add("--text", type=Path, help="lines for the vocabulary, or for the part model to translate")
    add("--model", type=Path, help="the part model: a folder of `transduce average`")
    add(
        "--pairs",
        type=int,
        nargs="+",
        default=[100_000, 300_000, 1_000_000],
        help="the corpora of the part memory",
    )
    add("--quick", action="store_true", help="see whether it runs; the figures mean nothing")
    add("--page", type=Path, metavar="RESULTS", help="only make the page anew, of these results")
    asked = parser.parse_args(words)
    unknown = set(asked.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    if "model" in asked.parts and not (asked.model and asked.text):
        parser.error("the part model wants --model FOLDER and --text FILE")
    return asked


if __name__ == "__main__":
    main(sys.argv[1:])
