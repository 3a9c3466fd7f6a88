"""transduce score --brackets: trees to figures."""

import json

import pytest

from transduce.scores.brackets.report import score_brackets
from transduce.scores.files import compare_trees, score_trees

GOLD = [
    "(TOP (S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .)))",
    "(TOP (S (NP (PRP it)) (VP (VBZ runs))))",
]
OUTPUT = [GOLD[0].replace("(. .)", "(XX .)"), "(TOP (S (NP (PRP it)) (NP (VBZ runs))))"]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "gold", GOLD), write(tmp_path / "output", OUTPUT)


def read_rows(text):
    """The numbers of each row of the printed table."""
    rows = (line.rsplit(maxsplit=2) for line in text.splitlines()[1:])
    return {name.strip(): (every, short) for name, every, short in rows}


def test_both_summaries_and_what_failed(call, files):
    ended = call("score", "--brackets", "--cutoff", "4", *files)
    assert ended.code == 0
    assert ended.stdout.splitlines()[0].split() == ["COLLINS", "all", "<=", "4", "words"]
    rows = read_rows(ended.stdout)
    assert rows["sentences"] == ("2", "1")
    assert rows["failed"] == ("1", "0")
    assert rows["F1 of EVALB"] == ("66.67", "66.67")
    assert rows["F1, failed and skipped counted"] == ("40.00", "66.67")
    assert rows["tagging accuracy"] == ("100.00", "100.00")
    assert ended.stderr == (
        "  line 1 : Length unmatch (4|5)\n  EVALB deletes punctuation by its tag: try --gold-tags\n"
    )


def test_gold_tags_make_up_for_an_output_without_tags(call, files):
    ended = call("score", "--brackets", "--gold-tags", *files)
    rows = read_rows(ended.stdout)
    assert rows["failed"] == ("0", "0")
    assert rows["F1 of EVALB"] == rows["F1, failed and skipped counted"] == ("85.71", "85.71")
    assert "tagging accuracy" not in rows
    assert ended.stderr == ""


def test_a_treebank_s_own_file_is_cleaned_on_request(call, files, tmp_path):
    raw = tmp_path / "raw.mrg"
    subject = "(NP-SBJ-1 (NNP John))\n      (NP-TMP (-NONE- *T*-1))"
    raw.write_text(
        f"( (S {subject}\n (VP (VBZ has) (NP (DT a) (NN dog))) (. .)) )\n((S (-NONE- *)))\n"
        "(ROOT (S (NP-SBJ (PRP it)) (VP (VBZ runs))))\n",
        encoding="utf-8",
    )
    expected = call("score", "--brackets", "--gold-tags", *files)
    ended = call("score", "--brackets", "--gold-tags", "--clean", raw, files[1])
    assert (ended.code, ended.stdout, ended.stderr) == (0, expected.stdout, "")
    assert score_trees(raw.read_text().split("\n"), files[1], gold_tags=True, clean=True) == (
        score_trees(*files, gold_tags=True)
    )
    both = ["--against", files[0], "--gold-tags", "--samples", "50"]
    compared = call("score", "--brackets", raw, files[1], *both, "--clean")
    assert compared.stdout == call("score", "--brackets", *files, *both).stdout
    refused = call("score", "--brackets", raw, files[1])
    assert refused.code == 2


def test_exchanged_files_are_refused_where_that_shows(call, files, tmp_path):
    gold, output = files
    failed = write(tmp_path / "failed", [OUTPUT[0], ""])
    traced = write(tmp_path / "traced", [GOLD[0].replace("(. .)", "(. .) (-NONE- *T*-1)"), GOLD[1]])
    assert call("score", "--brackets", gold, failed).code == 0
    assert call("score", "--brackets", traced, output).code == 0
    for wrong, fact in (
        ((failed, gold), "line 2: the output has a tree, and the gold file has none"),
        ((output, traced), "the output has traces (-NONE-), and the gold has none"),
        ((output, output, "--against", traced), "the output has traces (-NONE-), and the gold"),
    ):
        ended = call("score", "--brackets", *wrong)
        assert (ended.code, ended.stdout) == (2, "")
        assert ended.stderr.startswith(f"error: {fact}")
        assert "gold trees come first" in ended.stderr


def test_the_table_is_evalb_s(call, files):
    ended = call("score", "--brackets", "--table", "--parameters=new", *files)
    assert ended.stdout == score_trees(*files, parameters="new").as_text() + "\n"
    assert "-- len<=40 --" in ended.stdout


def test_plain_text_has_no_brackets(call, files, tmp_path):
    plain = write(tmp_path / "plain", ["A dog runs.", ""])
    refused = call("score", "--metric=brackets", plain, files[0])
    assert refused.stderr == "error: the output: no line holds a tree\nhint: a leaf is (TAG word)\n"
    assert "the reference: no" in call("score", "--metric=brackets", files[0], plain).stderr


def test_the_report_as_json(call, files):
    found = json.loads(call("score", "--brackets", "--json", *files).stdout)
    assert found["all"] == score_brackets(GOLD, OUTPUT).every_sentence.as_json()
    assert [one["status"] for one in found["sentences"]] == [1, 0]
    assert found["messages"] == ["1 : Length unmatch (4|5)"]
    assert (found["parameters"]["name"], found["tags"]) == ("COLLINS", "output")


def test_outer_brackets_without_a_label_are_said_to_count(call, files, tmp_path):
    raw = write(tmp_path / "raw", [GOLD[0].replace("(TOP ", "( "), GOLD[1]])
    ended = call("score", "--brackets", raw, files[0])
    assert read_rows(ended.stdout)["gold brackets"] == ("8", "8")
    assert read_rows(ended.stdout)["output brackets"] == ("7", "7")
    assert ended.stderr == (
        "  EVALB counts outer brackets without a label, 1 gold and 0 of the output;"
        " it does not count (TOP ...). --clean removes the gold ones\n"
    )
    swapped = call("score", "--brackets", files[0], raw)
    assert "0 gold and 1 of the output; it does not count (TOP ...)\n" in swapped.stderr


def test_where_evalb_gives_up_all_sentences_are_scored_and_it_is_said(call, tmp_path):
    gold = write(tmp_path / "gold", ["(NP (NN a))"] * 14)
    output = write(tmp_path / "output", ["(NP (NN b))"] * 12 + ["(NP (NN a))"] * 2)
    ended = call("score", "--brackets", gold, output)
    assert read_rows(ended.stdout)["sentences"] == ("14", "14")
    lines = ended.stderr.splitlines()
    assert lines[9:] == [
        "  line 10 : Words unmatch (a|b)",
        "  and 2 messages more",
        "  EVALB itself ends at line 12 without a summary: MAX_ERROR is 10",
    ]


def test_two_parsers_are_compared(call, files, tmp_path):
    other = write(tmp_path / "other", GOLD)
    options = ("--gold-tags", "--samples=50", "--seed=3", "--json")
    ended = call("score", "--brackets", *files, "--against", other, *options)
    found = compare_trees(files[0], (files[1], other), gold_tags=True, samples=50, seed=3)
    assert json.loads(ended.stdout) == json.loads(json.dumps(found.as_json()))
    refused = call("score", "--brackets", *files, "--against", other, "--table")
    assert refused.stderr.startswith("error: --table is of one output, and --against compares two")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--spans"], "error: --brackets and --spans are of different files"),
        (["--metric=ter"], "error: --metric is for text, without --brackets"),
        (["--scheme=raw"], "error: --scheme needs --spans"),
        (["--parameters=COLLIN"], "error: unknown parameters 'COLLIN'\nhint: did you mean COLLINS"),
        (["--cutoff=0"], "error: invalid value for '--cutoff': 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(call, files, arguments, message):
    ended = call("score", "--brackets", *files, *arguments)
    assert ended.code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith(message)


def test_options_of_trees_need_brackets(call, files):
    assert call("score", *files, "--gold-tags").stderr == "error: --gold-tags needs --brackets\n"
    three = call("score", "--brackets", *files, files[0])
    assert three.stderr.startswith("error: --brackets takes two files, GOLD and OUTPUT")


def test_files_without_trees_or_of_other_lengths_are_refused(call, files, tmp_path):
    plain = write(tmp_path / "plain", ["hello", "world"])
    ended = call("score", "--brackets", files[0], plain)
    assert (ended.code, ended.stderr) == (
        2,
        f"error: {plain}: no line holds a tree\nhint: a leaf is (TAG word)\n",
    )
    short = write(tmp_path / "short", OUTPUT[:1])
    ended = call("score", "--brackets", files[0], short)
    assert ended.stderr.startswith("error: an output has 1 lines, and its reference 2")
