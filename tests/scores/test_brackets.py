"""Scores of trees: equal to EVALB's on 1,736 sentences, and by hand on a few."""

import json
import math
import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce import score_trees
from transduce.errors import InputError
from transduce.scores.brackets.counting import build_bracket_metric
from transduce.scores.brackets.parameters import COLLINS, NEW, UNLABELLED, BracketParameters
from transduce.scores.brackets.report import score_brackets
from transduce.scores.scoring import compare_outputs, compute_score

CASES = [
    *("main.COLLINS", "main.new", "main.unlabeled", "main.cutoff10", "errors.COLLINS"),
    *("errors.new", "quotes.COLLINS", "quotes.new", "cases.COLLINS", "eleven_errors.COLLINS"),
    *("twelve_errors.COLLINS", "gold_longer.COLLINS", "test_longer.COLLINS"),
]
JOHN = "(TOP (S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .)))"
FLAT = "(TOP (S (NNP John) (VBZ has) (DT a) (NN dog) (. .)))"
SUMMARY = {
    "Bracketing Recall": "recall",
    "Bracketing Precision": "precision",
    "Bracketing FMeasure": "f1",
    "Complete match": "complete_match",
    "Tagging accuracy": "tag_accuracy",
    "Number of sentence": "sentences",
    "Number of Error sentence": "errors",
    "Number of Skip  sentence": "skipped",
    "Number of Valid sentence": "valid",
}


def build_parameters(values):
    """The parameters of a fixture, from EVALB's keywords."""
    return BracketParameters(
        "fixture",
        labelled=bool(values["LABELED"]),
        cutoff=values["CUTOFF_LEN"],
        max_errors=values["MAX_ERROR"],
        deleted_labels=tuple(values["DELETE_LABEL"]),
        labels_without_length=tuple(values["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=tuple(values["QUOTE_LABEL"]),
        equal_labels=tuple(map(tuple, values["EQ_LABEL"])),
        equal_words=tuple(map(tuple, values.get("EQ_WORD", []))),
    )


@cache
def read_case(folder, name):
    """A fixture's expected values, and the report on its two files."""
    expected = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    gold, test = (
        (folder / expected[side]).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for side in ("gold", "test")
    )
    return expected, score_brackets(gold, test, build_parameters(expected["params"]))


def print_figures(summary):
    """The figures of a summary by EVALB's names, rounded as it prints them; None for nan."""
    values = {name: round(getattr(summary, ours), 2) for name, ours in SUMMARY.items()}
    return {name: None if math.isnan(value) else value for name, value in values.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_line_sum_message_and_the_exit_status_are_those_of_evalb(facts, name):
    require_all_of_evalb(*read_case(facts / "evalb", name))


def test_every_line_of_evalb_s_own_example_is_scored_as_evalb_does(shared):
    require_all_of_evalb(*read_case(shared / "fixtures/evalb", "sample.sample"))


def require_all_of_evalb(expected, report):
    """Fail unless lines, sums, messages and exit status are those that EVALB gave."""
    counts = ("length", "status", "matched", "gold", "test", "crossing", "words", "correct_tags")
    assert [[getattr(one, key) for key in counts] for one in report.sentences] == [
        [one[key] for key in counts] for one in expected["sentences"]
    ]
    assert list(report.messages) == expected["messages"]
    assert report.exit_status == expected["exit_code"]
    for summary, wanted in [
        (report.all, expected["summary"].get("all")),
        (report.cutoff, expected["summary"].get("cutoff")),
    ]:
        assert (summary is None) == (wanted is None)
        if summary and wanted:
            found = print_figures(summary)
            assert found == {key: wanted[key] for key in found}


@pytest.mark.parametrize("name", CASES)
def test_the_text_has_the_numbers_of_evalb_s_output(facts, name):
    expected, report = read_case(facts / "evalb", name)
    table, _, summaries = report.as_text().partition("=== Summary ===")
    numbers = [line.split() for line in table.split("\n") if re.fullmatch(r" *\d[-\d. ]+", line)]
    printed = [
        [f"{x:.2f}" if isinstance(x, float) else str(x) for x in one.values()]
        for one in expected["sentences"]
    ]
    total = expected["total"] or {}
    totals = [[f"{x:.2f}" if isinstance(x, float) else str(x) for x in total.values()]]
    assert numbers == printed + (totals if total else [])
    values = [float(line.rpartition("= ")[2]) for line in summaries.split("\n") if " = " in line]
    wanted = [x for part in expected["summary"].values() for x in part.values()]
    assert values == pytest.approx([math.nan if x is None else x for x in wanted], nan_ok=True)


def test_the_frozen_parameters_are_those_of_the_fixtures(facts):
    for name, parameters in [("COLLINS", COLLINS), ("new", NEW), ("unlabeled", UNLABELLED)]:
        case = json.loads((facts / f"evalb/main.{name}.json").read_text("utf-8"))
        assert replace(build_parameters(case["params"]), name=parameters.name) == parameters


def test_counts_by_hand():
    report = score_brackets([JOHN], [FLAT])
    (one,) = report.sentences
    # S, NP, VP, NP in the gold tree; TOP and the full stop are deleted
    assert (one.gold, one.test, one.matched, one.crossing) == (4, 1, 1, 0)
    assert (one.length, one.words, one.correct_tags) == (5, 4, 4)
    assert report.all is not None
    assert (report.all.recall, report.all.precision, report.all.f1) == (25.0, 100.0, 40.0)


def test_equal_brackets_are_counted_as_often_as_they_occur():
    (one,) = score_brackets(["(NP (NP (NN x)))"], ["(NP (NN x))"]).sentences
    assert (one.matched, one.gold, one.test) == (1, 2, 1)


def test_only_ascii_blanks_separate():
    line = "(S (NN a\u00a0b) (NN c\u2009d))"
    (one,) = score_brackets([line], [line]).sentences
    assert (one.words, one.gold) == (2, 1)


def test_a_failed_sentence_raises_evalb_s_f1_and_lowers_that_of_all_sentences():
    report = score_brackets([JOHN, JOHN, JOHN], [JOHN, "", JOHN.replace("dog", "cat")])
    assert [one.status for one in report.sentences] == [0, 2, 1]
    assert report.messages == ("3 : Words unmatch (dog|cat)",)
    assert report.all is not None
    assert report.all.f1 == 100.0
    assert (report.all.errors, report.all.skipped, report.all.valid) == (1, 1, 1)
    assert report.all.f1_of_all_sentences == pytest.approx(200 * 4 / (12 + 4))


def test_a_word_outside_of_a_leaf_ends_evalb_but_not_the_score_of_the_others():
    report = score_brackets([JOHN, JOHN, JOHN], [JOHN, "(TOP (S John has))", JOHN])
    assert report.exit_status == 1
    assert len(report.sentences) == 1
    assert report.all is None
    assert report.cutoff is None
    assert report.messages[0] == "2 : More than two elements in a bracket"
    assert report.messages[-1] == "2 : Reading sentence"
    assert len(report.messages) == COLLINS.max_errors + 2
    assert report.every_sentence.f1_of_all_sentences == pytest.approx(200 * 8 / (12 + 8))


def test_a_word_outside_of_a_leaf_gives_no_endless_messages_where_errors_have_no_limit():
    endless = replace(COLLINS, max_errors=999_999_999)
    report = score_brackets([JOHN, JOHN], ["(TOP (S John has))", JOHN], endless)
    assert (report.exit_status, report.sentences) == (1, ())
    assert len(report.messages) < 2_000


def test_there_is_no_limit_on_brackets_words_and_their_lengths():
    deep = "(NP " * 2_000 + f"(NN {'x' * 5_000})" + ")" * 2_000
    wide = f"(S {'(NN x) ' * 2_000})"
    report = score_brackets([deep, wide], [deep, wide])
    assert [one.gold for one in report.sentences] == [2_000, 1]
    assert [one.words for one in report.sentences] == [1, 2_000]


def test_closing_brackets_too_many_fail_the_sentence():
    report = score_brackets(["(NP (NN x))"] * 2, ["(NP (NN x)))", "(NP (NN x))))"])
    assert [one.status for one in report.sentences] == [1, 1]
    assert report.messages == (
        "1 : Bracketing is unbalanced (too many open bracket)",
        "2 : Bracketing unbalance (too many close bracket)",
        "2 : Bracketing is unbalanced (too many open bracket)",
    )


def test_without_a_cut_off_there_is_one_summary():
    report = score_brackets([JOHN], [JOHN], replace(COLLINS, cutoff=None))
    assert report.cutoff is None
    assert "len<=" not in report.as_text()
    assert "-- len<=40 --" in score_brackets([JOHN], [JOHN]).as_text()


LABELS = st.sampled_from(["NP", "VP", "PRT", "ADVP", "S-TPC-1", "X=2"])


def bracket(children):
    """A constituent over one to three children."""
    return st.builds(
        lambda label, parts: f"({label} {' '.join(parts)})",
        LABELS,
        st.lists(children, min_size=1, max_size=3),
    )


LEAVES = st.sampled_from(["(NN x)", "(VB y)", "(-LRB- -LRB-)", "(, ,)"])
TREES = bracket(st.recursive(LEAVES, bracket, max_leaves=12)).map(
    lambda tree: f"(S (NN first) {tree})"
)


@settings(max_examples=50)
@given(st.lists(TREES, min_size=1, max_size=5))
def test_trees_against_themselves_are_100(trees):
    for parameters in (COLLINS, NEW, UNLABELLED):
        score = compute_score(build_bracket_metric(parameters), trees, trees)
        assert score.value == 100.0
        assert score.details["matched"] == score.details["gold"] == score.details["test"]


@settings(max_examples=50)
@given(st.lists(st.tuples(TREES, TREES), min_size=1, max_size=6), st.randoms())
def test_the_order_of_sentences_does_not_matter(pairs, random):
    mixed = random.sample(pairs, len(pairs))
    unlimited = replace(COLLINS, max_errors=1_000)
    one, other = (
        score_brackets([a for a, _ in order], [b for _, b in order], unlimited).all
        for order in (pairs, mixed)
    )
    assert repr(one) == repr(other)  # nan is not equal to itself


@settings(max_examples=50)
@given(st.lists(st.tuples(TREES, TREES), min_size=1, max_size=6))
def test_exchanging_the_sides_exchanges_recall_and_precision(pairs):
    gold, test = zip(*pairs, strict=True)
    unlimited = replace(COLLINS, max_errors=1_000)
    ours, theirs = score_brackets(gold, test, unlimited), score_brackets(test, gold, unlimited)
    assert ours.all is not None
    assert theirs.all is not None
    assert (ours.all.recall, ours.all.precision) == (theirs.all.precision, theirs.all.recall)


def test_labels_matter_only_where_they_count():
    other = JOHN.replace("(NP (DT", "(ADJP (DT")
    assert compute_score("brackets-own-tags", [other], [JOHN]).value == 75.0
    assert compute_score(build_bracket_metric(UNLABELLED), [other], [JOHN]).value == 100.0


def test_the_score_carries_its_counts_and_signature():
    score = compute_score("brackets-own-tags", [FLAT, ""], [JOHN, JOHN])
    assert score == compute_score("brackets-own-tags", [FLAT, ""], [JOHN, JOHN])
    assert (score.name, score.lines) == ("bracket F1", 2)
    assert score.value == pytest.approx(200 * 1 / (8 + 1))
    assert score.signature.startswith("params:COLLINS|failed:no match|version:")
    assert score.signature.endswith("|tags:output")
    assert score.details == {
        "recall": 12.5,
        "precision": 100.0,
        "matched": 1,
        "gold": 8,
        "test": 1,
        "failed": 0,
        "skipped": 1,
    }


def test_two_outputs_are_compared_by_sums_over_resampled_sentences():
    gold = [JOHN] * 40
    poor = [FLAT] * 20 + [JOHN] * 20
    found = compare_outputs("brackets", (gold, poor), gold, samples=200)
    assert found.ours.value == 100.0
    assert found.theirs.value == pytest.approx(200 * 100 / (160 + 100))
    assert found.low < found.difference < found.high
    assert found.p < 0.01
    assert compare_outputs("brackets", (poor, poor), gold, samples=40).p == 1.0


@pytest.mark.parametrize("cutoff", ["4", 1.5, True, 0])
@pytest.mark.usefixtures("unchecked_types")
def test_a_cut_off_is_a_number_of_words(cutoff):
    with pytest.raises(InputError, match="a cut-off is a number of words, not"):
        score_trees(["(S (NN a))"], ["(S (NN a))"], cutoff=cutoff)


def test_one_gold_file_is_needed():
    with pytest.raises(InputError, match="brackets are scored against one reference"):
        compute_score("brackets", [JOHN], [JOHN], [JOHN])
    with pytest.raises(InputError, match="an output has 1 lines, and its reference 2"):
        compute_score("brackets-own-tags", [JOHN], [JOHN, JOHN])
