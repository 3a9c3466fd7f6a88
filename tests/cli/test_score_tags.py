"""transduce score --spans: labels to figures."""

import json

import pytest

from transduce.scores.files import compare_tags, score_tags

GOLD = "The\tB-NP\nold\tI-NP\ndog\tI-NP\nruns\tO\n\nIt\tB-NP\nsleeps\tO\n"
OUTPUT = GOLD.replace("old\tI-NP", "old\tB-NP")


@pytest.fixture
def files(tmp_path):
    for name, text in {"gold": GOLD, "output": OUTPUT}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "gold", tmp_path / "output"


def test_accuracy_and_spans_by_type_and_on_average(call, files):
    ended = call("score", "--spans", *files)
    assert ended.code == 0
    first, second, *table = ended.stdout.splitlines()
    assert first == "accuracy 83.33 | 5 of 6 labels | 2 sentences"
    assert second == "span F1 40.00 | scheme bio"
    assert [line.split() for line in table[1:]] == [
        [name, "33.33", "50.00", "40.00", "2"] for name in ("NP", "micro", "macro", "weighted")
    ]


def test_the_report_as_json(call, files):
    found = json.loads(call("score", "--spans", "--scheme=raw", "--json", *files).stdout)
    assert found == score_tags(*files, scheme="raw").as_json()
    assert found["scheme"] == "raw"


def test_two_taggers_are_compared_by_both_figures(call, files):
    ended = call("score", "--spans", *files, "--against", files[0], "--samples=50", "--json")
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["name"] for one in found] == ["span F1", "accuracy"]
    compared = compare_tags(files[0], (files[1], files[0]), samples=50)
    assert [one["p"] for one in found] == [one.p for one in compared]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOLD.replace("dog", "cat"), "sentence 1, token 3: the output has 'cat', the gold file 'd"),
        (GOLD.replace("sleeps\tO\n", ""), "sentence 2, token 2: the output has 1 tokens, the gold"),
        (GOLD.partition("\n\n")[0], "1 sentences are to be scored, but the gold file has 2"),
        (GOLD.replace("\tO", ""), "{}, line 4: 1 column, not 2"),
        (
            GOLD.replace("I-NP", "NP"),
            "label 'NP' is not O, B-… or I-…\nhint: labels without B",
        ),
        ("", "there are no sentences to score"),
    ],
)
def test_files_that_cannot_be_scored_are_refused(call, files, text, message):
    files[1].write_text(text, encoding="utf-8")
    ended = call("score", "--spans", *files)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {message.format(files[1])}")


def test_tokens_that_look_alike_are_told_apart(call, files):
    files[0].write_text("\u00fcber\tO\n", encoding="utf-8")
    files[1].write_text("u\u0308ber\tO\n", encoding="utf-8")
    ended = call("score", "--spans", *files)
    assert r"the output has 'u\u0308ber', the gold file '\xfcber'" in ended.stderr
