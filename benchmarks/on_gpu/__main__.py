"""Measure on a GPU in at most nine minutes and keep the figures."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import machine
from benchmarks.on_gpu.page import HEAD, section

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/records/speed.md"
MOST = 9 * 60  # seconds of all parts together
SECONDS = {  # of a part, at most; what compiles comes first and leaves its work to the next
    "agreement": 60,
    "products": 30,
    "update": 80,
    "big": 60,
    "search": 50,
    "ctranslate2": 40,
    "peers": 90,
    "attention": 60,
    "loss": 30,
}
WITH_TEXT = {"reading": 150}  # parts that need --text, as much time each alone
PACKAGES = {"peers": "transformers", "ctranslate2": "ctranslate2"}  # that a part measures
TITLES = {
    "agreement": "Whether results agree",
    "products": "What the card can do",
    "update": "A whole update of base",
    "big": "A whole update of big",
    "search": "Search, beam 4",
    "ctranslate2": "CTranslate2, beam 4",
    "peers": "Hugging Face Marian",
    "attention": "Ways to attend",
    "loss": "The loss",
    "reading": "A trained model translates a text, beam 4",
}


def main(words: Sequence[str]) -> int:
    """Part by part; what is measured is kept at once."""
    asked = arguments(words)
    if asked.page:
        return written(asked.page)
    if not (asked.rehearse or torch.cuda.is_available()):
        print(
            f"no GPU is here (torch {torch.__version__} finds no CUDA device); --rehearse runs "
            "tiny shapes on the processor",
            file=sys.stderr,
        )
        return 2
    began = time.monotonic()
    found: dict[str, Any] = {
        "command": shlex.join(["benchmarks/gpu", *words]),
        "at": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "rehearsal": asked.rehearse,
        "machine": card() | machine() | installed_version("transformers"),
        "ceiling": 0.0,
        "parts": {},
    }
    file = results_path(asked, found["machine"].get("GPU", "none"))
    for part in asked.parts or (WITH_TEXT if asked.text else SECONDS):
        left = MOST - 10 - (time.monotonic() - began)
        most = min((SECONDS | WITH_TEXT)[part], left)
        most = MOST if asked.rehearse else most  # a processor may be busy
        package = PACKAGES.get(part)
        is_absent = package is not None and not installed_version(package)
        measured = left_out(package) if is_absent else part_of(part, most, asked)
        found["parts"][TITLES[part]] = measured
        found["ceiling"] = found["ceiling"] or ceiling(measured["cases"])
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(section(found)))
    print(f"kept as {file}", file=sys.stderr)
    return 0 if asked.rehearse or asked.output else written(file)


def written(file: Path) -> int:
    """The section of the page about speed, made anew of these figures."""
    found = json.loads(file.read_text(encoding="utf-8"))
    before = PAGE.read_text(encoding="utf-8").split(HEAD)[0]
    PAGE.write_text(before + "\n".join(section(found)), encoding="utf-8")
    return 0


def part_of(part: str, seconds: float, asked: argparse.Namespace) -> dict[str, Any]:
    """The cases of a part, as many as there was time for, in a process of its own."""
    scale = "rehearsal" if asked.rehearse else "full"
    words = [part, scale, str(asked.seconds), *asked.text]
    worker = [sys.executable, "-m", "benchmarks.on_gpu.worker", *words]
    environment = os.environ | ({"TORCH_COMPILE_DISABLE": "1"} if asked.rehearse else {})
    began = time.monotonic()
    ended = ""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        try:
            code = subprocess.run(
                worker,
                cwd=ROOT,
                env=environment,
                stdout=lines,
                timeout=max(1, seconds),
                check=False,
            ).returncode
            ended = f"ended with {code}" if code else ""
        except subprocess.TimeoutExpired:
            ended = f"was stopped after {seconds:.0f} s"
        lines.seek(0)
        cases = [
            json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")
        ]
    for case in cases:
        print(f"  {case}", file=sys.stderr)
    return {"seconds": round(time.monotonic() - began), "ended": ended, "cases": cases}


def ceiling(cases: Sequence[dict[str, Any]]) -> float:
    """What the largest product reaches."""
    return next((case["TFLOP/s"] for case in cases if "TFLOP/s" in case), 0.0)


def card() -> dict[str, str]:
    """The GPU and what drives it."""
    if not torch.cuda.is_available():
        return {}
    about = torch.cuda.get_device_properties(0)
    return {
        "GPU": about.name,
        "GPU memory": f"{about.total_memory / 2**30:.0f} GiB",
        "CUDA": str(torch.version.cuda),
    }


def installed_version(package: str) -> dict[str, str]:
    """Return the version of a package that is measured here, or nothing; none is pinned."""
    try:
        return {package: version(package)}
    except PackageNotFoundError:
        return {}


def left_out(package: str | None) -> dict[str, Any]:
    """Return a part without cases, since what it measures is not installed."""
    ended = f"was left out, as the package {package} is not installed"
    return {"seconds": 0, "ended": ended, "cases": []}


def results_path(asked: argparse.Namespace, name: str) -> Path:
    """Return the file for the figures; those of a rehearsal go to a temporary folder."""
    folder = asked.output or (Path(tempfile.mkdtemp()) if asked.rehearse else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    slug = "-".join(re.sub(r"[^a-z0-9]+", " ", name.lower()).split())
    return Path(folder, f"gpu-{time.strftime('%Y-%m-%d')}-{slug}.json")


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="benchmarks/gpu", description=__doc__)
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"{', '.join(SECONDS)}; all if none is named")
    add("--text", nargs=2, default=[], metavar=("MODEL", "FILE"), help="measure `reading` of these")
    add("--output", type=Path, metavar="FOLDER", help="of the figures (benchmarks/results)")
    add("--rehearse", action="store_true", help="tiny shapes on the processor; they mean nothing")
    add("--seconds", type=float, default=0.01 if "--rehearse" in words else 0.7, help="of a figure")
    add("--page", type=Path, metavar="RESULTS", help="only make the page anew, of these results")
    asked = parser.parse_args(words)
    unknown = set(asked.parts) - set(SECONDS) - set(WITH_TEXT)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    if "reading" in asked.parts and not asked.text:
        parser.error("reading needs --text MODEL FILE")
    return asked


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
