"""The file of a vocabulary: whole and ours, or refused."""

import json

import pytest

from transduce.errors import FolderError
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.file import merges_of, written


def test_saved_and_loaded_is_the_same(small):
    assert Vocabulary.from_bytes(small.to_bytes()).to_bytes() == small.to_bytes()


def test_white_space_between_the_fields_does_not_matter(small):
    pretty = json.dumps(json.loads(small.to_bytes()), indent=2).encode()
    assert Vocabulary.from_bytes(pretty).hash == small.hash


def swapped_ids(file):
    vocab = file["model"]["vocab"]
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]


def special_id(file):
    file["added_tokens"][0]["id"] = 7


def normaliser(file):
    file["normalizer"] = {"type": "Lowercase"}


def other_words(file):
    file["pre_tokenizer"]["use_regex"] = False


def missing_merge(file):
    del file["model"]["merges"][3]


def unknown_symbol(file):
    file["model"]["merges"][0] = ["a", "nowhere"]


def merge_of_three(file):
    file["model"]["merges"][0] = ["a", "b", "c"]


def merge_of_numbers(file):
    file["model"]["merges"][0] = [1, 2]


def no_merges(file):
    del file["model"]["merges"]


def other_field(file):
    file["comment"] = "hello"


CHANGES = [
    swapped_ids, special_id, normaliser, other_words, missing_merge,
    unknown_symbol, merge_of_three, merge_of_numbers, no_merges, other_field,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_was_edited_is_refused(small, change):
    file = json.loads(small.to_bytes())
    change(file)
    with pytest.raises(FolderError, match=r"no vocabulary of transduce, or it is damaged"):
        Vocabulary.from_bytes(json.dumps(file).encode())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ([("<", "s"), ("<s", ">")], "the merge of '<s' and '>' is impossible"),
        ([("Q", "X"), ("Q", "X")], "a merge stands there twice"),
    ],
)
def test_a_file_that_follows_from_merges_that_no_text_gives_is_refused(small, more, why):
    data = written([*merges_of(small.to_bytes()), *more])
    with pytest.raises(FolderError, match=why):
        Vocabulary.from_bytes(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"\x80model", b'{"model": 3}', b"[" * 100_000],
    ids=range(8),
)
def test_what_is_no_vocabulary_is_refused_with_a_way_out(data):
    with pytest.raises(FolderError) as error:
        Vocabulary.from_bytes(data)
    assert "this is no vocabulary of transduce, or it is damaged (" in str(error.value)
    assert "hint: copy the folder again, or learn the vocabulary anew" in str(error.value)


def test_a_file_that_is_cut_anywhere_is_refused(small):
    data = small.to_bytes()
    for end in range(0, len(data), 997):
        with pytest.raises(FolderError):
            Vocabulary.from_bytes(data[:end])
