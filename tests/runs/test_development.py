"""Development sets: held out of the training text by default, or refused if they are another's."""

import shutil
from collections import Counter
from typing import Any

import pytest
from tests.cli.language import sentences

import transduce
from transduce.errors import InputError
from transduce.runs.development import choose_held_out, clean_text, divide_text, require_texts_agree
from transduce.runs.texts import InMemoryPairs, add_pairs
from transduce.settings import Data
from transduce.text.clean import Cleaner

CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстуввхыз")


def text(count, seed, change=lambda source, target: (source, target)):
    return InMemoryPairs(tuple(change(*pair) for pair in sentences(count, seed)))


def swap(source, target):
    return target, source


def refusal(train, dev):
    with pytest.raises(InputError) as refused:
        require_texts_agree(train, dev, Data())
    return refused.value


def test_a_development_set_with_swapped_sides_is_refused():
    refused = refusal(text(300, 1), text(40, 2, swap))
    assert refused.fact.startswith("the development set has its sides swapped: its source reads ")
    assert refused.hint == "exchange its two files, or its two columns"
    require_texts_agree(text(300, 1), text(40, 2), Data())


@pytest.mark.parametrize(("side", "other"), [("source", "target"), ("target", "source")])
def test_one_side_in_the_other_side_s_language_is_refused(side, other):
    lines = {"source": 1, "target": 0}[side]
    dev = text(40, 2, lambda *pair: (pair[lines], pair[lines]))
    fact = f"the {side} of the development set reads more like the {other} of the training text"
    assert refusal(text(300, 1), dev).fact == fact


def test_letters_that_the_side_never_has_are_refused_by_their_alphabet():
    dev = text(40, 2, lambda source, target: (source.translate(CYRILLIC), target))
    assert refusal(text(300, 1), dev).fact == (
        "the source of the development set is written in Cyrillic letters, and the source of the "
        "training text has none"
    )


def test_a_text_joined_of_several_languages_has_the_letters_of_its_last_pairs():
    dev = text(40, 2, lambda source, target: (source.translate(CYRILLIC), target))
    joined = InMemoryPairs((*sentences(11_000, 1), *dev.pairs * 5))
    require_texts_agree(joined, dev, Data())


def test_old_text_that_is_mixed_in_has_the_sides_of_the_new():
    mixed = add_pairs(text(300, 1), text(40, 2, swap), 1.0, ("new", "old"))
    assert refusal(mixed, None).fact.startswith("the old text has its sides swapped")


@pytest.mark.parametrize(
    ("pairs", "held_out"),
    [(1_999, 0), (2_000, 200), (20_000, 200), (31_000, 310), (500_000, 2_000)],
)
def test_a_hundredth_is_held_out_at_least_200_and_at_most_2000_pairs(pairs, held_out):
    assert sum(choose_held_out(range(pairs)).values()) == held_out


def test_pairs_of_one_source_stay_together_and_too_many_are_left_to_training():
    hashes = [1] * 500 + [2] * 7 + list(range(3, 1_600))
    chosen = choose_held_out(hashes)
    assert chosen.keys() == set(range(2, 2 + len(chosen)))
    assert (chosen[2], sum(chosen.values())) == (7, 200)


def numbered(count):
    """Pairs whose sources are numbers; every tenth source stands in two pairs."""
    pairs = [(f"line {n}", f"enil {n}") for n in range(count)]
    return [*pairs, *((source, f"{target} again") for source, target in pairs[::10])]


def test_what_is_held_out_is_kept_out_of_training_with_all_pairs_of_its_sources():
    text = InMemoryPairs(tuple(numbered(2_000)))
    train, dev = (
        Counter(source for source, _ in part.read()) for part in divide_text(text, Data())
    )
    assert dev.total() in (200, 201)
    assert not train.keys() & dev.keys()
    assert train + dev == Counter(source for source, _ in text.read())


def test_copies_among_added_pairs_are_kept_out_of_training_too():
    gold, silver = InMemoryPairs(tuple(numbered(2_000))), InMemoryPairs(tuple(numbered(3_000)))
    train, dev = divide_text(add_pairs(gold, silver, 1.0, ("gold", "silver")), Data())
    held_out = {source for source, _ in dev.read()}
    assert held_out
    assert not held_out & {source for source, _ in train.read()}


def test_a_new_corpus_without_a_recipe_has_a_development_set_and_the_same_one_again(tmp_path):
    messages: list[str] = []
    corpus = transduce.prepare(tmp_path / "p", numbered(2_000), on_message=messages.append)
    assert corpus.dev is not None
    held_out = f"no development set was named, so {len(corpus.dev)} pairs are held out"
    told = f"{held_out}; --no-dev trains on them too"
    assert told in messages
    cleaning = corpus.train.about["cleaning"]
    assert cleaning["dropped"]["held out for validation"]["count"] == len(corpus.dev)
    assert len(corpus.train) + len(corpus.dev) == 2_200
    again = transduce.prepare(tmp_path / "p", numbered(2_000))
    assert again.train.fingerprint == corpus.train.fingerprint


@pytest.mark.parametrize(
    "choice",
    [
        {"dev": False},
        {"dev": numbered(30)},
        {"recipe": "tiny", "settings": {"data.vocabulary_size": 270}},
    ],
)
def test_nothing_is_held_out_where_a_recipe_or_a_development_set_is_named(tmp_path, choice):
    corpus = transduce.prepare(tmp_path / "p", numbered(2_000), **choice)
    assert len(corpus.train) == 2_200


def test_a_corpus_that_was_begun_with_the_whole_text_goes_on_with_it(tmp_path):
    whole = transduce.prepare(tmp_path / "p", numbered(2_000), dev=False)
    again = transduce.prepare(tmp_path / "p", numbered(2_000))
    assert again.dev is None
    assert again.train.fingerprint == whole.train.fingerprint


def test_a_corpus_that_was_begun_with_held_out_pairs_goes_on_with_them(tmp_path):
    parted = transduce.prepare(tmp_path / "p", numbered(2_000))
    named = {"data.vocabulary_size": parted.data.vocabulary_size}
    again = transduce.prepare(tmp_path / "p", numbered(2_000), recipe="tiny", settings=named)
    assert parted.dev is not None
    assert again.dev is not None
    assert again.train.fingerprint == parted.train.fingerprint
    assert again.dev.fingerprint == parted.dev.fingerprint
    with pytest.raises(InputError, match="was prepared with a development set"):
        transduce.prepare(tmp_path / "p", numbered(2_000), False, recipe="tiny", settings=named)


def test_a_run_goes_on_with_its_held_out_pairs_by_the_same_call_and_by_its_folder(tmp_path):
    settings = {
        "training.steps": 2,
        "training.validate_every": 2,
        "training.validate_lines": 2,
        "training.threads": 1,
        "architecture.layers": 1,
        "search.extra_length": 3,
    }
    run = transduce.train(tmp_path / "run", numbered(2_000), settings=settings)
    assert run.progress.best_validation is not None
    assert transduce.train(tmp_path / "run", numbered(2_000)).progress == run.progress
    assert transduce.train(tmp_path / "run").progress == run.progress
    with pytest.raises(InputError, match="was prepared with a development set"):
        transduce.train(tmp_path / "run", numbered(2_000), dev=False)


def test_the_cleaning_reports_the_lines_of_the_file_although_pairs_are_held_out():
    text = InMemoryPairs((*numbered(2_000), ("one side", "")))
    train, _ = divide_text(text, Data())
    cleaner = Cleaner(Data())
    list(clean_text(cleaner, train, 0))
    assert cleaner.report.dropped["empty side"].samples[0]["line"] == 2_201


def test_another_text_is_named_before_a_lack_of_a_development_set(tmp_path):
    transduce.prepare(tmp_path / "p", numbered(2_000))
    with pytest.raises(InputError, match="was prepared from another text than"):
        transduce.prepare(tmp_path / "p", numbered(300), dev=False)


def test_a_run_whose_prepared_corpus_is_gone_goes_on_with_the_pairs_it_held_out(tmp_path):
    pairs = [(f"{number} a b", f"b a {number}") for number in range(2_100)]
    settings = {"training.steps": 1, "training.threads": 1}
    run = transduce.train(tmp_path / "run", pairs, settings=settings)
    shutil.rmtree(tmp_path / "run" / "store")
    again = transduce.train(tmp_path / "run", pairs, settings={"training.steps": 2})
    assert (run.progress.step, again.progress.step) == (1, 2)


def test_a_run_with_a_development_set_does_not_go_on_without_it(tmp_path):
    pairs = [(f"{number} a b", f"b a {number}") for number in range(50)]
    settings = {"training.steps": 1, "training.threads": 1, "data.vocabulary_size": 260}
    run = transduce.train(tmp_path / "run", pairs, pairs[:9], recipe="tiny", settings=settings)
    with pytest.raises(InputError, match="has a development set"):
        transduce.train(run.folder, dev=False, settings={"training.steps": 2})


def test_a_development_set_of_0_is_not_taken_for_false(tmp_path):
    wrong: Any = 0
    with pytest.raises(InputError, match="dev"):
        transduce.train(tmp_path / "run", [("a", "b")] * 9, wrong)
    assert not (tmp_path / "run").exists()
