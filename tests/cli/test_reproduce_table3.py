"""transduce reproduce table3, on a row or two of seconds."""

import csv
import json

import pytest
from tests.cli.rows import TINY

from transduce.durable.json import FORMAT
from transduce.errors import NotFiniteError
from transduce.inference.evaluate import evaluate
from transduce.reproduce import result
from transduce.reproduce import rows as rows_module


@pytest.fixture(autouse=True)
def small_dev(monkeypatch):
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)


def rows(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    return [row["row"] for row in csv.DictReader(lines)]


@pytest.mark.slow
def test_rows_are_trained_measured_and_set_beside_the_paper_s(call, tmp_path):
    out = tmp_path / "out"
    done = call("reproduce", "table3", *TINY, "--rows", "C-N2,base", "-o", out)
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Table 3 at the scale toy"
    assert [line.split()[0] for line in lines if line.startswith(("base ", "C-N2 "))] == [
        "base",
        "C-N2",
    ]
    assert rows(out / "table3.csv") == ["base", "C-N2"]
    page = (out / "table3.md").read_text(encoding="utf-8")
    assert "changed in every row: data.max_pairs=300, training.steps=4" in page
    assert "two layers are worse than six" in page


def test_what_is_measured_is_kept_and_the_rest_is_trained(call, tmp_path, monkeypatch):
    searches = []

    def evaluate_noted(model, *rest, **named):
        search = model.recipe.search
        searches.append((search.beam, search.alpha, search.extra_length))
        return evaluate(model, *rest, **named)

    monkeypatch.setattr(result, "evaluate", evaluate_noted)
    out = tmp_path / "out"
    assert call("reproduce", "table3", *TINY, "--rows", "C-N2", "-o", out).code == 0
    before = (out / "rows/C-N2-seed1/result.json").stat().st_mtime_ns
    again = call("reproduce", "table3", *TINY, "--rows", "C-N2,base", "--json", "-o", out)
    found = json.loads(again.stdout)
    assert [(run["row"], run["seed"]) for run in found["runs"]] == [("base", 1), ("C-N2", 1)]
    assert [run["averaged"] for run in found["runs"]] == [0, 0], "no checkpoints, section 6.2"
    assert [run["lines"] for run in found["runs"]] == [20, 20], "of the development set"
    assert searches == [(4, 0.6, 5)] * 2, "section 6.1's, but for the limit set here"
    assert (out / "rows/C-N2-seed1/result.json").stat().st_mtime_ns == before


def test_a_row_that_fails_does_not_lose_the_others(call, tmp_path, monkeypatch):
    train_row = rows_module.train_row

    def failing(job, *rest):
        if job.row == "base":
            raise NotFiniteError("the loss is no number")
        return train_row(job, *rest)

    monkeypatch.setattr(rows_module, "train_row", failing)
    out = tmp_path / "out"
    done = call("reproduce", "table3", *TINY, "--rows", "base,C-N2", "-o", out)
    assert done.code == 5
    assert done.stderr == "error: row base, seed 1 (1 of 2): the loss is no number\n"
    assert rows(out / "table3.csv") == ["C-N2"]


def test_a_row_that_somebody_else_trains_is_left_to_them(call, tmp_path):
    from transduce.durable.files import ensure_folder
    from transduce.durable.lock import lock_folder

    out = tmp_path / "out"
    assert call("reproduce", "table3", *TINY, "--rows", "C-N2", "-o", out).code == 0
    held = out / "rows/base-seed1/run"
    ensure_folder(held)
    loud = [word for word in TINY if word != "--quiet"]
    with lock_folder(held):
        done = call("reproduce", "table3", *loud, "--rows", "base,C-N2", "-o", out)
    assert done.code == 0
    assert "row base, seed 1 (1 of 2): left to another process: " in done.stderr
    assert "row C-N2, seed 1 (2 of 2): measured before" in done.stderr


def test_every_row_is_a_command_of_its_own(call):
    done = call(
        "reproduce", "table3", "--rows", "base,big", "--seeds", "2", "--print-jobs",
        "--source", "a b.en", "--target", "a.de", "--set", "training.steps=9", "-o", "out",
        "--no-progress",
    )  # fmt: skip
    start = "transduce reproduce table3 --scale laptop --rows"
    end = "-o out --source 'a b.en' --target a.de --no-progress --set training.steps=9"
    assert done.stdout.splitlines() == [
        f"{start} {row} --seed {seed} {end}" for seed in (1, 2) for row in ("base", "big")
    ]


@pytest.mark.parametrize("table", ["table2", "table3"])
@pytest.mark.parametrize(
    "texts", [("--source", "a"), ("--source", "a", "--store", "s"), ("--dev-target", "a")]
)
def test_texts_that_a_row_would_refuse_are_refused_before_its_command_is_printed(
    call, table, texts
):
    words = ("reproduce", table, "--rows", "base", *texts, "-o", "out")
    trained, printed = (call(*words, *more) for more in ((), ("--print-jobs",)))
    assert (printed.code, printed.stdout) == (2, "")
    assert printed.stderr == trained.stderr


def test_files_with_weights_are_named_in_the_commands_as_they_were_given(call):
    files = ("--pairs", "a.tsv:0.5:1-8000", "--pairs", "b.tsv:0.000002", "--pairs", "c.tsv:1:9-")
    done = call("reproduce", "table3", "--rows", "base", "--print-jobs", *files, "-o", "out")
    assert " ".join(files) in done.stdout


@pytest.mark.slow
def test_results_are_gathered_from_wherever_they_lie(call, tmp_path):
    for name, row in (("a", "base"), ("b", "C-N2")):
        assert call("reproduce", "table3", *TINY, "--rows", row, "-o", tmp_path / name).code == 0
    places = ("--gather", tmp_path / "a", "--gather", tmp_path / "b", "-o", tmp_path / "all")
    assert call("reproduce", "table3", *places).code == 0
    assert rows(tmp_path / "all/table3.csv") == ["base", "C-N2"]


def test_a_folder_of_other_settings_is_refused_row_by_row(call, tmp_path):
    out = tmp_path / "out"
    assert call("reproduce", "table3", *TINY, "--rows", "C-N2", "-o", out).code == 0
    other = call(
        "reproduce", "table3", *TINY, "--set", "training.steps=5", "--rows", "C-N2", "-o", out
    )
    assert other.code == 2
    assert "was measured with training.steps = 4, and 5 is wanted here" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["table33"], "error: unknown command 'table33'\nhint: did you mean table3"),
        (["table3", "--rows", "bse", "-o", "x"], "error: table3 has no row 'bse'\nhint: did you m"),
        (
            ["table3", "--seed", "2", "--seeds", "2", "-o", "x"],
            "error: --seed and --seeds exclude each other",
        ),
        (["table3", "-o", "x"], "error: the corpus multi30k is not here: "),
        (["table3", "--gather", "none", "-o", "x"], "error: none: no such folder\nhint: name a"),
        (["table3", "--scale", "big", "-o", "x"], "error: invalid value for '--scale'"),
    ],
)
def test_wrong_wishes_are_refused_in_a_sentence(call, arguments, answer, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSDUCE_CACHE", "none")
    monkeypatch.chdir(tmp_path)
    done = call("reproduce", *arguments)
    assert done.code == 2
    assert answer in done.stderr


def test_a_result_of_a_later_version_is_refused_with_what_to_do(call, tmp_path):
    out = tmp_path / "out"
    assert call("reproduce", "table3", *TINY, "--rows", "C-N2", "-o", out).code == 0
    file = out / "rows/C-N2-seed1/result.json"
    file.write_bytes(
        file.read_bytes().replace(b'"format": %d' % FORMAT, b'"format": %d' % (FORMAT + 1))
    )
    done = call("reproduce", "table3", "--gather", out, "-o", tmp_path / "x")
    assert done.code == 3
    assert f"has format {FORMAT + 1}" in done.stderr
