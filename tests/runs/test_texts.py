"""Where pairs come from."""

import math

import pytest

from transduce.errors import InputError
from transduce.runs.texts import GeneratedCorpus, InMemoryPairs, MixedPairs, TaskFiles
from transduce.tasks.parsing import PARSING
from transduce.tasks.tagging import TAGGING


def test_a_corpus_of_another_grammar_has_another_fingerprint(monkeypatch):
    sentences, toy = (
        GeneratedCorpus("phrasebook", "train", 10),
        GeneratedCorpus("toy-copy", "train", 10),
    )
    before = sentences.fingerprint(), toy.fingerprint()
    monkeypatch.setattr("transduce.phrasebook.VERSION", 2)
    assert sentences.fingerprint() != before[0]
    assert toy.fingerprint() == before[1]


def write_trees(path, words):
    path.write_text("".join(f"( (S (NP (NN {word})) (. .)))\n" for word in words.split()))
    return path


def read_words(pairs):
    return [source.split()[0] for source, _ in pairs.read() if source]


def test_a_file_of_trees_gives_sentences_and_cleaned_trees_each_time(tmp_path):
    texts = TaskFiles(write_trees(tmp_path / "t", "dog"), PARSING)
    assert list(texts.read()) == [("dog .", "(TOP (S (NP (NN dog)) (. .)))")]
    assert list(texts.read()) == list(texts.read())


def test_malformed_and_wordless_trees_give_empty_sentences_which_cleaning_counts(tmp_path):
    file = write_trees(tmp_path / "t", "a b")
    file.write_text(file.read_text() + "( (S (-NONE- *)))\n( (S (X)))\n( (S (NN c)))\n(S))\n")
    pairs = list(TaskFiles(file, PARSING).read())
    assert [source for source, _ in pairs] == ["a .", "b .", "", "", "c", ""]
    (wordless, malformed, end) = [tree for source, tree in pairs if not source]
    assert wordless == ""
    assert malformed == "t, line 4, column 6: an empty constituent"
    assert end == "t, line 6, column 1: an empty constituent"


def test_a_folder_of_trees_is_read_in_the_order_of_its_names(tmp_path):
    write_trees(tmp_path / "b.mrg", "dog")
    write_trees(tmp_path / "a.mrg", "cat cow")
    (tmp_path / "README").write_text("not (a tree")
    assert read_words(TaskFiles(tmp_path, PARSING)) == ["cat", "cow", "dog"]


def test_a_fingerprint_is_of_the_content_not_of_the_names(tmp_path):
    one, other = (TaskFiles(write_trees(tmp_path / name, "dog"), PARSING) for name in "ab")
    assert one.fingerprint() == other.fingerprint()
    write_trees(tmp_path / "b", "cat")
    assert one.fingerprint() != other.fingerprint()


def test_a_folder_has_another_fingerprint_when_one_file_changes(tmp_path):
    write_trees(tmp_path / "a.mrg", "dog")
    write_trees(tmp_path / "b.mrg", "cat")
    before = TaskFiles(tmp_path, PARSING).fingerprint()
    write_trees(tmp_path / "b.mrg", "cow")
    assert TaskFiles(tmp_path, PARSING).fingerprint() != before


def test_tagged_tokens_give_two_lines_of_equal_length(tmp_path):
    (tmp_path / "t").write_text("a\tX\nb\tY\n\nc\tX\n")
    assert list(TaskFiles(tmp_path / "t", TAGGING).read()) == [("a b", "X Y"), ("c", "X")]


@pytest.mark.parametrize("ratio", [0.3, 0.5, 1.0, 2.5])
def test_silver_trees_come_once_and_gold_ones_at_the_ratio(tmp_path, ratio):
    gold = TaskFiles(write_trees(tmp_path / "g", "g0 g1 g2"), PARSING)
    silver = " ".join(f"s{number}" for number in range(20))
    mixed = MixedPairs(gold, TaskFiles(write_trees(tmp_path / "s", silver), PARSING), ratio)
    words = read_words(mixed)
    assert [word for word in words if word[0] == "s"] == silver.split()
    golds = [word for word in words if word[0] == "g"]
    assert abs(20 / len(golds) - ratio) < ratio / 5
    assert golds == [f"g{number % 3}" for number in range(len(golds))]
    assert read_words(mixed) == words


@pytest.mark.parametrize("ratio", [math.nan, math.inf, 1e300, 1e-300, 0.0])
def test_a_ratio_by_which_the_reading_would_never_end_is_refused(ratio):
    gold = InMemoryPairs((("g", "g"),))
    with pytest.raises(InputError, match="choose a ratio between"):
        MixedPairs(gold, gold, ratio)


def test_a_mixture_is_known_by_both_texts_and_the_ratio(tmp_path):
    gold, silver = (TaskFiles(write_trees(tmp_path / name, name), PARSING) for name in "gs")
    mixtures = [MixedPairs(gold, silver, 1.0), MixedPairs(gold, silver, 2.0)]
    mixtures.append(MixedPairs(silver, gold, 1.0))
    assert len({one.fingerprint() for one in mixtures}) == 3


def test_no_gold_tree_is_lost_beside_few_silver_ones(tmp_path):
    gold = TaskFiles(write_trees(tmp_path / "g", "g0 g1 g2 g3"), PARSING)
    silver = TaskFiles(write_trees(tmp_path / "s", "s0 s1"), PARSING)
    read = read_words(MixedPairs(gold, silver, 1.0))
    assert read == ["g0", "s0", "g1", "s1", "g2", "s0", "g3"]


def test_gold_trees_that_are_none_are_refused_beside_silver_ones(tmp_path):
    (tmp_path / "g").write_text("")
    gold = TaskFiles(tmp_path / "g", PARSING)
    mixed = MixedPairs(gold, TaskFiles(write_trees(tmp_path / "s", "a"), PARSING), 1.0)
    with pytest.raises(InputError, match="the gold text is empty"):
        list(mixed.read())
