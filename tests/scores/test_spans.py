"""Scores of labels: equal to seqeval's on 80 texts, and by hand on a few."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.errors import InputError
from transduce.scores.scoring import compare_outputs, compute_score
from transduce.scores.spans import find_spans, score_spans

AVERAGES = ("micro", "macro", "weighted")


@pytest.fixture
def fixture(facts):
    return json.loads((facts / "tagging/seqeval.json").read_text("utf-8"))


def check_averages(report, wanted):
    found = report.as_json()
    assert sorted(found["types"]) == sorted(wanted["types"])
    for name, average in wanted["types"].items():
        assert found["types"][name] == pytest.approx(average)
    for name in AVERAGES:
        # seqeval's averages over no type are nan, ours 0
        average = {key: x if x == x else 0.0 for key, x in wanted[name].items()}
        assert found[name] == pytest.approx(average)


def listed(sentences, scheme):
    return [[list(span) for span in find_spans(labels, scheme)] for labels in sentences]


@pytest.mark.parametrize(
    ("scheme", "mode", "spans"),
    [
        ("bio", "default", "{}_entities"),
        ("iob1", "default", "{}_entities"),
        ("bio-strict", "strict_iob2", "strict_iob2_{}_entities"),
    ],
)
def test_spans_and_averages_are_those_of_seqeval(fixture, scheme, mode, spans):
    for case in fixture["bio"]:
        for side in ("gold", "pred"):
            assert listed(case[side], scheme) == case[spans.format(side)]
        report = score_spans(case["gold"], case["pred"], scheme)
        assert report.accuracy == pytest.approx(case["accuracy"])
        check_averages(report, case[mode])


def test_runs_of_raw_labels_are_the_fixture_s_and_their_micro_average_seqeval_s(fixture):
    for case in fixture["raw"]:
        assert listed(case["gold"], "raw") == case["gold_runs"]
        assert listed(case["pred"], "raw") == case["pred_runs"]
        report = score_spans(case["gold"], case["pred"], "raw")
        assert report.accuracy == pytest.approx(case["accuracy"])
        check_averages(report, case["runs"])
        assert report.as_json()["micro"] == pytest.approx(case["raw_default"]["micro"])


@pytest.mark.parametrize(
    ("labels", "bio", "strict"),
    [
        ("B-X I-X O", [("X", 0, 1)], [("X", 0, 1)]),
        ("I-X I-X O", [("X", 0, 1)], []),
        ("B-X I-Y I-Y", [("X", 0, 0), ("Y", 1, 2)], [("X", 0, 0)]),
        ("B-X B-X I-X", [("X", 0, 0), ("X", 1, 2)], [("X", 0, 0), ("X", 1, 2)]),
        ("O I-X O B-X", [("X", 1, 1), ("X", 3, 3)], [("X", 3, 3)]),
        ("B I B-A-b", [("_", 0, 1), ("A-b", 2, 2)], [("_", 0, 1), ("A-b", 2, 2)]),
        ("", [], []),
    ],
)
def test_a_stray_i_starts_a_span_but_not_in_strict_mode(labels, bio, strict):
    assert find_spans(labels.split(), "bio") == bio
    assert find_spans(labels.split(), "bio-strict") == strict


def test_e_and_s_end_a_span():
    assert find_spans(["B-X", "E-X", "I-X", "S-X", "S-X", "I-X"], "bio") == [
        *(("X", 0, 1), ("X", 2, 2), ("X", 3, 3), ("X", 4, 4), ("X", 5, 5)),
    ]
    with pytest.raises(InputError, match="the prefix E- is not of the scheme bio-strict"):
        find_spans(["B-X", "E-X"], "bio-strict")


def test_raw_labels_need_their_scheme():
    with pytest.raises(InputError, match="label 'Method' is not O, B-… or I-…"):
        find_spans(["Method"], "bio")
    assert find_spans(["Task", "Task", "Mask", "Mask", "O", "Out", "Out"], "raw") == [
        ("Task", 0, 1),
        ("Mask", 2, 3),
        ("Out", 5, 6),
    ]


def test_an_unknown_scheme_and_labels_that_are_not_parallel_are_refused():
    with pytest.raises(InputError, match="unknown scheme 'iob'"):
        find_spans(["O"], "iob")
    with pytest.raises(InputError, match="1 sentences are to be scored, but the gold labels have"):
        score_spans([["O"], ["O"]], [["O"]])
    with pytest.raises(InputError, match="sentence 2: 2 labels, but 1 in the gold file"):
        score_spans([["O"], ["O"]], [["O"], ["O", "O"]])


LABELS = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])
SENTENCES = st.lists(st.lists(LABELS, min_size=1, max_size=8), min_size=1, max_size=5)


@given(SENTENCES)
def test_labels_against_themselves_are_right(sentences):
    for scheme in ("bio", "bio-strict", "raw"):
        report = score_spans(sentences, sentences, scheme)
        assert report.accuracy == 1.0
        assert {one.f1 for one in report.types.values()} <= {1.0}
        assert report.counts.matched == report.counts.gold == report.counts.output


@given(SENTENCES)
def test_spans_are_in_order_and_apart_and_strict_ones_are_among_the_lenient(sentences):
    for labels in sentences:
        spans = find_spans(labels, "bio")
        assert all(start <= end for _, start, end in spans)
        assert all(a[2] < b[1] for a, b in pairwise(spans))
        covered = {token for _, start, end in spans for token in range(start, end + 1)}
        assert covered == {token for token, label in enumerate(labels) if label != "O"}
        assert set(find_spans(labels, "bio-strict")) <= set(spans)


def test_span_f1_and_accuracy_are_metrics_of_lines_of_labels():
    gold, output = ["B-X I-X O", "O B-Y"], ["B-X I-X O", "B-X B-Y"]
    score = compute_score("spans", output, gold)
    assert score.value == 80.0
    assert score.signature.startswith("scheme:bio|average:micro|version:")
    assert score.details == {
        "recall": 100.0,
        "precision": pytest.approx(200 / 3),
        "matched": 2,
        "gold": 2,
        "output": 3,
    }
    accuracy = compute_score("accuracy", output, gold)
    assert accuracy.value == 80.0
    assert accuracy.details == {"correct": 4, "tokens": 5}
    strict = compute_score("spans-strict", ["I-X"], ["B-X"])
    assert (strict.value, compute_score("spans", ["I-X"], ["B-X"]).value) == (0.0, 100.0)
    assert compute_score("spans-raw", ["NN NN VB"], ["NN VB VB"]).value == 0.0


def test_metrics_of_labels_take_one_reference_of_as_many_labels():
    with pytest.raises(InputError, match="labels are scored against one reference"):
        compute_score("accuracy", ["O"], ["O"], ["O"])
    with pytest.raises(InputError, match="sentence 1: 2 labels, but 1 in the gold file"):
        compute_score("spans", ["O O"], ["O"])


@pytest.mark.parametrize("metric", ["spans", "accuracy"])
def test_two_outputs_are_compared_by_sums_over_resampled_sentences(metric):
    gold = ["B-X O O"] * 40
    poor = ["O O O"] * 20 + ["B-X O O"] * 20
    found = compare_outputs(metric, (gold, poor), gold, samples=200)
    assert found.ours.value == 100.0
    assert found.theirs.value == pytest.approx(200 / 3 if metric == "spans" else 500 / 6)
    assert found.p < 0.01


def test_a_wide_blank_is_part_of_a_label_as_in_a_file():
    assert compute_score("accuracy", ["A\u00a0B O"], ["A\u00a0B O"]).value == 100
