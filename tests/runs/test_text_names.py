"""What a run's own text is called: its corpus, its languages, and the model itself."""

import hashlib
import os
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from transduce.corpus.mixture import Share
from transduce.errors import InputError
from transduce.recipes import by_name
from transduce.runs import text_names
from transduce.runs.choice import open_texts
from transduce.runs.mix import mix_texts
from transduce.runs.text_names import (
    describe_text,
    keep_names,
    name_languages,
    name_text,
    read_languages,
    read_name,
    warn_of_other_languages,
)
from transduce.runs.texts import (
    FilePair,
    GeneratedCorpus,
    InMemoryPairs,
    MixedText,
    TaskFiles,
    add_pairs,
)
from transduce.settings import Data, Recipe
from transduce.settings.data import UNNAMED
from transduce.settings.recipe import with_changes
from transduce.tasks.tagging import TAGGING
from transduce.tasks.text import TRANSLATION
from transduce.text.languages import find_other_language, load_identifier

PAIRS = InMemoryPairs(
    tuple(
        (f"The {animal} sleeps in the old house.", f"Le {bete} dort dans la vieille maison.")
        for animal, bete in (("cat", "chat"), ("dog", "chien"), ("bird", "petit oiseau"))
    )
)
C_N2 = by_name("table3/C-N2")


@pytest.fixture
def without_detector(monkeypatch):
    monkeypatch.setattr(text_names, "can_detect_languages", lambda: False)


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        (("news.en-de.en.gz", "news.en-de.de.gz"), ("en", "de")),
        (("a.fr", "b.en.zst"), ("fr", "en")),
        (("train_en.txt", "train_fr.txt"), ("en", "fr")),
        (("a.eng", "a.fra"), ("en", "fr")),
        (("en", "de"), ("en", "de")),
        (("law.en-fr.source", "law.en-fr.target"), ("en", "fr")),
        (("a.en", "translation.txt"), ("en", "")),
        (("a.en", "b.en"), ("", "")),
        (("source.txt", "target.txt"), ("", "")),
        (("a.gz", "b.xz"), ("", "")),
        (("a.py", "b.md"), ("", "")),
    ],
)
def test_the_names_of_two_files_tell_the_languages(files, languages):
    assert read_languages(FilePair(*map(Path, files))) == languages


@pytest.mark.parametrize(
    ("file", "kind", "languages"),
    [
        ("small.en-fr.tsv", TRANSLATION, ("en", "fr")),
        ("tatoeba-en-de.tsv.gz", TRANSLATION, ("en", "de")),
        ("corpus.eng-fra.tsv", TRANSLATION, ("en", "fr")),
        ("a.en.tsv", TRANSLATION, ("", "")),
        ("all-of-it.tsv", TRANSLATION, ("", "")),
        ("train.de.tsv", TAGGING, ("de", "")),
    ],
)
def test_the_name_of_one_file_tells_the_languages(file, kind, languages):
    assert read_languages(TaskFiles(Path(file), kind)) == languages


def test_text_that_is_mixed_in_has_the_languages_of_the_new_text():
    new, old = FilePair(Path("a.en"), Path("a.fr")), FilePair(Path("b"), Path("c"))
    mixed = add_pairs(new, old, 1.0, ("new", "old"))
    assert read_languages(mixed) == ("en", "fr")


def test_a_corpus_of_ones_own_is_called_by_its_files_and_their_sha256(tmp_path):
    for side, text in (("en", "a dog\n"), ("fr", "un chien\n")):
        (tmp_path / f"a.{side}").write_text(text, "utf-8")
    hashes = [hashlib.sha256(text).hexdigest()[:12] for text in (b"a dog\n", b"un chien\n")]
    named = describe_text(FilePair(tmp_path / "a.en", tmp_path / "a.fr"))
    assert named == f"your own: a.en, sha256 {hashes[0]} and a.fr, sha256 {hashes[1]}"
    assert describe_text(PAIRS).startswith("your own: 3 pairs in memory, sha256 ")


def test_a_mixture_of_other_languages_is_warned_of(tmp_path):
    names = ("a.en-fr.tsv", "b.fr-en.tsv", "c.en_GB-fr.tsv", "d.tsv")
    texts = [TaskFiles(tmp_path / name, TRANSLATION) for name in names]
    mixed = mix_texts([MixedText(one, Share(name="")) for one in texts], [], tag_synthetic=False)
    assert list(warn_of_other_languages(mixed)) == [
        "warning: b.fr-en.tsv is fr to en, and the first text is en to fr"
    ]
    assert list(warn_of_other_languages(texts[1])) == []


def test_the_name_of_a_file_that_is_no_text_can_be_stored(tmp_path):
    file = tmp_path / os.fsdecode(b"\xff.tsv")
    file.write_text("a\tb\n")
    describe_text(TaskFiles(file, TRANSLATION)).encode()


@pytest.mark.usefixtures("without_detector")
def test_a_recipe_on_ones_own_text_claims_nothing_about_its_own_corpus(tmp_path):
    for side in ("one", "two"):
        (tmp_path / side).write_text("a\n")
    found, said = name_text(C_N2, FilePair(tmp_path / "one", tmp_path / "two"), None, {})
    assert found.data.corpus.startswith("your own: one, sha256 ")
    assert (found.data.source_language, found.data.target_language) == UNNAMED
    assert found.name == "2+2 layers, 100,000 updates"
    assert found.about == "table3/C-N2, on your own text"
    assert said == [
        "the languages are not known: name them with --languages en-fr (`serve` and `export` need "
        "them)"
    ]


@pytest.mark.usefixtures("without_detector")
def test_a_tagger_of_ones_own_is_no_tagger_of_the_recipes_treebank(tmp_path):
    (tmp_path / "train.de.tsv").write_text("Hund\tNN\n")
    found, said = name_text(
        by_name("gum-pos"), TaskFiles(tmp_path / "train.de.tsv", TAGGING), None, {}
    )
    assert (found.name, found.about) == (
        "de-tags, 3+3 layers, 4,000 updates",
        "gum-pos, on your own text",
    )
    assert said == ["language: de"]
    (tmp_path / "tags.tsv").write_text("Hund\tNN\n")
    _, said = name_text(by_name("gum-pos"), TaskFiles(tmp_path / "tags.tsv", TAGGING), None, {})
    assert said == ["the language is not known: --languages en names it"]


@pytest.mark.usefixtures("without_detector")
def test_settings_say_what_the_languages_are_whatever_the_files_are_called():
    settings = {"data.source_language": "is", "data.target_language": "fo"}
    found, said = name_text(with_changes(C_N2, settings), PAIRS, None, settings)
    assert found.data.languages == ("is", "fo")
    assert said == []


def test_languages_that_the_files_names_have_the_other_way_round_are_told_of(tmp_path):
    for name in ("a.de", "a.en"):
        (tmp_path / name).write_text("a line\n")
    settings = {"data.source_language": "en", "data.target_language": "de"}
    recipe = with_changes(C_N2, settings)
    text = FilePair(tmp_path / "a.de", tmp_path / "a.en")
    assert name_text(recipe, text, None, settings)[1] == [
        "the files' names say de to en, the options en to de"
    ]
    assert name_text(recipe, FilePair(text.target, text.source), None, settings)[1] == []


@pytest.mark.usefixtures("without_detector")
def test_a_recipe_of_ones_own_keeps_its_name_and_the_languages_that_it_states():
    mine = with_changes(Recipe(name="mine", about="my text"), {"data.target_language": "fo"})
    found, _ = name_text(mine, PAIRS, None, {})
    assert (found.name, found.about, found.data.target_language) == ("mine", "my text", "fo")
    assert found.data.source_language == UNNAMED[0]  # "en" is the default of every recipe


@pytest.mark.skipif(find_spec("py3langid") is None, reason="skipped: py3langid is not installed")
def test_languages_are_guessed_from_the_text_and_that_is_said_and_kept():
    found, said = name_text(C_N2, PAIRS, None, {})
    assert found.data.languages == ("en", "fr")
    assert said == [
        "languages: en to fr, guessed from the text by py3langid; --languages en-fr says otherwise"
    ]
    assert found.because == "the languages were guessed from the text by py3langid"
    assert name_text(C_N2, PAIRS, None, {}, ("de", "fr"))[0].data.languages == ("en", "fr")
    for parents in (("en-GB", "fr"), ("en", "fr-CA")):
        found, said = name_text(C_N2, PAIRS, None, {}, parents)
        assert found.data.languages == parents
        assert said == [f"languages: {' to '.join(parents)}"]


@pytest.mark.usefixtures("without_detector")
def test_languages_that_nothing_tells_are_those_of_the_model_to_go_on_from():
    assert name_text(C_N2, PAIRS, None, {}, ("is", "fo"))[0].data.languages == ("is", "fo")


@pytest.mark.skipif(find_spec("py3langid") is None, reason="skipped: py3langid is not installed")
def test_two_sides_that_seem_to_be_one_language_are_not_guessed():
    twice = InMemoryPairs(tuple((source, source) for source, _ in PAIRS.pairs))
    assert name_text(C_N2, twice, None, {})[0].data.languages == ()


@pytest.mark.skipif(find_spec("py3langid") is None, reason="skipped: py3langid is not installed")
def test_codes_of_parts_are_in_no_language():
    codes = InMemoryPairs(((" ".join(f"a{n} b{n}" for n in range(90)), PAIRS.pairs[0][1]),))
    assert name_text(C_N2, codes, None, {})[0].data.source_language == UNNAMED[0]


@pytest.mark.skipif(find_spec("py3langid") is None, reason="skipped: py3langid is not installed")
def test_a_side_in_another_language_than_the_named_one_gets_one_warning():
    named = with_changes(C_N2, {"data.source_language": "fr", "data.target_language": "en"})
    settings = dict.fromkeys(text_names.LANGUAGES, "as named")
    text = InMemoryPairs(PAIRS.pairs * 7)
    warning = "warning: the source is in the language en, and the model reads fr; are the sides"
    assert [one[: len(warning)] for one in name_text(named, text, None, settings)[1]] == [warning]
    assert name_text(named, PAIRS, None, settings)[1] == [], "three pairs are too short"
    unknown = with_changes(named, {"data.source_language": "sux", "data.target_language": "fr"})
    assert name_text(unknown, text, None, settings)[1] == []


def test_a_corpus_that_has_a_name_is_called_by_it():
    found, said = name_text(C_N2, GeneratedCorpus("phrasebook", "train", 10), None, {})
    assert (found.data.corpus, found.name, said) == ("phrasebook", "table3/C-N2", [])
    assert name_text(C_N2, PAIRS, "multi30k", {})[0].data.corpus == "multi30k"


@pytest.mark.parametrize("name", ["tiny", "student/tiny"])  # 2 + 2 and 6 + 2 layers
def test_a_run_that_goes_on_keeps_its_names_and_its_title_tells_the_new_length(name):
    stored, _ = name_text(by_name(name), PAIRS, None, {"data.source_language": "en"})
    longer = with_changes(by_name(name), {"training.steps": 1_500})
    kept = keep_names(longer, stored, {})
    assert kept.data == stored.data
    assert kept.name == stored.name.replace(f"{stored.training.steps:,} upd", "1,500 upd")
    assert kept.about == stored.about
    mine = replace(stored, name="Mine")
    assert keep_names(longer, mine, {}).name == "Mine"


@pytest.mark.parametrize("name", ["demo", "table3/base of mine", "", " \n", "a\x1bb", "a" * 101, 3])
def test_a_name_is_a_few_words_and_belongs_to_no_recipe(name):
    with pytest.raises(InputError):
        read_name(name)


def test_a_name_is_taken_as_it_is_but_for_double_spaces():
    assert read_name("Law,  English to French") == "Law, English to French"
    with pytest.raises(InputError, match="is no name of a model"):
        read_name("Law, English to\nFrench")


def test_a_translator_has_two_languages_and_a_tagger_one():
    assert name_languages(C_N2, ("en", "pt-BR")).data.languages == ("en", "pt-BR")
    assert name_languages(by_name("gum-pos"), ("de",)).data.languages == ("de", "tags")
    with pytest.raises(InputError, match="has two languages, but 1 was named"):
        name_languages(C_N2, ("en",))
    with pytest.raises(InputError, match="has one language, but 2 were named"):
        name_languages(by_name("gum-pos"), ("en", "de"))


@pytest.mark.parametrize("codes", [("e n", "fr"), ("English", "French"), ()])
def test_a_language_is_named_by_its_code(codes):
    with pytest.raises(InputError):
        name_languages(C_N2, codes)


def test_a_control_character_in_a_files_name_is_not_in_the_corpus_name(tmp_path):
    path = tmp_path / "a\nb\t.tsv"
    path.write_text("a\tb\n", "utf-8")
    assert describe_text(open_texts("train", path, Data())).startswith(
        "your own: a?b?.tsv, sha256 "
    )


def test_another_language_is_found_only_where_it_is_sure():
    german = "Der Hund ist heute nicht zu Hause, und die Katze schläft unter dem Tisch."
    assert find_other_language(german, "en") == "de"
    for expected in ("de", "de-AT", "source", "xx"):
        assert find_other_language(german, expected) == ""
    for text in ("", "123", "Hallo"):
        assert find_other_language(text, "en") == ""


def test_where_no_temporary_file_can_be_written_no_language_is_detected(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    load_identifier.cache_clear()
    german = "Der Hund ist heute nicht zu Hause, und die Katze schläft unter dem Tisch."
    assert find_other_language(german, "en") == ""
    assert name_text(C_N2, PAIRS, None, {})[0].data.languages == ()


def test_a_file_of_pairs_that_is_named_as_a_source_is_warned_of(tmp_path):
    (tmp_path / "a.en").write_text("the dog\tder Hund\n" * 20)
    (tmp_path / "a.de").write_text("der Hund\n" * 20)
    text = open_texts("train", (tmp_path / "a.en", tmp_path / "a.de"), Data())
    _, said = name_text(C_N2, text, None, {})
    fact = f"{tmp_path / 'a.en'} is no plain text: each line has a tab, as in a file of pairs"
    assert [one for one in said if "warning" in one] == [f"warning: {fact}; --pairs reads pairs"]


def test_pairs_that_all_stand_in_quotes_are_warned_of(tmp_path):
    for name, told in (("a.tsv", True), ("a.csv", False)):
        (tmp_path / name).write_text('"the ""dog"""\t"der Hund"\n' * 20)
        _, said = name_text(C_N2, open_texts("train", tmp_path / name, Data()), None, {})
        assert any("stands in quotes" in one for one in said) == told
