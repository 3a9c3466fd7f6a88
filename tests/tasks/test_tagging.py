"""Tagging as a task: one label for each token, in the scheme of the labels."""

import itertools

import pytest

from transduce.errors import InputError
from transduce.search.constraints import LabelKind
from transduce.settings import Data, Search
from transduce.tasks import build_task
from transduce.tasks.tagging import TAGGING
from transduce.vocabulary import BEGIN, END
from transduce.vocabulary.learn import learn_closed_list, learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

LABELS = ["B-NP", "I-NP", "I-VP", "O"]


def build(scheme, labels=LABELS):
    data = Data(task="tagging", label_scheme=scheme, shared_vocabulary=False, vocabulary_size=300)
    source, target = learn_vocabulary(["a b"] * 3, 258), learn_closed_list([labels])
    return build_task(data, Vocabularies(source, target, None))


@pytest.fixture
def task():
    return build("bio")


def test_labels_are_encoded_and_come_back(task):
    (ids,) = task.encode_targets(["B-NP I-NP O"])
    assert ids[-1] == END
    assert task.decode(ids[:-1], "the dog barks") == "B-NP I-NP O"
    assert task.find_fault(ids[:-1], "the dog barks") == ""


def test_a_label_that_training_lacked_cannot_be_encoded(task):
    assert task.encode_targets(["B-NP B-XX"]) == [None]


@pytest.mark.parametrize(
    ("found", "repaired"),
    [("O", "O O O"), ("B-NP O", "B-NP O O"), ("O O O B-NP", "O O O"), ("", "O O O")],
)
def test_an_output_of_another_length_is_repaired_and_told(task, found, repaired):
    (ids,) = task.encode_targets([found])
    assert task.decode(ids[:-1], "a b c") == repaired
    count = len(found.split())
    assert task.find_fault(ids[:-1], "a b c") == f"{count} labels for 3 tokens, repaired"


@pytest.mark.parametrize(
    ("scheme", "metrics", "name"),
    [
        ("bio", ("spans", "accuracy"), "span F1"),
        ("iob1", ("spans", "accuracy"), "span F1"),
        ("raw", ("spans-raw", "accuracy"), "span F1"),
    ],
)
def test_the_scheme_decides_how_labels_are_scored(scheme, metrics, name):
    task = build(scheme)
    assert task.metrics == metrics
    score = task.score(["B-NP I-NP O"], ["B-NP I-NP O"])
    assert (score.name, score.value) == (name, 100)
    assert task.score(["O O O"], ["B-NP I-NP O"]).value == 0


def test_raw_labels_without_one_for_outside_are_scored_token_by_token():
    task = build("raw", ["DT", "NN", "VBD"])
    assert task.metrics == ("accuracy",)
    assert task.score(["NN NN VBD NN"], ["DT NN VBD NN"]).value == 75


def test_in_bio_a_label_inside_a_span_may_only_follow_its_span(task):
    symbols = task.label_symbols
    kinds = dict(zip(LABELS, symbols.kinds[BEGIN + 1 :], strict=True))
    types = dict(zip(LABELS, symbols.entities[BEGIN + 1 :], strict=True))
    assert kinds["I-NP"] is LabelKind.INSIDE
    assert types["I-NP"] == types["B-NP"] != types["O"]
    assert {kinds["B-NP"], kinds["O"]} == {LabelKind.FREE}
    assert kinds["I-VP"] is LabelKind.FREE  # no B-VP was ever seen: the data are not strict


def test_raw_labels_are_free(task):
    for scheme in ("raw", "iob1"):
        assert set(build(scheme).label_symbols.kinds[BEGIN + 1 :]) == {LabelKind.FREE}
    assert task.constraint("a  b", Search()).words == 2


def test_tokens_are_what_ascii_blanks_separate(task):
    assert task.normalise(" 5\u00a0mg \t dog ") == "5\u00a0mg dog"
    whole, level = task.split_levels
    assert whole.split("5\u00a0mg dog") == ["5\u00a0mg dog"]
    assert level.split("5\u00a0mg dog") == ["5\u00a0mg", "dog"]
    assert task.join(["O O", "B-NP"]) == "O O B-NP"
    assert task.parse_output("O B-NP") == ["O", "B-NP"]


def test_as_many_labels_as_tokens_belong_together():
    for tokens, count in itertools.product(range(1, 4), range(1, 4)):
        found = TAGGING.find_mismatch(" ".join("t" * tokens), " ".join("O" * count))
        assert bool(found) == (tokens != count)


SCHEMES = {
    "raw": ["DT NN VBD", "PRP VBD O"],
    "bio": ["B-NP I-NP O B-NP", "B-NP O I-NP"],  # a stray I-NP is a fault of the annotation
    "iob1": ["I-NP I-NP O I-NP B-NP", "I-VP O I-NP"],
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scheme_is_read_from_the_labels_and_its_labels_are_allowed(scheme):
    lines = SCHEMES[scheme]
    assert TAGGING.infer_settings(("", line) for line in lines) == {"data.label_scheme": scheme}
    assert list(TAGGING.check_targets(Data(task="tagging", label_scheme=scheme), lines)) == lines
    assert list(TAGGING.check_targets(Data(task="tagging"), lines)) == lines  # raw allows all


@pytest.mark.parametrize(
    ("scheme", "labels", "fact"),
    [
        ("bio", "raw", "sentence 1: the label 'DT' is not O, B-… or I-…, as in the scheme bio"),
        ("iob1", "raw", "sentence 1: the label 'DT' is not O, B-… or I-…, as in the scheme iob1"),
        ("bio", "iob1", "4 of 5 spans begin with I-…, and in the scheme bio each begins with B-…"),
    ],
)
def test_labels_that_do_not_fit_the_scheme_are_refused_with_what_train_takes(scheme, labels, fact):
    data = Data(task="tagging", label_scheme=scheme)
    with pytest.raises(InputError) as refusal:
        list(TAGGING.check_targets(data, SCHEMES[labels]))
    assert refusal.value.fact == fact
    assert f"data.label_scheme={labels}" in refusal.value.hint
