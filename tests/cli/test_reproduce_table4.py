"""transduce reproduce table4: a parser, baselines and the paper's rows in one table."""

import json
import os
import re
import shutil
import signal

import pytest
from tests.cli.treebank import TINY, train, write_treebank
from tests.datasets.made_trees import write_penn_treebank

from transduce import reproduce
from transduce.cli.training import LineDisplay
from transduce.recipes import by_name
from transduce.reproduce.parsing_table import choose_trees, score_parser

COUNTS = {"train": 60, "dev": 5, "test": 8}
BASELINES = [
    "baseline-flat",
    "baseline-right-branching",
    "baseline-noun-chunks",
    "baseline-pcfg",
]


@pytest.fixture(scope="module")
def penn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("penn")
    write_penn_treebank(folder, COUNTS)
    return folder


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_treebank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def parser(bank):
    return train(bank, "craft", "trees")


def test_the_paper_s_recipe_is_rehearsed_on_sections_and_resumed(call, penn, tmp_path):
    command = ["reproduce", "table4", "--trees", penn, *TINY, "-o", tmp_path / "out"]
    ended = call(*command, "--no-baselines")
    assert ended.code == 0
    assert "Tested on WSJ section 23, 8 trees." in ended.stdout
    assert re.search(r"\| Transformer \(table4/wsj with [^|]*\), beam 2 \| ", ended.stdout)
    assert "| Transformer (4 layers) | semi-supervised | 92.7 |" in ended.stdout
    assert "Not comparable" not in ended.stdout
    assert (tmp_path / "out/table4.md").read_text() + "\n" == ended.stdout
    trees = (tmp_path / "out/trees.txt").read_text()
    assert len(trees.splitlines()) == 8
    (row,) = json.loads((tmp_path / "out/table4.json").read_text())["rows"]
    assert (row["trained_on"], row["trees"], row["failed"]) == (str(penn), 8, 0)
    assert call(*command, "--no-baselines").stdout == ended.stdout


def test_sigterm_keeps_the_last_finished_update_and_the_same_command_resumes_there(
    call, penn, tmp_path, monkeypatch
):
    def terminate(_self, update, _progress):
        if update.step == 3:
            signal.raise_signal(signal.SIGTERM)

    command = [
        "reproduce",
        "table4",
        "--trees",
        penn,
        *TINY,
        "--no-baselines",
        "-o",
        tmp_path / "o",
    ]
    with monkeypatch.context() as patched:
        patched.setattr(LineDisplay, "on_update", terminate)
        ended = call(*command)
    assert (ended.code, ended.stdout) == (143, "")
    assert f"stopped at step 3 of 10, kept in {tmp_path}/o/run\n" in ended.stderr
    assert not (tmp_path / "o/model").exists()
    resumed = call(*command)
    assert resumed.code == 0
    assert "going on from step 3 of " in resumed.stderr


def test_a_given_parser_is_scored_beside_baselines_and_is_not_called_comparable(
    call, parser, penn, tmp_path
):
    ended = call("reproduce", "table4", "--trees", penn, "--model", parser, "-o", tmp_path / "out")
    assert ended.code == 0
    assert "Not comparable: " in ended.stdout
    assert not (tmp_path / "out/run").exists()
    rows = json.loads((tmp_path / "out/table4.json").read_text())["rows"]
    assert [row["parser"] for row in rows[1:]] == BASELINES
    parser_row, *others = [row["trained_on"] for row in rows]
    assert parser_row.startswith("your own: train.trees, sha256 ")
    assert others == [str(penn)] * 4
    f1 = {row["parser"]: row["f1"] for row in rows}
    assert f1["baseline-pcfg"] > f1["baseline-noun-chunks"] > f1["baseline-right-branching"]


def test_a_parser_alone_needs_no_training_trees_and_has_the_score_of_evaluate(
    call, parser, bank, tmp_path
):
    test = bank / "test.trees"
    options = ["--model", parser, "--no-baselines", "--test-trees", test]
    ended = call("reproduce", "table4", *options, "-o", tmp_path / "out")
    assert ended.code == 0
    (row,) = json.loads((tmp_path / "out/table4.json").read_text())["rows"]
    (score,) = json.loads(call("evaluate", parser, test, "--json").stdout)["scores"]
    assert row["f1"] == pytest.approx(score["value"])


def test_trees_of_the_user_are_not_written_over(call, parser, bank, tmp_path):
    (tmp_path / "trees.txt").write_bytes((bank / "test.trees").read_bytes())
    for test in (tmp_path / "trees.txt", bank / "test.trees"):
        options = ["--model", parser, "--no-baselines", "--test-trees", test]
        assert call("reproduce", "table4", *options, "-o", tmp_path).code == 2
    assert (tmp_path / "trees.txt").read_bytes() == (bank / "test.trees").read_bytes()


def test_trees_that_are_trained_on_are_not_written_over(call, parser, bank, tmp_path):
    own = ["--trees", bank / "train.trees", "--test-trees", bank / "test.trees"]
    options = ["--model", parser, "-o", tmp_path / "out"]
    assert call("reproduce", "table4", *own, *options, "--no-baselines").code == 0
    trees = tmp_path / "out/trees.txt"
    before = trees.read_bytes()
    for texts in (
        ["--trees", trees, *own[2:]],
        [*own, "--silver", trees],
        [*own, "--dev-trees", trees],
    ):
        ended = call("reproduce", "table4", *texts, "-o", tmp_path / "out")
        assert (ended.code, f"{trees} is to be read" in ended.stderr) == (2, True)
    assert trees.read_bytes() == before


def test_the_search_of_a_given_parser_can_be_changed_and_nothing_else(call, parser, bank, tmp_path):
    test = bank / "test.trees"
    options = ["--model", parser, "--no-baselines", "--test-trees", test, "-o", tmp_path / "out"]
    assert call("reproduce", "table4", *options, "--set", "search.beam=1").code == 0
    greedy = call("parse", parser, bank / "test.txt", "--beam", "1").stdout
    assert (tmp_path / "out/trees.txt").read_text() == greedy
    (row,) = json.loads((tmp_path / "out/table4.json").read_text())["rows"]
    assert row["parser"].endswith("), beam 1")
    refused = call("reproduce", "table4", *options, "--set", "training.steps=9")
    assert refused.code == 2
    assert "training.steps: settings of training" in refused.stderr


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["gum-pos"], "the recipe gum-pos is of the task tagging, not of parsing\nhint: table4"),
        (
            ["--trees", "{bank}/train.trees"],
            "no trees to test on are named\nhint: --test-trees FILE",
        ),
        (["--trees", "{penn}", "--test-trees", "{empty}"], "{empty}: holds no files of trees"),
        (["--trees", "{bank}/nowhere"], "no trees to test on are named"),
        (["--trees", "{penn}", "--test-trees", "{bank}/dev.pos"], "dev.pos, line 1, column 1: te"),
        (["--trees", "{penn}", "--model", "{bank}"], "{bank}: is neither a model folder nor"),
    ],
)
def test_what_is_no_table_of_parsing_is_refused_before_anything_is_written(
    call, bank, penn, tmp_path, options, error
):
    (tmp_path / "empty").mkdir()
    names = {"bank": bank, "penn": penn, "empty": tmp_path / "empty"}
    given = [one.format(**names) for one in options]
    ended = call("reproduce", "table4", *given, "-o", tmp_path / "out")
    assert ended.code in (2, 3)
    assert error.format(**names) in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_tagger_is_no_parser(call, bank, penn, tmp_path):
    tagger = train(bank, "gum-pos", "pos")
    ended = call("reproduce", "table4", "--trees", penn, "--model", tagger, "-o", tmp_path / "out")
    assert ended.code == 2
    fact = f"{tagger}: Table 4 needs a model that parses, and this one's task is tagging\n"
    assert f"{fact}hint: `transduce tag` uses this model\n" in ended.stderr


def test_silver_trees_are_told_and_the_test_is_section_23(call, bank, penn, tmp_path):
    silver = ["--trees", penn, "--silver", bank / "train.trees", "--silver-ratio", "0.5"]
    ended = call(
        "reproduce", "table4", "table4/semi-supervised", *silver, *TINY, "--no-baselines",
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert ended.code == 0
    assert f"| {penn} and silver trees | " in ended.stdout
    assert "Tested on WSJ section 23" in ended.stdout


def test_a_failed_tree_counts_as_one_that_does_not_match():
    gold = "(S (NP (DT a) (NN dog)) (VP (VBZ runs)))"
    row = score_parser("one", "trees", [gold] * 4, [gold, gold, gold, ""])
    assert (row.failed, row.trees, row.complete) == (1, 4, 75.0)


def test_section_23_is_so_called_and_comparable_unless_training_trees_are_ones_own(bank, penn):
    for train_trees, is_comparable in ((None, True), (bank / "train.trees", False)):
        trees = choose_trees(
            by_name("table4/wsj"), train_trees, bank / "dev.trees", penn, needs_training=False
        )
        assert (trees.test_set, trees.is_comparable) == ("WSJ section 23", is_comparable)


def test_a_test_set_whose_name_is_no_utf_8_has_a_report(parser, bank, tmp_path):
    test = tmp_path / os.fsdecode(b"caf\xe9.trees")
    shutil.copy(bank / "test.trees", test)
    reproduce.table4(tmp_path / "out", test=test, model=parser, baselines=False)
    assert "caf\\udce9.trees" in (tmp_path / "out/table4.md").read_text("utf-8")
    found = json.loads((tmp_path / "out/table4.json").read_bytes())
    assert found["test_set"] == str(test)
