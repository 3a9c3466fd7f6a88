"""The file of a vocabulary: whole and ours, or refused."""

import json

import pytest

from transduce.errors import FolderError
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.kinds import build_byte_pair
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import deserialise, serialise


def test_saved_and_loaded_is_the_same(small):
    assert Vocabulary.from_bytes(small.to_bytes()).to_bytes() == small.to_bytes()


@pytest.mark.parametrize(
    ("kind", "begin"), [("byte-pair", "6c3495d24a9d7cad"), ("word-piece", "fa155d950f6e03c5")]
)
def test_the_form_of_the_file_is_for_ever(kind, begin):
    assert learn_vocabulary(["x"], 258, kind).hash.startswith(begin)


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
    file["pre_tokenizer"]["use_regex" if "use_regex" in file["pre_tokenizer"] else "type"] = False


def other_kind(file):
    file["model"]["type"] = "WordPiece" if file["model"]["type"] == "BPE" else "BPE"


def unknown_kind(file):
    file["model"]["type"] = "Unigram"


def missing_piece(file):
    del file["model"]["vocab"]["er"]


def unknown_letter(file):
    file["model"]["vocab"]["a b"] = len(file["model"]["vocab"])


def ids_of_two_types(file):
    file["model"]["vocab"]["er"] = "300"


def prefix(file):
    file["model"]["continuing_subword_prefix"] = "##"


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
    swapped_ids, special_id, normaliser, other_words, other_kind, unknown_kind, missing_piece,
    unknown_letter, ids_of_two_types, prefix, other_field,
]  # fmt: skip
OF_MERGES = [missing_merge, unknown_symbol, merge_of_three, merge_of_numbers, no_merges]


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_was_edited_is_refused(small, change):
    refuses(small, change)


@pytest.mark.parametrize("change", OF_MERGES)
def test_a_file_whose_merges_were_edited_is_refused(byte_pair, change):
    refuses(byte_pair, change)


def refuses(vocabulary, change):
    file = json.loads(vocabulary.to_bytes())
    change(file)
    with pytest.raises(FolderError, match=r"no vocabulary of transduce, or it is damaged"):
        Vocabulary.from_bytes(json.dumps(file).encode())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ([("<", "s"), ("<s", ">")], "the merge of '<s' and '>' is impossible"),
        ([("Q", "X"), ("Q", "X")], "a merge is listed twice"),
    ],
)
def test_a_file_that_follows_from_merges_that_no_text_gives_is_refused(byte_pair, more, why):
    merges = map(tuple, deserialise(byte_pair.to_bytes()).model["merges"])
    with pytest.raises(FolderError, match=why):
        Vocabulary.from_bytes(serialise(build_byte_pair((*merges, *more))))


@pytest.mark.parametrize("piece", ["", "x", "a b", "naïve€"])
def test_a_file_of_pieces_that_are_none_is_refused(word_piece, piece):
    file = json.loads(word_piece.to_bytes())
    file["model"]["vocab"][piece] = len(file["model"]["vocab"])
    with pytest.raises(FolderError, match=r"is no piece|do not follow"):
        Vocabulary.from_bytes(json.dumps(file).encode())


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
