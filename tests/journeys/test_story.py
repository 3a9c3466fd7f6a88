"""A user's whole story, from two text files to a score, as it is typed."""

import gzip
import json

import pytest
from tests.journeys.commands import COLD, tiny

pytestmark = pytest.mark.slow
DEV = ("--dev-source", "d.en", "--dev-target", "d.de")


def test_from_two_text_files_to_a_score(workspace):
    code, stdout, stderr = workspace.run(
        "train", "--source", "a.en", "--target", "a.de", *DEV, "-o", "run",
        "--set", "training.steps=20", "--set", "training.threads=1", python=COLD,
    )  # fmt: skip
    assert (code, stdout) == (0, "")
    assert stderr.startswith("199 pairs after cleaning and no GPU decide the sizes")
    assert "dev at 20: perplexity " in stderr
    code, stdout, stderr = workspace.run("average", "run", "--last", "2", "-o", "m")
    assert (code, stderr.splitlines()[1]) == (2, "hint: --last 1")
    workspace.good("average", "run", "-o", "m")  # the only snapshot that there is
    workspace.good("translate", "m", "d.en", "-o", "out.txt")
    with (workspace.folder / "d.en").open("rb") as lines:
        assert (
            workspace.good("translate", "m", stdin=lines.read()).encode()
            == (workspace.folder / "out.txt").read_bytes()
        )
    scores = workspace.good("score", "out.txt", "d.de").splitlines()
    assert workspace.good("evaluate", "m", "d.en", "d.de").splitlines()[:3] == scores
    for folder in ("run", "run/store", "m"):
        assert {line[:4] for line in workspace.good("verify", folder).splitlines()} == {"good"}
    assert {name for name in workspace.names() if name.startswith(".")} == set()


def test_from_a_prepared_store_and_a_file_of_pairs(workspace):
    both = zip(
        *((workspace.folder / n).read_text().splitlines() for n in ("a.en", "a.de")), strict=True
    )
    text = "".join(f"{source}\t{target}\n" for source, target in both)
    (workspace.folder / "a.tsv.gz").write_bytes(gzip.compress(text.encode()))
    workspace.good("prepare", "tiny", "--pairs", "a.tsv.gz", "-o", "store")
    settings = ("--set", "training.threads=1", "--set", "training.steps=2")
    workspace.good("train", "tiny", "--store", "store", "-o", "one", *settings)
    workspace.good("train", "tiny", "--source", "a.en", "--target", "a.de", "-o", "two", *settings)
    one, two = (
        (workspace.folder / run / "checkpoints/step-00000002/model.safetensors").read_bytes()
        for run in ("one", "two")
    )
    assert one == two, "the same pairs by another way are the same corpus"


def test_a_run_can_be_translated_with_while_another_process_trains_it(settled):
    with settled.start("train", *tiny(steps=99), "-o", "other") as other:
        assert other.stderr.readline()
        outputs = settled.good("translate", "run", "--extra-length=1", stdin=b"a dog\n\na cat")
        assert outputs.count("\n") == 3
        other.kill()


def test_a_line_for_a_line_whatever_it_holds(settled):
    odd = "a\u2028b\n\na\rb\r\na\x1bb\n\u0085\n\ufeffx\nlast".encode()
    assert settled.good("translate", "m", "--extra-length=1", stdin=odd).count("\n") == 7
    rows = settled.good("translate", "m", "--extra-length=1", "--nbest=2", "--json", stdin=odd)
    assert [json.loads(row)["line"] for row in rows.split("\n")[:-1]] == [1, 2, 3, 4, 5, 6, 7]


def test_the_library_says_what_the_command_says(settled):
    program = "import transduce; print(transduce.load('m')('a b'))"
    code, stdout, stderr = settled.run(python=("-c", program))
    assert (code, stderr) == (0, "")
    assert stdout == settled.good("translate", "m", stdin=b"a b\n")


def test_a_toy_needs_no_files(workspace):
    settings = ("--set", "training.steps=2", "--set", "training.threads=1")
    workspace.good("train", "toy-copy", "-o", "run", "--set", "data.max_pairs=99", *settings)
    assert workspace.names("run") >= {"run.json", "store", "log.jsonl", "checkpoints"}
