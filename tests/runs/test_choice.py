"""Texts as a Python program names or holds them."""

import pytest

from transduce.errors import InputError
from transduce.recipes import by_name
from transduce.runs.choice import choose_recipe, choose_texts, hold_out_like_store, open_texts
from transduce.runs.texts import FilePair, GeneratedCorpus, InMemoryPairs, TaskFiles
from transduce.settings import Data
from transduce.tasks.text import TRANSLATION
from transduce.text.arguments import ignore_event

PAIRS = [("a dog", "ein Hund"), ("a cat", "eine Katze")]


def test_a_text_may_be_files_a_table_pairs_or_a_corpus(tmp_path):
    files = (tmp_path / "a", str(tmp_path / "b"))
    assert open_texts("train", files, Data()) == FilePair(tmp_path / "a", tmp_path / "b")
    assert open_texts("train", tmp_path / "a.tsv", Data()) == TaskFiles(
        tmp_path / "a.tsv", TRANSLATION, "train"
    )
    held = InMemoryPairs(tuple(PAIRS))
    assert open_texts("train", PAIRS, Data()) == held
    assert open_texts("train", iter(PAIRS), Data()) == held
    assert open_texts("train", held, Data()) is held
    assert open_texts("dev", "phrasebook", Data()) == GeneratedCorpus("phrasebook", "dev", 1_000)
    for other in ("old", "pairs", "texts"):
        for name in ("phrasebook", tmp_path / "a.tsv"):
            assert open_texts(other, name, Data()) == open_texts("train", name, Data())


@pytest.mark.parametrize(
    ("texts", "fact"),
    [
        (3, "a pair of files, a TSV file, pairs of texts or a corpus name, not 3 (int)"),
        (b"ab", "not b'ab' (bytes)"),
        ({"a": "b"}, "not {'a': 'b'} (dict)"),
        ([("a", "b"), "c"], "item 2 must be (source, target), not 'c' (str)"),
        ([("a", 3)], "item 1 must be (source, target), not ('a', 3) (tuple)"),
        ([("a", "b", "c")], "item 1 must be (source, target)"),
        ([], "there are no pairs"),
    ],
)
def test_an_error_names_the_argument_and_what_it_got(texts, fact):
    with pytest.raises(InputError) as refusal:
        open_texts("train", texts, Data())
    assert refusal.value.fact.startswith("train: ")
    assert fact in refusal.value.fact


def test_a_single_file_of_one_side_is_refused_with_the_form_of_two(tmp_path):
    (tmp_path / "a.en").write_text("a dog\n")
    with pytest.raises(InputError) as refusal:
        open_texts("train", tmp_path / "a.en", Data())
    assert refusal.value.fact == (
        f"train: {tmp_path / 'a.en'} has no tab in its first line, and no second file was named"
    )
    assert refusal.value.hint.startswith("train=('a.en', 'a.de'), or one file with a source, a ")


def test_languages_that_only_a_development_set_names_are_the_text_s(tmp_path):
    for name in ("corpus_one.txt", "corpus_two.txt", "dev.is", "dev.fo"):
        (tmp_path / name).write_text("1\n2\n")
    train, dev = (
        FilePair(tmp_path / one, tmp_path / two)
        for one, two in (("corpus_one.txt", "corpus_two.txt"), ("dev.is", "dev.fo"))
    )
    chosen = choose_recipe(by_name("tiny"), (train, dev), {}, tmp_path, ignore_event)
    assert chosen.recipe.data.languages == ("is", "fo")


def test_a_text_is_not_read_where_no_corpus_was_prepared_before(tmp_path):
    unreadable = FilePair(tmp_path / "a", tmp_path / "b")
    assert hold_out_like_store((unreadable, None), Data(), tmp_path) == (unreadable, None)


def test_without_texts_the_recipes_corpus_is_taken():
    train, dev = choose_texts(Data(corpus="toy-copy", max_pairs=7), None, None)
    assert (train, dev) == (
        GeneratedCorpus("toy-copy", "train", 7),
        GeneratedCorpus("toy-copy", "dev", 1_000),
    )
    assert choose_texts(Data(), "phrasebook", PAIRS)[1] == InMemoryPairs(tuple(PAIRS))
    assert choose_texts(Data(), PAIRS, None) == (InMemoryPairs(tuple(PAIRS)), None)


def test_equal_pairs_in_memory_have_equal_fingerprints_and_others_do_not():
    prints = [
        InMemoryPairs(pairs).fingerprint()
        for pairs in ((("a", "b"),), (("ab", ""),), (("a", "b"), ("c", "d")), (("a", "\ud800"),))
    ]
    assert len(set(prints)) == 4
    assert InMemoryPairs((("a", "b"),)).fingerprint() == prints[0]
