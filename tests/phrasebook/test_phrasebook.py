"""The phrasebook as a corpus: splits, repeatability, size, and what training never sees."""

import hashlib
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tools.phrasebook import SPLITS, at_least, pairs
from tools.phrasebook.adjectives import ADJECTIVES
from tools.phrasebook.english import english
from tools.phrasebook.grammar import sentences
from tools.phrasebook.nouns import NOUN
from tools.phrasebook.splits import held_out

from transduce import phrasebook
from transduce.errors import InputError

PROGRAM = """
import json, sys
from tools.phrasebook import pairs
wanted = json.loads(sys.argv[1])
print(json.dumps([list(pairs(*each)) for each in wanted]))
"""


def spoken(*wanted):
    """The lists of pairs for (split, count, seed), from a process of its own.

    Without this process's type checks at run time it is ten times as fast, and its hashes of
    strings are others.
    """
    command = [sys.executable, "-c", PROGRAM, json.dumps(wanted)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [[(source, target) for source, target in each] for each in found]


@pytest.fixture(scope="module")
def samples():
    """Pairs of every split, each from two seeds."""
    counts = {"train": 6_000, "dev": 50, "test": 50, "combinations": 200}
    wanted = [(split, count, seed) for split, count in counts.items() for seed in (1, 2)]
    found = iter(spoken(*wanted))
    return {split: next(found) + next(found) for split in counts}


def words(text):
    """Lower-case words; a number such as twenty-one is two."""
    return re.findall(r"[a-z']+", text.lower())


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others():
    first, again, fewer, other = spoken(
        ("train", 300, 5), ("train", 300, 5), ("train", 100, 5), ("train", 300, 6)
    )
    assert first == again == list(pairs("train", 300, 5))
    assert first[:100] == fewer
    assert len(set(first) & set(other)) < 30


def test_the_pairs_of_a_seed_are_the_same_on_every_machine_and_python():
    text = "\n".join("\t".join(pair) for pair in pairs("train", 200, 1))
    found = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert (phrasebook.VERSION, found) == (1, "10e0ce9e8204afa4")  # another hash is another version


def test_no_english_sentence_comes_twice_in_one_call(samples):
    for split, count in (("train", 6_000), ("combinations", 200)):
        found = [source for source, _ in samples[split][:count]]
        assert len(found) == len(set(found)) == count


def test_an_english_sentence_has_one_translation(samples):
    translations: dict[str, str] = {}
    for source, target in itertools.chain(*samples.values()):
        assert translations.setdefault(source, target) == target


def test_splits_share_no_sentence_whatever_the_seed(samples):
    for one, other in itertools.combinations(SPLITS, 2):
        assert not {s for s, _ in samples[one]} & {s for s, _ in samples[other]}


def test_the_split_of_a_sentence_follows_from_its_sha256(samples):
    ranges = {"dev": (0, 2), "test": (2, 4), "train": (4, 100)}
    for split, (low, high) in ranges.items():
        for source, _ in samples[split]:
            number = int(hashlib.sha256(source.encode()).hexdigest()[:16], 16) % 100
            assert low <= number < high


def test_every_sentence_is_written_properly(samples):
    for source, target in itertools.chain(*samples.values()):
        for text in (source, target):
            assert text[-1] in ".?"
            assert text[0].isupper()
            assert "  " not in text
            assert not re.search(r" [,.?]|,,|,\.|,\?|[^ \w',.?-]", text), text
        assert source[-1] == target[-1]
        assert 3 <= len(source.split()) <= 20


def surfaces(head, name):
    """The English forms of a held-out adjective or verb, and of its noun."""
    noun = NOUN[name]
    if head in ADJECTIVES:
        forms = {head.english}
    else:
        forms = {head.english.base, *head.english.present, *head.english.past}
    return forms, {noun.english, noun.plural} - {""}


def test_held_out_words_never_meet_in_a_sentence_of_the_other_splits(samples):
    tables = [surfaces(head, name) for head, name in held_out()]
    assert len(tables) > 40
    for split in ("train", "dev", "test"):
        for source, _ in samples[split]:
            found = set(words(source))
            for heads, nouns in tables:
                assert not (found & heads and found & nouns), source


def test_a_sentence_of_combinations_holds_words_that_training_never_joins(samples):
    tables = [surfaces(head, name) for head, name in held_out()]
    known = set(itertools.chain(*(words(source) for source, _ in samples["train"])))
    for source, _ in samples["combinations"]:
        found = set(words(source))
        assert any(found & heads and found & nouns for heads, nouns in tables), source
        assert found <= known, source


def test_there_are_some_500_words_and_a_model_sees_each_often(samples):
    counts = Counter(itertools.chain(*(words(source) for source, _ in samples["train"])))
    assert 500 <= len(counts) <= 600
    assert min(counts.values()) >= 6  # of 12,000 pairs


def test_sentences_are_about_nine_words_long(samples):
    lengths = [len(source.split()) for source, _ in samples["train"]]
    assert 8.5 <= sum(lengths) / len(lengths) <= 10


def test_more_sentences_are_possible_than_anybody_trains_on():
    assert at_least() > 50_000_000
    samples = 2_000
    different = {english(sentence) for sentence in itertools.islice(sentences(3), samples)}
    assert len(different) > 0.95 * samples


COUNT = """
from itertools import islice
from tools.phrasebook.english import english
from tools.phrasebook.german import german
from tools.phrasebook.grammar import sentences
found = {}
clashes = 0
for sentence in islice(sentences(4), 200_000):
    target = german(sentence)
    clashes += found.setdefault(english(sentence), target) != target
print(len(found), clashes)
"""


@pytest.mark.slow
def test_of_200000_sentences_nearly_all_differ_and_none_has_two_translations():
    command = [sys.executable, "-c", COUNT]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    different, clashes = map(int, output.split())
    assert different > 190_000
    assert clashes == 0


def test_an_unknown_split_is_refused_with_the_nearest_name():
    with pytest.raises(InputError) as refused:
        pairs("tests", 10)
    assert str(refused.value) == ("the phrasebook has no split 'tests'\nhint: did you mean test?")


def test_a_negative_number_of_pairs_is_refused():
    with pytest.raises(InputError, match="must not be negative, it is -1"):
        pairs("train", -1)


def test_the_pairs_in_the_documentation_are_what_the_code_says():
    page = (Path(__file__).parents[2] / "tools/phrasebook/README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([^|]+[.?]) \| ([^|]+[.?]) \|$", page, flags=re.MULTILINE)
    tested, combined = spoken(("test", 60, 3), ("combinations", 20, 3))
    assert len(shown) == 12
    assert set(shown) <= {*tested, *combined}


def test_no_pairs_are_no_pairs():
    assert list(pairs("train", 0)) == []


@pytest.mark.parametrize("split", SPLITS)
def test_the_package_ships_what_the_grammar_writes(split):
    assert list(phrasebook.pairs(split, 50)) == list(pairs(split, 50))
    assert len(set(phrasebook.pairs(split, phrasebook.SPLITS[split]))) == phrasebook.SPLITS[split]


def test_more_pairs_than_the_package_ships_are_refused():
    with pytest.raises(InputError, match="has 1,000 pairs in its split dev, not 1,001"):
        phrasebook.pairs("dev", 1_001)
