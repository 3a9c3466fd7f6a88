"""The group of tables, and `transduce reproduce table1` as a user runs it."""

import json

import pytest

from transduce.reproduce.layer_costs.measure import MeasurementPlan

SMALL = ("--n", "8,4", "--d", "16,8", "--r", "3", "--quick", "--rounds", "1")


@pytest.fixture(autouse=True)
def _one_thread_is_left(monkeypatch):
    monkeypatch.setattr("transduce.cli.reproduce.use_threads", lambda _: None)


@pytest.mark.parametrize(("name", "hint"), [("table33", "table3"), ("tabel1", "table1")])
def test_an_unknown_table_is_answered_with_the_nearest(call, name, hint):
    ended = call("reproduce", name)
    assert ended.code == 2
    assert f"unknown command '{name}'" in ended.stderr
    assert "hint: did you mean" in ended.stderr
    assert hint in ended.stderr


def test_without_a_table_the_help_is_shown(call):
    alone, asked = call("reproduce"), call("reproduce", "--help")
    assert (alone.code, alone.stdout) == (2, "")
    assert alone.stderr == asked.stdout


def test_table_1_is_printed_beside_the_paper(call):
    ended = call("reproduce", "table1", *SMALL)
    assert ended.code == 0, ended.stderr
    assert "O(k · n · d + n · d²)" in ended.stdout
    assert "n^2.00 d^1.00" in ended.stdout
    assert "36 of 36 path lengths are those of the formula" in ended.stdout
    assert "recurrent (LSTM)" in ended.stderr, "what is being measured"


def test_table_1_goes_into_a_folder_that_is_not_written_over(call, tmp_path):
    folder = tmp_path / "found"
    ended = call("reproduce", "table1", *SMALL, "-o", folder, "--json", "--quiet")
    assert ended.code == 0, ended.stderr
    assert ended.stderr == ""
    assert json.loads(ended.stdout) == json.loads((folder / "table1.json").read_text("utf-8"))
    assert call("verify", folder).code == 0
    again = call("reproduce", "table1", *SMALL, "-o", folder)
    assert again.code == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plot",), "--plot: the picture needs a folder"),
        (("--n", "64"), "--n: growth needs at least two sizes"),
        (("--d", "64,wide"), "'64,wide' is no list of sizes"),
        (("--k", "4"), "--k must be odd, not 4"),
        (("--r", "4"), "--r must be odd, not 4"),
    ],
)
def test_what_cannot_be_measured_is_said(call, arguments, words):
    ended = call("reproduce", "table1", *arguments)
    assert ended.code == 2
    assert words in ended.stderr


def test_a_picture_without_matplotlib_is_refused_before_anything_is_measured(
    call, tmp_path, monkeypatch
):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    ended = call("reproduce", "table1", "--plot", "-o", tmp_path / "found")
    assert ended.code == 2
    assert "hint: pip install matplotlib" in ended.stderr
    assert not (tmp_path / "found").exists()


def test_defaults_that_the_help_names_are_those_of_the_plan(call):
    said = " ".join(call("reproduce", "table1", "--help").stdout.split())
    plan = MeasurementPlan()
    for words in (
        f"(default: {plan.n[0]} to {plan.n[-1]})",
        f"(default: {plan.d[0]} to {plan.d[-1]})",
        f"(default: {plan.k})",
        f"(default: {plan.r})",
        f"(default: {plan.rounds})",
    ):
        assert words in said
