"""transduce likelihood: a line of scores for a pair of lines."""

import json

import pytest
from tests.cli.language import write


@pytest.fixture
def files(tmp_path):
    """Three lines and what might be their translations."""
    source = write(tmp_path / "a", ["the dog", "a cat sees.", ""])
    return source, write(tmp_path / "b", ["god eht", "sees", ""])


def test_a_line_of_score_and_log_probability_for_each_pair(call, babbler, files):
    ended = call("likelihood", babbler, *files)
    assert (ended.code, ended.stderr) == (0, "")
    rows = [row.split("\t") for row in ended.stdout.split("\n")[:-1]]
    assert [row[2] for row in rows] == ["god eht", "sees", ""]
    assert all(float(row[1]) < float(row[0]) < 0 for row in rows[:2])


def test_a_file_holds_what_is_printed_and_may_not_be_one_that_is_read(
    call, babbler, files, tmp_path
):
    printed = call("likelihood", babbler, *files).stdout
    ended = call("likelihood", babbler, *files, "-o", tmp_path / "out")
    assert (ended.code, ended.stdout, ended.stderr) == (0, "", "")
    assert (tmp_path / "out").read_text() == printed
    assert call("likelihood", babbler, *files, "-o", files[0]).code == 2
    assert files[0].read_text() == "the dog\na cat sees.\n\n"


def test_json_holds_the_same(call, babbler, files):
    rows = [row.split("\t") for row in call("likelihood", babbler, *files).stdout.splitlines()]
    ended = call("likelihood", babbler, *files, "--json")
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["line"] for one in found] == [1, 2, 3]
    assert [f"{one['score']:.4f}" for one in found] == [row[0] for row in rows]
    assert [f"{one['log_prob']:.4f}" for one in found] == [row[1] for row in rows]


@pytest.mark.parametrize("options", [(), ("--penalty=reward", "--gamma=2")])
def test_an_own_output_has_the_scores_that_the_search_gave_it(call, made, tmp_path, options):
    """Where the text leads back to the pieces that were found."""
    source = write(tmp_path / "a", ["the dog", "a cat sees.", "who runs now"])
    said = call("translate", made / "model", source, "--beam=1", "--nbest=1", "--json", *options)
    outputs = [json.loads(line)["outputs"][0] for line in said.stdout.splitlines()]
    target = write(tmp_path / "b", [one["text"] for one in outputs])
    ended = call("likelihood", made / "model", source, target, "--json", *options)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["score"] for one in found] == pytest.approx(
        [one["score"] for one in outputs], abs=1e-4
    )


def test_the_penalty_can_be_chosen(call, babbler, files):
    none = call("likelihood", babbler, *files, "--penalty=none").stdout.splitlines()
    assert all(row.split("\t")[0] == row.split("\t")[1] for row in none)
    flat = call("likelihood", babbler, *files, "--alpha=0").stdout.splitlines()
    assert flat == none
    rewarded = call("likelihood", babbler, *files, "--penalty=reward", "--gamma=2")
    for row, plain in zip(rewarded.stdout.splitlines(), none, strict=True):
        symbols = (float(row.split("\t")[0]) - float(plain.split("\t")[0])) / 2
        assert symbols == pytest.approx(round(symbols), abs=1e-4)
        assert symbols > 0.5


def test_a_model_twice_finds_what_it_finds_alone(call, babbler, files):
    alone = call("likelihood", babbler, *files).stdout.splitlines()
    twice = call("likelihood", babbler, *files, "--ensemble", babbler).stdout.splitlines()
    for ours, theirs in zip(alone, twice, strict=True):
        assert float(ours.split("\t")[1]) == pytest.approx(float(theirs.split("\t")[1]), abs=2e-4)


def test_files_of_other_counts_are_refused(call, babbler, files, tmp_path):
    short = write(tmp_path / "c", ["one"])
    ended = call("likelihood", babbler, files[0], short)
    assert ended.code == 2
    assert f"{files[0]} has 3 lines, but {short} has 1\nhint: line i of one file" in ended.stderr


def test_a_pair_that_is_too_long_has_nan_and_a_warning_and_the_others_their_scores(
    call, babbler, files, tmp_path
):
    long = write(tmp_path / "c", ["god eht", "x" * 400, ""])
    ended = call("likelihood", babbler, files[0], long)
    scores = call("likelihood", babbler, *files).stdout.splitlines()
    assert ended.code == 0
    assert ended.stdout.splitlines() == [scores[0], f"nan\tnan\t{'x' * 400}", scores[2]]
    warning, count = ended.stderr.splitlines()
    assert warning.startswith("warning: line 2: a target of 401 pieces, and this model takes ")
    assert count.startswith("warning: 1 line is longer than the model takes: not scored (nan)")
    ended = call("likelihood", babbler, files[0], long, "--json")
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert found[1] == {"line": 2, "text": "x" * 400, "score": None, "log_prob": None}


def test_a_pair_that_is_too_long_is_refused_if_strict(call, babbler, files, tmp_path):
    long = write(tmp_path / "c", ["a", "x" * 400, "b"])
    ended = call("likelihood", babbler, files[0], long, "--strict")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: line 2: a target of 401 pieces, and this model takes ")


def test_standard_input_cannot_be_both(call, babbler):
    ended = call("likelihood", babbler, "-", "-")
    assert ended.code == 2
    assert ended.stderr == (
        "error: standard input can be one of the files only\nhint: name the other\n"
    )
