"""transduce tag: sentences in, a token, a tab and its label a line out."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from tests.cli.treebank import TINY, train, write_treebank

from transduce.text.tags import read_tagged

SENTENCES = "the dog saw a bank .\n\nAcme sold\n"


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_treebank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def tagger(bank):
    return train(bank, "gum-pos", "pos")


@pytest.fixture(scope="module")
def chunker(bank):
    return train(bank, "gum-chunks", "np")


@pytest.fixture
def tag(call, tagger):
    return lambda *options, text=SENTENCES: call("tag", tagger, *options, stdin=text.encode())


def read(text):
    """Tokens and labels of each sentence."""
    return [[line.split("\t") for line in one.splitlines()] for one in text.split("\n\n") if one]


def test_a_token_and_its_label_a_line_out_and_a_blank_line_after_each_sentence(tag):
    ended = tag()
    assert (ended.code, ended.stderr) == (0, "")
    lines = [line.split("\t")[0] for line in ended.stdout.split("\n")]
    assert lines == ["the", "dog", "saw", "a", "bank", ".", "", "", "Acme", "sold", "", ""]
    assert all(len(line.split("\t")) == 2 for line in ended.stdout.split("\n") if line)


def test_the_output_is_a_file_that_training_and_score_read(call, tagger, bank, tmp_path):
    ended = call("tag", tagger, bank / "dev.txt", "-o", tmp_path / "out", "--workers", "2")
    assert (ended.code, ended.stdout) == (0, "")
    gold, ours = list(read_tagged(bank / "dev.pos")), list(read_tagged(tmp_path / "out"))
    assert [one.tokens for one in ours] == [one.tokens for one in gold]
    score = call("score", "--spans", "--scheme", "raw", bank / "dev.pos", tmp_path / "out")
    assert score.code == 0
    evaluated = call("evaluate", tagger, bank / "dev.pos", "-o", tmp_path / "same").stdout
    assert (tmp_path / "same").read_bytes() == (tmp_path / "out").read_bytes()
    right = [a == b for x, y in zip(gold, ours, strict=True)
             for a, b in zip(x.labels, y.labels, strict=True)]  # fmt: skip
    assert evaluated.startswith(f"accuracy {100 * sum(right) / len(right):.2f} | ")


def test_json_is_an_object_a_sentence(tag):
    rows = [json.loads(line) for line in tag("--json").stdout.splitlines()]
    assert [row["line"] for row in rows] == [1, 2, 3]
    assert rows[0]["tokens"] == ["the", "dog", "saw", "a", "bank", "."]
    assert [len(row["labels"]) for row in rows] == [6, 0, 2]
    assert rows[0]["log_prob"] < 0


def test_raw_text_is_tokenised_on_request(tag):
    (sentence,) = read(tag("--tokenise", text="He didn't.\n").stdout)
    assert [token for token, _ in sentence] == ["He", "did", "n't", "."]


def test_raw_text_that_is_not_tokenised_is_noted(tag):
    assert "line 1 ends in 'dog.'" in tag(text="The dog.\n").stderr
    assert tag("--quiet", text="The dog.\n").stderr == ""


def test_without_constraints_there_is_still_one_label_a_token_and_repairs_are_counted(tag):
    ended = tag("--unconstrained", "--extra-length", "5")
    assert [len(one) for one in read(ended.stdout.replace("\n\n\n", "\n\n"))] == [6, 2]
    *each, total = ended.stderr.splitlines()
    assert all(one.endswith("tokens, repaired") for one in each)
    assert total.endswith("malformed outputs: repaired")


def test_a_sentence_too_long_is_labelled_in_parts_with_a_warning(tag):
    text = "dog " * 300 + "\nthe dog\n"
    ended = tag(text=text)
    assert [len(one) for one in read(ended.stdout)] == [300, 2]
    assert ended.stderr.splitlines()[1] == (
        "warning: 1 line is longer than the model takes: labelled in parts, joined again; "
        "--strict refuses such lines"
    )
    assert tag("--strict", text=text).code == 2


def test_labels_of_spans_are_valid_and_scored_as_spans(call, chunker, bank):
    ended = call("tag", chunker, bank / "test.txt")
    for sentence in read(ended.stdout):
        labels = ["O", *(label for _, label in sentence)]
        assert ("O", "I-NP") not in pairwise(labels)
    evaluated = call("evaluate", chunker, bank / "test.np").stdout.splitlines()
    assert [line.split()[0] for line in evaluated] == ["span", "accuracy", "perplexity"]


def test_an_evaluation_counts_gold_labels_that_training_lacked(call, tagger, bank, tmp_path):
    gold = (bank / "test.pos").read_text()
    (tmp_path / "gold").write_text(gold.replace("\tNN\n", "\tNEW\n", 2))
    found = json.loads(call("evaluate", tagger, tmp_path / "gold", "--json").stdout)
    assert found["unknown_labels"] == {"NEW": 2}
    assert "2 gold labels that training lacked, each an error: NEW 2" in (
        call("evaluate", tagger, tmp_path / "gold").stdout
    )


def test_an_evaluation_has_the_most_frequent_label_of_each_token_beside_it(
    call, tagger, bank, tmp_path
):
    rows = [line.split("\t") for line in (bank / "train.pos").read_text().splitlines() if line]
    usual = Counter(label for _, label in rows).most_common(1)[0][0]
    gold = (bank / "test.pos").read_text() + "unseen\tNN\nunheard\tVB\n\n"
    (tmp_path / "gold").write_text(gold)
    tests = [line.split("\t") for line in gold.splitlines() if line]
    right = 0
    for token, label in tests:
        found = Counter(tag for word, tag in rows if word == token)
        right += label == (found.most_common(1)[0][0] if found else usual)
    command = ["evaluate", tagger, tmp_path / "gold", "--baseline", bank / "train.pos"]
    (score,) = json.loads(call(*command, "--json").stdout)["baseline"]
    assert (score["name"], score["value"]) == ("accuracy", pytest.approx(100 * right / len(tests)))
    line = f"most frequent label of each token: accuracy {score['value']:.2f} | "
    assert call(*command).stdout.splitlines()[1].startswith(line)


def test_a_fetched_treebank_is_the_baseline_by_its_training_split(call, tagger, bank, monkeypatch):
    splits = []

    def find(_name, split, _cache):
        splits.append(split)
        return bank / f"{split}.pos"

    monkeypatch.setattr("transduce.inference.evaluate.find_treebank_file", find)
    for name in ("gum-pos", "gum-pos:dev"):
        ended = call("evaluate", tagger, bank / "test.pos", "--baseline", name)
        assert "most frequent label of each token: accuracy " in ended.stdout
    assert splits == ["train", "dev"]


@pytest.mark.parametrize(
    ("baseline", "fact"),
    [("nowhere", "nowhere is neither a file nor a treebank"), ("", "--baseline is empty")],
)
def test_a_baseline_is_of_tagged_text(call, tagger, bank, baseline, fact):
    ended = call("evaluate", tagger, bank / "test.pos", "--baseline", baseline)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {fact}")


def test_a_label_too_few_is_refused_with_its_line(call, tagger, bank, tmp_path):
    lines = (bank / "dev.tags").read_text().splitlines()
    (tmp_path / "tags").write_text("\n".join([lines[0], lines[1][3:], *lines[2:]]) + "\n")
    ended = call("likelihood", tagger, bank / "dev.txt", tmp_path / "tags")
    assert ended.code == 2
    assert ended.stderr.startswith("error: line 2: ")
    assert " labels for " in ended.stderr


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("a\nb\n", "pos, line 1: 1 column, not 2\nhint: each line is a token, one tab"),
        ("a\tX\nb\n", "pos, line 2: 1 column, not 2"),
        ("a\t\n", "pos, line 1: an empty label"),
        ("a\tX\tY\n", "pos, line 1: 3 columns, not 2"),
        ("", "the text is empty"),
    ],
)
def test_a_bad_file_of_labels_is_one_sentence_with_its_place(call, tmp_path, content, error):
    (tmp_path / "pos").write_text(content)
    ended = call("train", "gum-pos", "--tags", tmp_path / "pos", *TINY, "-o", tmp_path / "run")
    assert ended.code == 2
    assert error in ended.stderr
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["craft", "--tags"], "is for another task, and the recipe is for parsing\nhint: name"),
        (["gum-pos", "--trees"], "is for another task, and the recipe is for tagging\nhint: name"),
        (["tiny", "--dev-tags", "x", "--tags"], "error: train: "),
        (["tiny", "--tags"], "is for another task, and the recipe is for translation\nhint: na"),
        (["gum-pos", "--silver", "x", "--tags"], "--silver needs --trees\nhint: "),
        (["gum", "--silver-ratio", "2", "--trees"], "--silver-ratio needs --silver\nhint: "),
        (["gum-pos", "--trees", "x", "--tags"], "--tags and --trees name the text twice"),
    ],
)
def test_files_of_another_task_are_refused_before_anything_is_written(
    call, bank, tmp_path, options, error
):
    ended = call("train", *options, bank / "dev.pos", "-o", tmp_path / "run")
    assert ended.code == 2
    assert error in ended.stderr
    assert not (tmp_path / "run").exists()


def test_a_language_which_no_score_of_labels_reads_is_refused(call, tagger, bank):
    ended = call("evaluate", tagger, bank / "dev.pos", "--language=de")
    assert (ended.code, "a language is for scores of text" in ended.stderr) == (2, True)
