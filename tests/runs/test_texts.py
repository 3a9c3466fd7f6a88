"""Where pairs come from."""

import math

import pytest

from transduce.errors import InputError
from transduce.runs.choice import open_texts
from transduce.runs.development import clean_text
from transduce.runs.texts import (
    GeneratedCorpus,
    InMemoryPairs,
    TaskFiles,
    add_pairs,
    list_pairs,
)
from transduce.settings import Data
from transduce.tasks.parsing import PARSING
from transduce.tasks.tagging import TAGGING
from transduce.text.clean import Cleaner


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
    for split in ("train", "dev"):
        assert read_words(TaskFiles(tmp_path, PARSING, split)) == ["cat", "cow", "dog"]


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


def mixed(gold, silver, ratio):
    return add_pairs(gold, silver, ratio, ("gold", "silver"))


@pytest.mark.parametrize("ratio", [math.nan, math.inf, 1e300, 1e-300, 0.0])
def test_a_ratio_by_which_a_text_would_hardly_be_read_is_refused(ratio):
    gold = InMemoryPairs((("g", "g"),))
    with pytest.raises(InputError, match="choose a ratio between"):
        mixed(gold, gold, ratio)


def test_a_mixture_has_every_tree_once_and_is_known_by_its_texts_and_the_ratio(tmp_path):
    gold, silver = (TaskFiles(write_trees(tmp_path / name, name), PARSING) for name in "gs")
    assert read_words(mixed(gold, silver, 3.0)) == ["g", "s"]
    mixtures = [mixed(gold, silver, 1.0), mixed(gold, silver, 2.0), mixed(silver, gold, 1.0)]
    assert len({one.fingerprint() for one in mixtures}) == 3
    before = f"{gold.fingerprint()} mixed 1:2.0 {silver.fingerprint()}"
    assert mixtures[1].fingerprint() == before, "folders of earlier versions have it"


def test_gold_trees_that_are_none_are_refused_beside_silver_ones(tmp_path):
    (tmp_path / "g").write_text("")
    silver = TaskFiles(write_trees(tmp_path / "s", "a"), PARSING)
    text = mixed(TaskFiles(tmp_path / "g", PARSING), silver, 1.0)
    with pytest.raises(InputError, match="gold: the text is empty"):
        list(clean_text(Cleaner(Data(task="parsing")), text, 0))


def test_headings_and_units_without_a_pair_are_not_scored(tmp_path):
    (tmp_path / "dev.tsv").write_text("English\tGerman\na dog\tein Hund\n")
    text = open_texts("dev", tmp_path / "dev.tsv", Data())
    assert list_pairs(text) == [("a dog", "ein Hund")]
