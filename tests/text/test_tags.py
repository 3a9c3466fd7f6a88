"""Sentences of tokens and labels, from files of two columns and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.errors import InputError
from transduce.text.tags import TaggedSentence, format_tagged, read_tagged


@pytest.fixture(name="read")
def read_bytes(tmp_path):
    """The sentences of a file of the given bytes."""

    def read(content, name="tags.tsv"):
        (tmp_path / name).write_bytes(content)
        return list(read_tagged(tmp_path / name))

    return read


def words(sentences):
    return [" ".join(sentence.tokens) for sentence in sentences]


def test_blank_lines_separate_sentences(read):
    dog, cat = read(b"A\tDT\ndog\tNN\n\nA\tDT\ncat\tNN\n")
    assert (dog.tokens, dog.labels) == (("A", "dog"), ("DT", "NN"))
    assert (cat.tokens, cat.labels) == (("A", "cat"), ("DT", "NN"))


def test_where_blank_lines_separate_a_full_stop_does_not(read):
    assert words(read(b"No\tO\n.\tO\n5\tO\n.\tO\n\nYes\tO\n")) == ["No . 5 .", "Yes"]


def test_without_blank_lines_a_sentence_ends_after_each_full_stop(read):
    content = b"section\tO\n:\tO\nDogs\tO\nbark\tO\n.\tO\n3.5\tO\n%\tO\n.\tO\nand\tO\n"
    assert words(read(content)) == ["section : Dogs bark .", "3.5 % .", "and"]


def test_a_file_of_nothing_or_of_blank_lines_has_no_sentences(read):
    assert read(b"") == read(b"\n \n\n") == []


def test_unicode_blanks_belong_to_the_token(read):
    (sentence,) = read("a\u00a0b\tNN\nc\u2009d\u2028\tNN\n".encode())
    assert sentence.tokens == ("a\u00a0b", "c\u2009d\u2028")


def test_a_sentence_is_yielded_when_the_next_begins(tmp_path):
    path = tmp_path / "tags.tsv"
    path.write_bytes(b"A\tDT\n\n\ndog\tNN\nno label\n")
    sentences = read_tagged(path)
    assert next(sentences).tokens == ("A",)
    with pytest.raises(InputError, match="line 5: 1 column"):
        next(sentences)


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("dog", "1 column, not 2"),
        ("dog NN", "1 column, not 2"),
        ("dog\tNN\tO", "3 columns, not 2"),
        ("dog\t", "an empty label"),
        ("\tNN", "an empty token"),
        ("\t", "an empty token"),
        ("New York\tNNP", "the token 'New York' contains whitespace"),
        ("dog\tNN ", "the label 'NN ' contains whitespace"),
        ("dog\tNN\r", "the label 'NN\\r' contains whitespace"),
    ],
)
def test_a_line_of_another_form_is_refused_with_its_number(read, line, fact):
    with pytest.raises(InputError) as error:
        read(f"A\tDT\n\n{line}\r\n".encode())
    location, _, found = error.value.fact.partition(": ")
    assert found == fact
    assert location.endswith("tags.tsv, line 3")
    assert error.value.hint.startswith("each line is a token, one tab and its label")


def test_a_sentence_of_ones_own_is_written_with_a_blank_line_after_it():
    sentence = TaggedSentence(("A", "dog"), ("DT", "NN"))
    assert format_tagged(sentence) == "A\tDT\ndog\tNN\n\n"


TOKENS = st.text("a.é\u00a0-", min_size=1, max_size=3)
ROWS = st.tuples(TOKENS, TOKENS).map("\t".join)
LINES = st.lists(st.one_of(ROWS, ROWS, st.just(""), st.just("  ")), max_size=12)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_has_its_rows_whatever_its_line_ends(tmp_path_factory, lines, newline, is_cut):
    path = tmp_path_factory.mktemp("tags") / "tags.tsv"
    text = "".join(line + newline for line in lines)
    text = text.removesuffix(newline) if is_cut else text
    path.write_bytes(text.encode())
    sentences = list(read_tagged(path))
    rows = [
        (token, label) for s in sentences for token, label in zip(s.tokens, s.labels, strict=True)
    ]
    assert rows == [tuple(line.split("\t")) for line in lines if line.strip(" ")]
    path.write_text("".join(map(format_tagged, sentences)), encoding="utf-8")
    assert list(read_tagged(path)) == sentences
