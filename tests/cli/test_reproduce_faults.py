"""What goes wrong with the rows of a table, as a user of `transduce reproduce` sees it."""

import csv
import signal
import sys
from dataclasses import replace

import pytest
from tests.cli.rows import TINY
from tests.reproduce.results import result

from transduce.checkpoint.run_file import read_run
from transduce.cli.main import transduce
from transduce.cli.outcome import Terminated, run
from transduce.errors import InputError, NotFiniteError
from transduce.recipes.scale import TOY, scaled
from transduce.recipes.tables import TABLE_3
from transduce.reproduce import rows as rows_module
from transduce.reproduce.job import TableRequest
from transduce.reproduce.result import write_result
from transduce.reproduce.rows import TableCallbacks, prepare_table_corpus
from transduce.runs.prepared_corpus import open_prepared
from transduce.runs.training_run import fingerprint_corpus
from transduce.scores.test_sets import GERMAN_2013, OTHER_FORM

TABLE = ("reproduce", "table3", *TINY)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A corpus for the rows, prepared once."""
    folder = tmp_path_factory.mktemp("prepared") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
        assert run(transduce, ["prepare", "table3/base", *TINY, "-o", str(folder)]) == 0
    return folder


def rows(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    return [row["row"] for row in csv.DictReader(lines)]


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_a_row_that_memory_does_not_hold_does_not_lose_the_others(
    call, tmp_path, monkeypatch, store, error
):
    out = tmp_path / "out"

    def trained(job, *_):
        if job.row == "base":
            raise error
        job.folder(out).mkdir(parents=True)
        write_result(job.folder(out), result(job.row, 30.0))
        return "measured"

    monkeypatch.setattr(rows_module, "train_row", trained)
    done = call(*TABLE, "--rows", "base,C-N2", "--store", store, "-o", out)
    assert done.code == 2
    assert done.stderr.startswith("error: row base, seed 1 (1 of 2): memory ran out\nhint: free")
    assert rows(out / "table3.csv") == ["C-N2"]


def test_another_fault_of_torch_is_no_lack_of_memory(call, tmp_path, monkeypatch, store):
    def failing(*_):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(rows_module, "train_row", failing)
    done = call(*TABLE, "--rows", "base", "--store", store, "-o", tmp_path / "out")
    assert done.code == 1
    assert "shapes do not match" in done.stderr


@pytest.mark.parametrize(
    ("stop", "code"), [(SystemExit(143), 143), (Terminated(), 143), (KeyboardInterrupt(), 130)]
)
def test_a_signal_leaves_a_report_of_the_rows_that_are_over(
    call, tmp_path, monkeypatch, store, stop, code
):
    out, prepared = tmp_path / "out", open_prepared(store)
    corpus = fingerprint_corpus(prepared)
    for row in ("C-N2", "C-N4"):
        recipe = replace(scaled(TABLE_3[row], TOY), data=prepared.data)
        found = replace(result(row, 30.0), data=corpus, scale="toy", recipe=recipe)
        (out / "rows" / row).mkdir(parents=True)
        write_result(out / "rows" / row, found)

    def stopped(*_):
        raise stop

    monkeypatch.setattr(rows_module, "train_row", stopped)
    done = call(*TABLE, "--rows", "base", "--store", store, "-o", out)
    assert (done.code, done.stdout) == (code, "")
    assert rows(out / "table3.csv") == ["C-N2", "C-N4"]


@pytest.mark.parametrize("other", [{"table": "table2"}, {}])
def test_a_folder_of_another_table_or_corpus_is_refused_before_training(
    call, tmp_path, monkeypatch, store, other
):
    out, corpus = tmp_path / "out", fingerprint_corpus(open_prepared(store))
    (out / "rows" / "big").mkdir(parents=True)
    found = result("big", 30.0)
    write_result(out / "rows" / "big", replace(found, data=corpus, **other) if other else found)
    monkeypatch.setattr(rows_module, "train_row", lambda *_: pytest.fail("it was trained"))
    done = call(*TABLE, "--rows", "base", "--store", store, "-o", out)
    assert done.code == 2
    assert "for another table, scale or corpus" in done.stderr


def test_sigusr1_does_nothing_before_the_first_update(call, tmp_path, monkeypatch):
    heard = []

    def preparing(*_, **__):
        signal.raise_signal(signal.SIGUSR1)
        raise InputError("no corpus")

    monkeypatch.setattr(rows_module, "prepare_table_corpus", preparing)
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append("it would end here"))
    try:
        for table in ("table2", "table3"):
            done = call("reproduce", table, *TINY, "-o", tmp_path / "out")
            assert done.stderr == "error: no corpus\n"
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == []


def test_a_damaged_result_is_named_and_does_not_stop_the_report(call, tmp_path):
    for row in ("base", "C-N2"):
        (tmp_path / "a" / row).mkdir(parents=True)
        write_result(tmp_path / "a" / row, result(row, 30.0))
    file = tmp_path / "a/C-N2/result.json"
    file.write_bytes(file.read_bytes().replace(b"30.0", b"39.0"))
    places = ("--gather", tmp_path / "a", "--gather", file.parent, "-o", tmp_path / "all")
    done = call("reproduce", "table3", *places, "--quiet")
    assert done.code == 3
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"error: {file}: is not as it was written: ")
    assert lines[1].startswith("hint: delete the file: the command that trained the row measures")
    assert len(lines) == 2
    assert rows(tmp_path / "all/table3.csv") == ["base"]


def test_a_damaged_result_of_a_row_that_is_asked_for_is_named_once(call, tmp_path, store):
    row = tmp_path / "out/rows/C-N2-seed1"
    row.mkdir(parents=True)
    (row / "result.json").write_text("{}", "utf-8")
    done = call(*TABLE, "--rows", "C-N2", "--store", store, "-o", tmp_path / "out")
    assert done.code == 3
    assert done.stderr.count("error: ") == 1
    assert "(1 of 1): " in done.stderr


def test_without_a_development_set_nothing_is_prepared_or_trained(call, corpus, monkeypatch):
    monkeypatch.setattr(rows_module, "train_row", None)
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    own = call(*TABLE, *text, "-o", corpus / "x")
    fact = "the table is scored on a development set, and this corpus has none\n"
    hint = "--dev-source FILE --dev-target FILE\n"
    assert (own.code, own.stderr) == (2, f"error: {fact}hint: {hint}")
    assert not (corpus / "x").exists()
    few = ("--set", "data.vocabulary_size=400")
    made = call("prepare", "table3/base", *TINY, *few, *text, "-o", corpus / "store")
    assert made.code == 0, made.stderr
    there = call(*TABLE, *few, "--store", corpus / "store", "-o", corpus / "x")
    assert there.stderr == f"error: {corpus}/store: {fact}hint: prepare it with {hint}"


def test_the_words_of_the_paper_are_demanded_before_the_first_row(
    call, tmp_path, monkeypatch, store
):
    monkeypatch.setattr(rows_module, "train_row", None)
    monkeypatch.setattr(
        "transduce.reproduce.result.identify_test_set", lambda _: GERMAN_2013 + OTHER_FORM
    )
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    done = call(*TABLE, "--rows", "base", "--store", store, "-o", tmp_path / "out")
    assert done.code == 2
    assert "hint: pip install sacremoses" in done.stderr


def test_a_run_that_train_has_made_is_taken_as_the_row_s(call, tmp_path, store):
    """So one row can be trained by several processes, which `reproduce` does not start."""
    out = tmp_path / "out"
    run_of_row = out / "rows/C-N2-seed1/run"
    row = ("train", "table3/C-N2", *TINY, "--store", store, "-o", run_of_row)
    assert call(*row).code == 0
    done = call(*TABLE, "--rows", "C-N2", "--store", store, "-o", out)
    assert (done.code, done.stderr) == (0, "")
    assert rows(out / "table3.csv") == ["C-N2"]


def test_a_store_of_others_is_not_held(made, tmp_path):
    store = made / "run/store"
    request = TableRequest(output=tmp_path / "out", scale=TOY, store=store)
    recipe = read_run(made / "run").recipe
    prepared = prepare_table_corpus(recipe, request, TableCallbacks(), needs_dev=True)
    assert prepared.folder == store
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_refused(call, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x/thesis.tex").touch()
    done = call(*TABLE, "--rows", "base", "-o", tmp_path / "x")
    assert (done.code, [entry.name for entry in (tmp_path / "x").iterdir()]) == (2, ["thesis.tex"])
    assert "exists and is no folder of a table's rows\nhint: choose another name" in done.stderr


@pytest.mark.parametrize(
    "entries", [("rows", "log"), ("store", "lock"), ("table3.md", "table2.png")]
)
def test_a_table_is_resumed_in_its_folder(call, tmp_path, monkeypatch, entries):
    monkeypatch.setattr(
        rows_module, "train_rows", lambda *_, **__: [NotFiniteError("it came to this")]
    )
    for entry in entries:
        (tmp_path / entry).mkdir()
    assert call(*TABLE, "-o", tmp_path).code == 5
