"""Anonymous memory of `prepare` and `train` by size of the corpus."""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import words
from benchmarks.figures import table
from benchmarks.options import Options

NAMES = ("prepare", "train")
SETTINGS = {
    "data.vocabulary_size": 1_000,
    "data.source_tokens": 1_024,
    "data.target_tokens": 1_024,
    "training.steps": 5,
    "training.micro_batch_tokens": 2_048,
    "training.threads": 1,
}


def measure(options: Options) -> dict[str, Any]:
    """Prepare corpora of each size and train on them for a few updates."""
    sizes = (1_000, 2_000) if options.quick else options.pairs
    return {str(pairs): measure_corpus(pairs) for pairs in sizes}


def measure_corpus(pairs: int) -> dict[str, Any]:
    """Measure the peak memory of both commands on a corpus."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        text, store, run = folder / "pairs.tsv", folder / "store", folder / "run"
        with text.open("w", encoding="utf-8") as file:
            sides = zip(words.lines(pairs, 1), words.lines(pairs, 2), strict=True)
            file.writelines(f"{source}\t{target}\n" for source, target in sides)
        changes = [f"--set={path}={value}" for path, value in SETTINGS.items()]
        prepare = ["prepare", "tiny", "--pairs", str(text), "--output", str(store), *changes]
        train = ["train", "tiny", "--store", str(store), "--output", str(run), *changes]
        return {"prepare": measure_memory(prepare), "train": measure_memory(train)}


def measure_memory(command: list[str]) -> dict[str, float]:
    """Run a command; return its seconds and peak anonymous bytes, with its children's."""
    began, most = time.perf_counter(), 0
    process = subprocess.Popen([sys.executable, "-m", "transduce", *command, "--quiet"])
    while process.poll() is None:
        most = max(most, sum(map(read_anonymous_bytes, list_process_tree(process.pid))))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"transduce {command[0]} ended with {process.returncode}")
    return {"seconds": time.perf_counter() - began, "bytes": most}


def list_process_tree(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
        except OSError:  # it has just ended
            continue
        children.setdefault(int(fields.split()[1]), []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def read_anonymous_bytes(pid: int) -> int:
    """Return the anonymous bytes of a process."""
    try:
        lines = Path("/proc", str(pid), "status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    body: list[list[str]] = []
    before: dict[str, float] = {}
    for pairs, commands in found.items():
        cells = [format_cell(commands[name]) for name in NAMES]
        more = int(pairs) - int(before.get("pairs", 0))
        cells += [
            f"{(commands[name]['bytes'] - before[name]) / more:,.0f}" if before else ""
            for name in NAMES
        ]
        body.append([f"{int(pairs):,}", *cells])
        before = {"pairs": int(pairs), **{name: commands[name]["bytes"] for name in NAMES}}
    return [
        "The most that a command and its children held, libraries and model among it; words that "
        "are made, ever new ones among them; the model is tiny and takes 5 updates. Learning the "
        "vocabulary looks at 20 million characters at most: from the second row on it has all.",
        "",
        *table(["pairs", *NAMES, *(f"{name}, bytes for one more pair" for name in NAMES)], body),
    ]


def format_cell(found: dict[str, float]) -> str:
    """Format bytes and seconds of one command."""
    return f"{found['bytes'] / 1e6:,.0f} MB in {found['seconds']:,.0f} s"
