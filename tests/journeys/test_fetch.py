"""Table 2's own road, as it is typed, on copies of its files in miniature."""

import json
import time

import pytest
from tests.datasets.made import Miniature
from tests.datasets.site import site

from transduce.datasets.catalogue import CORPORA
from transduce.datasets.values import Corpus, Download

pytestmark = pytest.mark.slow
TINY = (
    *("--set", "training.steps=20", "--set", "training.threads=1"),
    *("--set", "training.warmup=10", "--set", "training.snapshot_every=4"),
    *("--set", "training.validate_every=10", "--set", "training.validate_lines=4"),
    *("--set", "data.vocabulary_size=300", "--set", "data.source_tokens=512"),
    *("--set", "data.target_tokens=512", "--set", "architecture.layers=1"),
    *("--set", "architecture.d_model=32", "--set", "architecture.d_ff=64"),
    *("--set", "architecture.heads=2", "--set", "architecture.d_k=16"),
    *("--set", "architecture.d_v=16"),
)
# The command line with the addresses, sizes and hashes of the miniatures in place of the real ones.
PROGRAM = """
import json, sys
from dataclasses import replace
from transduce.datasets import catalogue
from transduce.datasets.values import Download

moved = {name: Download((address,), size, sha256) for name, address, size, sha256 in MOVED}

def here(text):
    return replace(text, download=moved[text.download.cache_name])

def rest(split):
    parts = tuple(
        replace(
            part,
            lines=0,
            ways=tuple(tuple(map(here, way)) for way in part.ways),
        )
        for part in split.parts
    )
    return replace(split, parts=parts, lines=0, sha256=("", ""))

catalogue.CORPORA = tuple(
    replace(one, splits=tuple(map(rest, one.splits))) for one in catalogue.CORPORA
)
from transduce.cli.main import main
main()
"""


def program(copies: tuple[Corpus, ...]) -> str:
    """`transduce` with other addresses."""
    moved = dict[str, Download]()
    for real, copy in zip(CORPORA, copies, strict=True):
        for one, other in zip(real.splits, copy.splits, strict=True):
            for part, ours in zip(one.parts, other.parts, strict=True):
                for way, own in zip(part.ways, ours.ways, strict=True):
                    moved |= {
                        a.download.cache_name: b.download for a, b in zip(way, own, strict=True)
                    }
    rows = [(name, d.addresses[0], d.size, d.sha256) for name, d in moved.items()]
    return PROGRAM.replace("MOVED", json.dumps(rows))


def test_from_fetch_to_the_score_of_the_paper_s_own_recipe(workspace, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TRANSDUCE_CACHE", "cache")
    with site() as here:
        typed = ("-c", program(Miniature(here).corpora(CORPORA)))

        def good(*arguments: object) -> tuple[str, str]:
            code, stdout, stderr = workspace.run(*arguments, python=typed)
            assert code == 0, stderr
            return stdout, stderr

        code, _, stderr = workspace.run(
            "train", "table2/base-en-de", "-o", "run", *TINY, python=typed
        )
        assert (code, stderr.splitlines()[-1]) == (2, "hint: transduce fetch wmt14-en-de")
        for path in list(here.files)[:3]:
            here.faults[path] = {"breaks_after": 2_000}
        stdout, _ = good("fetch", "wmt14-en-de")
        assert stdout.splitlines()[0] == "cache/wmt14-en-de/en-de"
        assert any(asked for _, asked in here.asked), "what broke off was gone on with"
    _, stderr = good("train", "table2/base-en-de", "-o", "run", *TINY)
    assert "train: 450 pairs read" in stderr
    assert "dev: 20 pairs read" in stderr
    good("average", "run", "-o", "model")
    stdout, _ = good("evaluate", "model", "newstest2014")
    assert (
        stdout
        == good("evaluate", "model", *(f"cache/newstest2014/en-de/test.{s}" for s in ("en", "de")))[
            0
        ]
    )
    assert stdout.startswith("BLEU")


def test_a_killed_fetch_goes_on_where_it_was(workspace, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TRANSDUCE_CACHE", "cache")
    with site() as here:
        typed = ("-c", program(Miniature(here).corpora(CORPORA)))
        (path,) = [path for path in here.files if path.endswith("parallel-nc-v9.tgz")]
        here.faults[path] = {"drip": 500, "seconds": 0.1}
        with workspace.start("fetch", "wmt14-en-de", python=typed) as fetching:
            while not any(one == path for one, _ in here.asked):
                time.sleep(0.05)
            time.sleep(0.5)
            fetching.kill()
        (part,) = (workspace.folder / "cache/downloads").glob("*.part")
        assert part.stat().st_size >= 500
        del here.faults[path]
        code, _, stderr = workspace.run("fetch", "wmt14-en-de", python=typed)
        assert code == 0, stderr
        ranges = [asked for one, asked in here.asked if one == path]
        assert ranges[0] == ""
        assert ranges[-1].startswith("bytes=")
    left = [one.name for one in (workspace.folder / "cache").rglob("*") if ".part" in one.name]
    assert left == []
