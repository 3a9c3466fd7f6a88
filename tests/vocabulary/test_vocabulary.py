"""Text to ids and back."""

import copy
import hashlib
import itertools
import os
import pickle
import subprocess
import sys

import pytest
from tests.vocabulary.odd import ODD
from tokenizers import Tokenizer

from transduce.errors import InputError
from transduce.vocabulary import BEGIN, BYTES, END, Vocabulary
from transduce.vocabulary.kinds import MAX_WORD_BYTES
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import deserialise


def merges_of(data):
    return [tuple(merge) for merge in deserialise(data).model["merges"]]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_text_comes_back_as_it_was(vocabulary, text):
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert END not in ids
    assert BEGIN not in ids


def test_at_least_thirty_strings_are_odd():
    assert len(set(ODD)) >= 30


def test_text_that_looks_like_a_special_symbol_stays_text(vocabulary):
    ids = vocabulary.encode("</s><s>")
    assert not {END, BEGIN} & set(ids)
    assert vocabulary.decode(ids) == "</s><s>"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_a_copy_keeps_special_symbols_out_too(small, copied):
    assert copied(small).encode("</s>") == small.encode("</s>") != [END]


def test_ids_are_end_begin_bytes_and_pieces_by_merge(small, byte_pair):
    assert (END, BEGIN, BYTES) == (0, 1, 256)
    assert [small.piece(number) for number in (END, BEGIN)] == ["</s>", "<s>"]
    for byte in range(128):
        assert small.decode([2 + byte]) == chr(byte)
    assert small.decode([2 + 0xC3, 2 + 0xA4]) == "ä"
    joined = [left + right for left, right in merges_of(byte_pair.to_bytes())]
    plain = {258 + i: piece for i, piece in enumerate(joined) if piece.strip("Ġ").isascii()}
    assert len(plain) > 50
    assert all(small.piece(i) == piece.replace("Ġ", "␣") for i, piece in plain.items())


WORDS = ["dog", "Hundekorb", "schlafen", "tables", "xyz", "oldest", "alte"]


def test_byte_pairs_agree_with_merging_by_hand(byte_pair):
    merges = merges_of(byte_pair.to_bytes())
    for word in WORDS:
        pieces = [byte_pair.piece(number) for number in byte_pair.encode(word)]
        assert pieces == merged_by_hand(word, merges)


def merged_by_hand(word, merges):
    """Join the pair that was learned first, until none is left (one word of ASCII)."""
    parts = list(word)
    while True:
        pairs = list(itertools.pairwise(parts))
        known = [pair for pair in pairs if pair in merges]
        if not known:
            return parts
        place = pairs.index(min(known, key=merges.index))
        parts[place : place + 2] = ["".join(parts[place : place + 2])]


def test_word_pieces_agree_with_taking_the_longest_by_hand(word_piece):
    known = {word_piece.piece(number) for number in range(len(word_piece))}
    for word in WORDS:
        pieces = [word_piece.piece(number) for number in word_piece.encode(word)]
        assert pieces == longest_by_hand(word, known)


def longest_by_hand(word, known):
    """The longest piece that the rest begins with, until nothing is left."""
    parts = []
    while word:
        parts.append(max((piece for piece in known if word.startswith(piece)), key=len))
        word = word.removeprefix(parts[-1])
    return parts


def test_the_kinds_have_the_same_pieces_and_may_cut_a_word_differently(byte_pair, word_piece):
    assert [byte_pair.piece(i) for i in range(330)] == [word_piece.piece(i) for i in range(330)]
    lines = ["bc"] * 5 + ["ab"] * 3
    pairs, pieces = learn_vocabulary(lines, 260), learn_vocabulary(lines, 260, "word-piece")
    assert [pairs.piece(number) for number in pairs.encode("abc")] == ["a", "bc"]
    assert [pieces.piece(number) for number in pieces.encode("abc")] == ["ab", "c"]
    assert pairs.hash != pieces.hash


def test_a_long_run_of_letters_is_cut_first_and_comes_back(word_piece):
    begin = word_piece.encode("a" * MAX_WORD_BYTES)
    assert word_piece.encode("a" * MAX_WORD_BYTES * 3) == begin * 3
    assert word_piece.decode(begin * 3) == "a" * MAX_WORD_BYTES * 3


def test_a_batch_is_its_texts_one_by_one(small):
    assert small.encode_batch(iter(ODD)) == [small.encode(text) for text in ODD]
    assert small.encode_batch([]) == []


def test_the_library_opens_the_file_and_agrees(small):
    library = Tokenizer.from_str(small.to_bytes().decode())
    text = " Der Hund, äöü 😀\n\u2028"
    assert library.encode(text).ids == small.encode(text)
    assert library.decode(small.encode(text)) == text
    assert library.get_vocab_size() == len(small) == 330
    assert library.token_to_id("</s>") == END


def test_special_symbols_say_nothing(small):
    assert small.decode([BEGIN, *small.encode("Hund"), END, END]) == "Hund"


def test_bytes_that_are_no_text_are_replaced(small):
    assert small.decode([2 + 0xC3, *small.encode("a"), 2 + 0xFF]) == "\ufffda\ufffd"
    assert small.decode([2 + 0xF0, 2 + 0x9F, 2 + 0x98]) == "\ufffd"
    assert small.decode([]) == ""


@pytest.mark.parametrize(
    ("byte", "letter"),
    [(0x20, "␣"), (0x41, "A"), (0x0A, "<0A>"), (0xC3, "<C3>"), (0x00, "<00>"), (0xFF, "<FF>")],
)
def test_a_byte_is_readable(small, byte, letter):
    assert small.piece(2 + byte) == letter


def test_a_piece_is_readable():
    pieces = learn_vocabulary(["ä\u00a0ä\u00a0ä\u00a0"], 260)
    assert {pieces.piece(258), pieces.piece(259)} == {"ä", "<C2><A0>"}
    words = learn_vocabulary(["of the dog, of the dog"], 265)
    assert "␣the" in [words.piece(number) for number in range(len(words))]


@pytest.mark.parametrize("encode", ["encode", "encode_batch"])
def test_half_a_surrogate_pair_is_refused(small, encode):
    texts = {"encode": "ab\ud83d", "encode_batch": ["ok", "ab\ud83d"]}[encode]
    with pytest.raises(InputError) as error:
        getattr(small, encode)(texts)
    number = {"encode": "text 1 of 1", "encode_batch": "text 2 of 2"}[encode]
    assert f"{number} has half a surrogate pair (U+D83D) at character 3" in str(error.value)
    assert "normalise writes U+FFFD in its place" in str(error.value)


def test_the_hash_is_that_of_the_file(small):
    assert small.hash == hashlib.sha256(small.to_bytes()).hexdigest()
    assert Vocabulary.from_bytes(small.to_bytes()).hash == small.hash


FORK = """
import os, pathlib, sys
from transduce.vocabulary import Vocabulary
v = Vocabulary.from_bytes(pathlib.Path(sys.argv[1]).read_bytes())
texts = [f"Der Hund {i}" for i in range(5000)]
before = v.encode_batch(texts)
child = os.fork()
if child == 0:
    os._exit(v.encode_batch(texts) != before)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_encodes_too_and_no_warning_is_printed(small, tmp_path):
    path = tmp_path / "vocabulary.json"
    path.write_bytes(small.to_bytes())
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(path)],
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
