"""transduce reproduce table2, on a row or two of seconds."""

import csv
import json
import shutil

import pytest
from tests.cli.rows import TINY

from transduce.errors import FolderError, InputError
from transduce.reproduce import rows as rows_module
from transduce.reproduce.result import read_test_set
from transduce.runs.average import open_or_write_average
from transduce.runs.texts import FilePair
from transduce.settings import Data


@pytest.fixture(autouse=True)
def small_dev(monkeypatch):
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 12)


@pytest.fixture
def own_text(tmp_path):
    """Options that name a test set of two lines."""
    (tmp_path / "t.en").write_text("The dog sees a cat.\nThe cat sleeps.\n", "utf-8")
    (tmp_path / "t.de").write_text("Der Hund sieht eine Katze.\nDie Katze schläft.\n", "utf-8")
    return ("--test-source", tmp_path / "t.en", "--test-target", tmp_path / "t.de")


@pytest.mark.slow
def test_rows_are_averaged_scored_and_set_beside_the_paper_s(call, tmp_path):
    out = tmp_path / "out"
    done = call("reproduce", "table2", *TINY, "--rows", "recurrent,base", "-o", out)
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Table 2, en-de, at the scale toy"
    changed = (
        "data.max_pairs=300, training.steps=4, training.warmup=4, training.validate_lines=5, "
        "search.extra_length=5"
    )
    assert f"changed in every row: {changed}" in lines
    assert any(line.startswith("ConvS2S ") and "25.16" in line for line in lines)
    assert any(line.startswith("recurrent in attention's place") for line in lines)
    assert done.stdout.count("not comparable: phrasebook, scale toy") == 2
    runs = list(csv.DictReader((out / "table2.csv").read_text("utf-8").splitlines()))
    assert [(run["row"], run["averaged"], run["lines"]) for run in runs] == [
        ("base", "2", "12"),
        ("recurrent", "2", "12"),
    ]
    assert all(float(run["operations_counted"]) > 0 for run in runs)
    assert (out / "rows/recurrent-seed1/model/model.safetensors").is_file()


def test_what_is_measured_stays_with_its_test_set(call, tmp_path, own_text):
    row = ("reproduce", "table2", *TINY, "--rows", "separable", "-o", tmp_path / "out")
    first = call(*row, *own_text, "--json")
    assert first.code == 0, first.stderr
    (run,) = json.loads(first.stdout)["runs"]
    assert run["lines"] == 2
    assert call(*row, *own_text, "--json").stdout == first.stdout
    other = call(*row)
    assert other.code == 2
    assert "was measured with test set = " in other.stderr
    file = tmp_path / "out/rows/separable-seed1/result.json"
    file.unlink()
    assert call(*row).code == 0, "the run stands, and so does its model"


@pytest.mark.filterwarnings("ignore:line 1")
def test_text_in_other_languages_has_no_figure_beside_the_paper_s(call, tmp_path):
    pairs = [f"the dog {n} sees\tpes {n} vidí\n" for n in range(40)]
    (tmp_path / "a.tsv").write_text("".join(pairs), "utf-8")
    (tmp_path / "long.tsv").write_text("dog " * 300 + "\t" + "pes " * 300 + "\n", "utf-8")
    files = ("--pairs", tmp_path / "a.tsv", "--dev-pairs", tmp_path / "a.tsv")
    changes = ("source_language=en", "target_language=cs", "vocabulary_size=300")
    settings = [f"--set=data.{change}" for change in changes]
    row = ("reproduce", "table2", *TINY, "--rows", "base", "-o", tmp_path / "out")
    done = call(*row, *files, "--test-pairs", tmp_path / "long.tsv", *settings)
    assert done.code == 0, done.stderr
    assert done.stdout.startswith("Table 2, en-cs, at the scale toy\n")
    assert "no BLEU here may stand beside the paper's, which are of other languages" in done.stdout
    assert "nan" in done.stdout, "the test line is longer than the model takes"


def test_a_model_of_other_steps_is_not_taken_for_the_run_s(trained):
    model = open_or_write_average(trained)
    assert model.about["averaged"] == [15, 20]
    assert open_or_write_average(trained).hash == model.hash, "it is made once"
    shutil.rmtree(max((trained / "snapshots").iterdir()))
    with pytest.raises(FolderError, match="is the mean of other steps than 15 to 15\nhint: del"):
        open_or_write_average(trained)
    assert open_or_write_average(trained, renews=True).about["averaged"] == [15]


def test_a_row_that_cannot_be_measured_says_what_to_do(call, tmp_path, monkeypatch):
    def failing(*_):
        raise FolderError("is broken", "mend it")

    monkeypatch.setattr(rows_module, "train_row", failing)
    done = call("reproduce", "table2", *TINY, "--rows", "base", "-o", tmp_path / "out")
    assert done.code == 3
    assert done.stderr == "error: row base, seed 1 (1 of 1): is broken\nhint: mend it\n"


def test_every_row_is_a_command_of_its_own(call):
    done = call(
        "reproduce", "table2", "--rows", "base,separable", "--pair", "en-fr", "--print-jobs",
        "--test-source", "t.en", "--test-target", "t.fr", "--store", "s", "-o", "out",
    )  # fmt: skip
    start = "transduce reproduce table2 --scale laptop --rows"
    end = "--seed 1 -o out --pair en-fr --test-source t.en --test-target t.fr --store s"
    assert done.stdout.splitlines() == [f"{start} {row} {end}" for row in ("base", "separable")]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--rows", "recurent"], "table2 has no row 'recurent'\nhint: did you mean recurrent"),
        (["--pair", "en-ru"], "error: invalid value for '--pair'"),
        (["--scale", "toy", "--pair", "en-fr"], "the scale toy has no corpus into 'fr'"),
        ([], "error: the corpus multi30k is not here: "),
        (["--source", "a", "--target", "b"], "none was named beside your own text\nhint: --test-"),
        (["--test-source", "a"], "error: --test-target is missing"),
        (["--test-pairs", "none"], "none: "),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(call, arguments, answer, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSDUCE_CACHE", "none")
    monkeypatch.chdir(tmp_path)
    done = call("reproduce", "table2", *arguments, "-o", "x")
    assert done.code == 2
    assert answer in done.stderr
    assert not (tmp_path / "x").exists()


def test_the_test_set_of_a_fetched_corpus_is_taken(monkeypatch, own_text):
    files = FilePair(own_text[1], own_text[3])
    asked = []

    def read_corpus(*arguments):
        asked.append(arguments)
        return files

    monkeypatch.setattr("transduce.reproduce.result.read_corpus", read_corpus)
    data = Data(corpus="multi30k")
    source, target = read_test_set(data, None, None)
    assert asked == [("multi30k", "test", data)]
    assert (source[1], target[0]) == ("The cat sleeps.", "Der Hund sieht eine Katze.")
    monkeypatch.setattr("transduce.reproduce.result.read_corpus", lambda *_: None)
    with pytest.raises(InputError, match="the corpus multi30k has no test set\nhint: test="):
        read_test_set(data, None, None)


def test_an_empty_test_set_is_refused_before_anything_is_trained(call, tmp_path):
    (tmp_path / "t").touch()
    files = ("--test-source", tmp_path / "t", "--test-target", tmp_path / "t")
    done = call("reproduce", "table2", *TINY, *files, "-o", tmp_path / "x")
    assert done.code == 2
    assert "the test set is empty" in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_picture_without_matplotlib_is_refused_before_anything_is_trained(
    call, tmp_path, monkeypatch
):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    done = call("reproduce", "table2", *TINY, "--plot", "-o", tmp_path / "x")
    assert done.code == 2
    assert "hint: pip install matplotlib" in done.stderr
    assert not (tmp_path / "x").exists()
