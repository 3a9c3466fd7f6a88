"""transduce score: files to figures."""

import gzip
import json
import re
import shlex

import pytest

from transduce.scores.sacrebleu_scorers import SacreBleuScorer
from transduce.scores.score import Result
from transduce.scores.scoring import compare_outputs, compute_score

OURS = ["The dog runs .", "A red house stands there .", "We drink coffee .", "It is late ."]
THEIRS = ["The dog runs .", "A red house stands here .", "We are drinking coffee .", "It is late ."]
OTHERS = ["The dog ran .", "One red house stands there .", "We drink coffee .", "It is late now ."]

NAMELESS = "test set of sha256 209679bb87c2 | 4 lines"


@pytest.fixture
def files(tmp_path):
    for name, lines in {"ours": OURS, "theirs": THEIRS, "others": OTHERS}.items():
        text = "".join(line + "\n" for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "theirs.gz").write_bytes(gzip.compress((tmp_path / "theirs").read_bytes()))
    return tmp_path


def test_a_line_for_each_score(call, files):
    ended = call("score", files / "ours", files / "theirs")
    assert ended.code == 0
    first, *others = [str(compute_score(m, OURS, THEIRS)) for m in ("bleu", "chrf", "ter")]
    shorter = [line.replace(NAMELESS, "the same 4 lines") for line in others]
    assert NAMELESS in first
    assert ended.stdout.splitlines() == [first, *shorter]


def test_one_score_as_json(call, files):
    ended = call("score", "--metric", "bleu", "--json", files / "ours", files / "theirs.gz")
    score = json.loads(ended.stdout)
    assert score["value"] == compute_score("bleu", OURS, THEIRS).value
    assert score["signature"].startswith("nrefs:1|case:mixed|")
    assert score["lines"] == 4


@pytest.mark.parametrize("language", ["chinese", "\x1b[31mde", "\udcff", "d", "ſl"])
def test_a_language_is_a_code(call, files, model, language):
    score, evaluate = ("score", "--metric=bleu"), ("evaluate", model)
    for command in (score, evaluate):
        ended = call(*command, files / "ours", files / "theirs", "--language", language)
        assert (ended.code, ended.stdout) == (2, "")
        assert ended.stderr.startswith("error: language must be a code such as de, not '")


def test_several_references_count_together(call, files):
    ended = call("score", "--metric=bleu", files / "ours", files / "theirs", files / "others")
    assert ended.stdout == f"{compute_score('bleu', OURS, THEIRS, OTHERS)}\n"
    assert "nrefs:2" in ended.stdout


def test_who_gives_several_references_is_told_how_two_outputs_are_compared(call, files):
    one, other, reference = (files / name for name in ("ours", "others", "theirs"))
    options = ("--metric=bleu", "--samples=40")
    note = call("score", options[0], one, other, reference).stderr
    (words,) = re.findall(r"transduce (score .+) compares", note)
    compared = call("score", *options, one, reference, "--against", other)
    assert call(*shlex.split(words), *options) == compared
    assert call("score", *options, one, reference, "--against", other).stderr == ""


def test_hypotheses_may_come_from_standard_input(call, files):
    text = (files / "ours").read_bytes()
    ended = call("score", "--metric=ter", "-", files / "theirs", stdin=text)
    assert ended.stdout == f"{compute_score('ter', OURS, THEIRS)}\n"


def test_a_file_may_be_named_by_a_dash(call, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "ours").rename(files / "-")
    ended = call("score", "--metric=ter", "./-", "theirs", "--against", "./-", stdin=b"another\n")
    assert (ended.code, "+0.00" in ended.stdout) == (0, True)


def test_standard_input_can_be_read_once_only(call):
    ended = call("score", "-", "-")
    assert ended.code == 2
    assert ended.stderr == (
        "error: standard input can be one of the files only\nhint: name the others\n"
    )


def test_files_of_other_lengths_are_refused_with_both_counts(call, files):
    (files / "short").write_text("one line\n", encoding="utf-8")
    ended = call("score", files / "ours", files / "short")
    assert ended.code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: an output has 4 lines, and its reference 1\n")


def test_a_missing_file_is_named(call, files):
    ended = call("score", files / "none", files / "theirs")
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {files / 'none'}: cannot be read (No such file")


def test_an_unknown_metric_is_refused_with_those_that_there_are(call, files):
    ended = call("score", "--metric=wmd", files / "ours", files / "theirs")
    assert ended.code == 2
    assert "known: accuracy, bleu, bleu-lc, " in ended.stderr


def test_two_outputs_are_compared_line_by_line_of_the_answer(call, files):
    ended = call(
        "score", "--metric=chrf", files / "ours", files / "theirs", "--against", files / "others"
    )
    found = compare_outputs("chrf", (OURS, OTHERS), THEIRS)
    assert ended.code == 0
    theirs = str(compute_score("chrf", OTHERS, THEIRS)).replace(NAMELESS, "the same 4 lines")
    assert ended.stdout.splitlines() == [
        f"{compute_score('chrf', OURS, THEIRS)} | {files / 'ours'}",
        f"{theirs} | {files / 'others'}",
        str(found),
    ]
    assert str(found).endswith("| paired bootstrap, seed 12345")


def test_a_comparison_as_json_is_one_object_a_score(call, files):
    options = ("--against", files / "others", "--samples=50", "--seed=7", "--json")
    ended = call("score", files / "ours", files / "theirs", *options)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["name"] for one in found] == ["BLEU", "chrF", "TER"]
    assert {(one["samples"], one["seed"]) for one in found} == {(50, 7)}
    assert found[1]["p"] == compare_outputs("chrf", (OURS, OTHERS), THEIRS, samples=50, seed=7).p


def test_the_other_output_may_come_from_standard_input_but_not_both(call, files):
    text = (files / "others").read_bytes()
    names = ("--metric=ter", files / "theirs", "--samples=40", "--against=-")
    assert call("score", files / "ours", *names, stdin=text).code == 0
    assert call("score", "-", *names).stderr.startswith("error: standard input can be one of the")


def test_another_output_of_other_length_is_refused(call, files):
    (files / "short").write_text("one line\n", encoding="utf-8")
    ended = call("score", files / "ours", files / "theirs", "--against", files / "short")
    assert ended.stderr.startswith("error: an output has 1 lines, and its reference 4\n")


def test_draws_without_another_output_are_refused(call, files):
    for option in ("--samples=5", "--seed=7", "--samples=1000"):  # its default
        ended = call("score", files / "ours", files / "theirs", option)
        assert (ended.code, "is for --against" in ended.stderr) == (2, True)


def test_the_paper_s_bleu_wants_german(call, files):
    ended = call("score", "--metric=bleu-paper", files / "ours", files / "theirs")
    assert ended.code == 2
    assert ended.stderr == (
        "error: bleu-paper is for German only, and the language of this text is not given\n"
        "hint: --language de if it is German; --metric bleu is for any language\n"
    )
    (files / "plain").write_text("Er kam zur EU-Kommission.\n", encoding="utf-8")
    (files / "cut").write_text("Er kam zur EU-Kommission .\n", encoding="utf-8")
    names = (files / "plain", files / "cut", "--language", "de", "--metric=bleu-paper")
    assert call("score", *names).stdout.startswith("BLEU-paper 100.00 | test set of sha256 ")


def test_a_figure_on_a_set_of_the_paper_says_whether_it_may_stand_beside_it(call, shared):
    reference = shared / "data/wmt-newstest/newstest2014.en-de.de.gz"
    ended = call("score", "--metric=bleu", reference, reference)
    assert ended.stdout.startswith("BLEU 100.00 | newstest2014 en-de, all 3,003, German | ")
    assert ended.stderr == (
        "  BLEU: not comparable with 27.3 (base) and 28.4 (big) of Table 2: these are on the "
        "shorter edition, 2,737 of the 3,003 lines\n"
    )
    found = json.loads(call("score", "--json", "--metric=bleu", reference, reference).stdout)
    assert f"  BLEU: {found['paper_comparability']}\n" == ended.stderr


def test_that_ter_takes_long_is_said_before_it_is_computed(call, tmp_path, monkeypatch):
    def compute(self, texts):  # noqa: ARG001
        return Result(0.0, {}, "signature")

    monkeypatch.setattr(SacreBleuScorer, "score", compute)
    words = " ".join(map(str, range(400)))
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_text(f"{words}\n" * 50)
    short.write_text("a dog runs\n" * 2_500)
    said = call("score", long, long).stderr
    assert said == (
        "TER alone may take 6 minutes for lines of so many words; "
        "--metric bleu alone leaves it out\n"
    )
    assert "may take 12 minutes" in call("score", long, long, long, "--metric=ter").stderr
    assert call("score", long, long, "--metric=bleu").stderr == ""
    assert call("score", short, short).stderr == ""


def test_a_file_of_pairs_or_of_json_is_told_not_to_be_a_text(call, tmp_path):
    for name, line, told in [("a", "x\ty", "a tab"), ("b", '{"line": 1}', "JSON"), ("c", "x", "")]:
        (tmp_path / name).write_text(f"{line}\n" * 20)
        ended = call("score", tmp_path / name, tmp_path / "a", "--metric=bleu")
        assert (f"{tmp_path / name} is no plain text: " in ended.stderr) == bool(told)
        assert told in ended.stderr
    ended = call("score", tmp_path / "c", tmp_path / "c", "--against", tmp_path / "a")
    assert "a is no plain text: each line has a tab" in ended.stderr


def test_trees_scored_as_text_are_told_of_brackets(call, tmp_path):
    (tmp_path / "trees").write_text("(S (NP (DT a) (NN dog)) (VP (VBZ runs)))\n" * 20)
    (tmp_path / "text").write_text("(a dog) runs\n" * 20)
    said = call("score", tmp_path / "text", tmp_path / "trees", "--metric=bleu").stderr
    assert f"{tmp_path / 'trees'} is no plain text: each line is a tree, which --brackets" in said
    assert f"{tmp_path / 'text'} is no plain text" not in said
    (tmp_path / "text").write_text("(laughs)\n" * 20)
    for metric, file in (("bleu", "text"), ("brackets", "trees"), ("exact-match", "trees")):
        both = (tmp_path / file, tmp_path / file)
        assert "warning" not in call("score", *both, "--metric", metric).stderr


def test_letters_in_a_form_that_matches_no_others_are_told(call, tmp_path):
    lines = {"a": "\u00fcber", "b": "u\u0308ber", "c": "over", "d": "\u202aover\u202c"}
    for name, line in lines.items():
        (tmp_path / name).write_text(f"{line}\n", "utf-8")
    (tmp_path / "e").write_text("o\u00adver\n", "utf-8")
    told_of = {"ab": "b has letters", "bb": "", "ac": "", "cd": "d has invis", "ce": "e has invis"}
    for names, told in told_of.items():
        ended = call("score", *(tmp_path / name for name in names), "--metric=bleu")
        assert ended.stderr.count(f"{tmp_path}/{told}") == (told != "")
