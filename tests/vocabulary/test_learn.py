"""Learning a vocabulary."""

import gzip
import os
import subprocess
import sys
from collections import Counter

import pytest
from tests.vocabulary.lines import LINES
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from transduce.errors import InputError
from transduce.vocabulary.kinds import KINDS
from transduce.vocabulary.learn import (
    SAMPLE_CHARACTERS,
    learn_vocabulary,
    max_vocabulary_size,
    sample_lines,
)
from transduce.vocabulary.vocabulary import deserialise

each_kind = pytest.mark.parametrize("kind", KINDS)


def merges(vocabulary):
    return [tuple(merge) for merge in deserialise(vocabulary.to_bytes()).model["merges"]]


def pieces(vocabulary):
    kind = deserialise(vocabulary.to_bytes())
    assert kind.model["type"] == "WordPiece"
    return kind.symbols[258:]


def learned_by_hand(words, count):
    """Sennrich et al. 2016, algorithm 1: join the most frequent pair, `count` times."""
    parted = {word: list(word) for word in words}
    for _ in range(count):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, times in words.items():
            for pair in zip(parted[word], parted[word][1:], strict=False):
                pairs[pair] += times
        (best, times), (_, second) = pairs.most_common(2)
        assert times > second, "the example must have no ties"
        yield best
        for parts in parted.values():
            for place in range(len(parts) - 1, 0, -1):
                if tuple(parts[place - 1 : place + 1]) == best:
                    parts[place - 1 : place + 1] = ["".join(best)]


def test_merges_are_those_of_the_algorithm():
    words = {"hug": 10, "pug": 6, "pun": 12, "bun": 4, "hugs": 5}
    lines = [word for word, times in words.items() for _ in range(times)]
    assert merges(learn_vocabulary(lines, 258 + 6)) == list(learned_by_hand(words, 6))


def test_word_pieces_are_what_the_merges_of_the_algorithm_lead_to():
    words = {"hug": 10, "pug": 6, "pun": 12, "bun": 4, "hugs": 5}
    lines = [word for word, times in words.items() for _ in range(times)]
    joined = [left + right for left, right in learned_by_hand(words, 6)]
    assert pieces(learn_vocabulary(lines, 258 + 6, "word-piece")) == joined


def test_word_pieces_are_those_that_the_library_learns_by_that_name():
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    library = Tokenizer(models.WordPiece(unk_token="</s>", continuing_subword_prefix=""))
    library.pre_tokenizer = level
    trainer = trainers.WordPieceTrainer(
        vocab_size=330,
        min_frequency=2,
        special_tokens=["</s>", "<s>"],
        initial_alphabet=level.alphabet(),
        continuing_subword_prefix="",
        show_progress=False,
    )
    library.train_from_iterator(LINES, trainer)
    found = learn_vocabulary(LINES, 330, "word-piece").to_bytes()
    assert set(library.get_vocab()) == set(Tokenizer.from_str(found.decode()).get_vocab())


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(InputError) as error:
        learn_vocabulary(LINES, 300, "wordpiece")
    assert str(error.value) == (
        "unknown kind of vocabulary 'wordpiece'\nhint: did you mean word-piece?"
    )


@each_kind
def test_the_vocabulary_has_the_size_that_was_asked_for(kind):
    assert [len(learn_vocabulary(LINES, size, kind)) for size in (258, 259, 300)] == [258, 259, 300]


def test_a_smaller_vocabulary_is_the_beginning_of_a_larger_one():
    assert merges(learn_vocabulary(LINES, 320))[:42] == merges(learn_vocabulary(LINES, 300))
    assert pieces(learn_vocabulary(LINES, 320, "word-piece"))[:42] == pieces(
        learn_vocabulary(LINES, 300, "word-piece")
    )


@each_kind
def test_a_vocabulary_larger_than_the_text_supports_is_refused_with_the_number_it_supports(kind):
    with pytest.raises(InputError) as error:
        learn_vocabulary(LINES, 5_000, kind)
    max_vocabulary_size = int(str(error.value).split("supports ")[1].split()[0])
    assert f"the text supports {max_vocabulary_size} symbols, not a vocabulary of 5,000" in str(
        error.value
    )
    assert error.value.hint == f"--set data.vocabulary_size={max_vocabulary_size}"
    assert len(learn_vocabulary(LINES, max_vocabulary_size, kind)) == max_vocabulary_size


def test_pairs_that_occur_once_are_not_joined():
    with pytest.raises(InputError, match="the text supports 258 symbols"):
        learn_vocabulary(["abcdefg"], 259)


def test_fewer_symbols_than_bytes_are_refused():
    with pytest.raises(
        InputError, match=r"at least 258 symbols, not 257(.|\n)*256 bytes come first"
    ):
        learn_vocabulary(LINES, 257)


@pytest.mark.parametrize("lines", [[], ["", ""]])
def test_text_that_is_empty_is_refused(lines):
    with pytest.raises(InputError, match=r"no text to learn a vocabulary from(.|\n)*files empty"):
        learn_vocabulary(lines, 300)


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(InputError, match=r"half a surrogate pair \(U\+DC00\)"):
        learn_vocabulary(["ok", "\udc00"], 300)


def test_short_text_is_used_whole():
    assert sample_lines(iter(LINES)) == LINES


def test_of_long_text_a_sample_from_everywhere_is_used():
    long = "x" * (SAMPLE_CHARACTERS // 1_000)
    lines = [f"{i:06}{long}" for i in range(2_000)]  # 40 MB
    places = [int(line[:6]) for line in sample_lines(lines)]
    characters = len(places) * len(lines[0])
    assert SAMPLE_CHARACTERS // 2 < characters <= SAMPLE_CHARACTERS
    assert places == sorted(set(places))
    for quarter in range(4):
        share = sum(place // 500 == quarter for place in places) / len(places)
        assert 0.2 < share < 0.3


def test_one_line_that_is_longer_than_the_sample_is_used():
    assert sample_lines(["x" * (SAMPLE_CHARACTERS + 1)]) == ["x" * (SAMPLE_CHARACTERS + 1)]


LEARN = """
import sys
from transduce.vocabulary.learn import learn_vocabulary
words = [f"wort{i % 997} {i % 31}ung" for i in range(5000)]
print(*(learn_vocabulary(iter(words), 700, kind).hash for kind in ("byte-pair", "word-piece") * 2))
"""


def test_the_same_text_gives_the_same_bytes_whatever_the_threads():
    def hashes(threads, seed):
        environment = os.environ | {"RAYON_NUM_THREADS": threads, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", LEARN]
        return subprocess.run(command, capture_output=True, env=environment, check=True).stdout

    found = {hashes(threads, seed) for threads, seed in [("1", "0"), ("2", "1"), ("5", "2")]}
    assert len(found) == 1
    first, second, *again = found.pop().split()
    assert [first, second] == again
    assert first != second


@each_kind
def test_real_text_comes_back(shared, kind):
    with gzip.open(shared / "data/tatoeba-en-de/dev.tsv.gz", "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    vocabulary = learn_vocabulary(lines, 2_000, kind)
    ids = vocabulary.encode_batch(lines)
    assert [vocabulary.decode(line) for line in ids] == lines
    assert sum(map(len, ids)) < 0.4 * sum(map(len, lines))


def test_how_many_symbols_a_text_supports_is_known_without_a_refusal():
    lines = ["a dog", "a dog", "a cat"]
    most = max_vocabulary_size(lines, 9_999)
    assert len(learn_vocabulary(lines, most)) == most
    with pytest.raises(InputError, match=f"the text supports {most} symbols"):
        learn_vocabulary(lines, most + 1)
    assert max_vocabulary_size(lines, 259) == 259
