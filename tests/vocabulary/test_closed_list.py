"""Closed lists of labels: lookup, their file, and what is refused in either."""

import json
import pickle

import pytest
from tokenizers import Tokenizer

from transduce.errors import FolderError, InputError
from transduce.vocabulary import BEGIN, Vocabulary
from transduce.vocabulary.learn import learn_closed_list

LABELS = [["(S", "XX", ")S"], ["XX", "(NP", ")NP", "naïve"]]


@pytest.fixture(scope="module")
def labels():
    return learn_closed_list(LABELS)


def test_it_holds_each_label_once_in_alphabetical_order_after_end_and_begin(labels):
    assert list(labels.symbols[BEGIN + 1 :]) == ["(NP", "(S", ")NP", ")S", "XX", "naïve"]
    assert learn_closed_list(reversed(LABELS)).hash == labels.hash


def test_looked_up_labels_decode_to_themselves(labels):
    ids = labels.lookup(["XX", "(NP", "naïve"])
    assert [labels.symbols[number] for number in ids] == ["XX", "(NP", "naïve"]
    assert labels.decode(ids) == "XX (NP naïve "


def test_one_unknown_label_makes_a_line_unknown(labels):
    assert labels.lookup(["XX", "(VP"]) is None
    assert labels.lookup([]) == []


def test_the_file_gives_the_list_again(labels):
    assert Vocabulary.from_bytes(labels.to_bytes()).to_bytes() == labels.to_bytes()
    assert pickle.loads(pickle.dumps(labels)).symbols == labels.symbols


def test_the_library_tokenizers_reads_the_file(labels):
    theirs = Tokenizer.from_str(labels.to_bytes().decode())
    assert theirs.encode("(S XX naïve )S").ids == labels.lookup(["(S", "XX", "naïve", ")S"])
    assert theirs.decode([3, 6, 5]) == "(S XX )S"


def change_id(file):
    file["model"]["vocab"]["XX"] = 99


def empty_label(file):
    vocab = file["model"]["vocab"]
    vocab[""] = len(vocab)


def label_with_blank(file):
    vocab = file["model"]["vocab"]
    vocab["a b"] = len(vocab)


def other_separator(file):
    file["pre_tokenizer"]["pattern"]["String"] = "\t"


def other_kind(file):
    file["model"]["type"] = "WordPiece"


def no_labels(file):
    del file["model"]["vocab"]


@pytest.mark.parametrize(
    "damage", [change_id, empty_label, label_with_blank, other_separator, other_kind, no_labels]
)
def test_a_damaged_file_is_refused(labels, damage):
    file = json.loads(labels.to_bytes())
    damage(file)
    with pytest.raises(FolderError):
        Vocabulary.from_bytes(json.dumps(file).encode())


@pytest.mark.parametrize("label", ["", "a b", "a\tb", "</s>", "<s>"])
def test_what_cannot_be_a_label_is_refused(label):
    with pytest.raises(InputError, match="cannot be a label"):
        learn_closed_list([["good", label]])


def test_no_labels_at_all_are_refused():
    with pytest.raises(InputError, match="no labels"):
        learn_closed_list([])
