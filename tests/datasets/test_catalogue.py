"""What is stated of the public corpora, held against those who know it."""

import re

import pytest
from sacrebleu.dataset import DATASETS

from transduce.datasets.catalogue import (
    CORPORA,
    find_corpora,
    find_corpus,
    is_treebank,
    list_split_corpora,
)
from transduce.datasets.catalogue import DOWNLOADS as FILES
from transduce.errors import InputError
from transduce.recipes import by_name, names
from transduce.recipes.open import LONG_INPUTS, STUDENTS, USER_FILES
from transduce.runs.texts import GENERATED

TEXTS = [
    text
    for corpus in CORPORA
    for split in corpus.splits
    for part in split.parts
    for way in part.ways
    for text in way
]
DOWNLOADS = {text.download for text in TEXTS}


def test_every_corpus_of_a_recipe_is_generated_or_in_the_catalogue_in_its_languages():
    own = {
        "wsj",
        "wsj-semi-supervised",
        "scirex",
        *(recipe.data.corpus for recipe in (*USER_FILES, *STUDENTS, LONG_INPUTS)),
    }
    for data in (by_name(name).data for name in names()):
        if is_treebank(data.corpus):
            find_corpus(data.corpus.partition("-")[0], (data.source_language,))
        elif data.corpus not in {*GENERATED, *own}:
            find_corpus(data.corpus, (data.source_language, data.target_language))


def test_a_corpus_is_found_in_both_directions():
    assert find_corpus("multi30k", ("de", "en")) == find_corpus("multi30k", ("en", "de"))


def test_other_languages_are_refused_with_those_that_there_are():
    with pytest.raises(InputError, match="newstest2014 is en-de and en-fr, not en-ru"):
        find_corpus("newstest2014", ("en", "ru"))


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"unknown corpus 'newstest2015'\nhint: did you mean"):
        find_corpora("newstest2015")


@pytest.mark.parametrize("name", ["wmt14-en-de", "wmt14-en-fr"])
def test_the_training_data_of_the_paper_brings_its_development_and_test_set(name):
    (corpus,) = find_corpora(name)
    found = [one.name for one in list_split_corpora(corpus)]
    assert found == [name, "newstest2013", "newstest2014"]


def test_the_counts_of_the_training_data_are_those_of_the_papers_section_5_1():
    german, french = (
        find_corpus(f"wmt14-en-{code}", ("en", code)).splits[0] for code in ("de", "fr")
    )
    assert round(german.expected / 1e6, 1) == 4.5
    assert french.expected == 40_842_333  # the paper says 36 million, after it had cleaned them


def test_every_download_has_an_address_of_the_web_and_a_sum_of_the_right_form():
    for one in DOWNLOADS:
        assert all(re.fullmatch(r"https?://[^ ]+/[\w.-]+", address) for address in one.addresses)
        assert re.fullmatch(r"([0-9a-f]{64})?", one.sha256)
        assert re.fullmatch(r"([0-9a-f]{32})?", one.md5)
    assert len({one.cache_name for one in DOWNLOADS}) == len(DOWNLOADS)


def test_all_but_three_downloads_have_a_known_hash_or_another_way_that_has():
    parts = {part for corpus in CORPORA for split in corpus.splits for part in split.parts}
    unknown = {
        part.name
        for part in parts
        if not any(all(text.download.has_checksum for text in way) for way in part.ways)
    }
    assert unknown == {"IWSLT14 training", *(name for name in unknown if name.startswith("TED"))}


@pytest.mark.parametrize(
    ("name", "download"),
    [("wmt13", FILES["newstest2013"]), ("wmt14/full", FILES["newstest2014"])],
)
def test_archives_of_test_sets_are_those_of_sacrebleu(name, download):
    known = DATASETS[name]
    assert set(known.data or [""]) <= set(download.addresses)
    assert known.md5 == [download.md5]


@pytest.mark.parametrize("pair", ["en-de", "en-fr"])
@pytest.mark.parametrize(("name", "year"), [("wmt13", 2013), ("wmt14/full", 2014)])
def test_members_of_test_sets_are_those_of_sacrebleu(name, year, pair):
    corpus = find_corpus(f"newstest{year}", tuple(pair.split("-")))
    official = corpus.splits[0].parts[0].ways[-1]
    assert DATASETS[name].langpairs[pair][:2] == [text.member for text in official]


def test_the_addresses_of_training_data_are_those_of_mtdata():
    index = pytest.importorskip("mtdata.index", reason="skipped: mtdata is not installed").Index()
    pytest.importorskip("mtdata.index.statmt").load_parallel(index)
    known = {
        (entry.url.partition("://")[2], member)
        for entry in index.get_entries()
        for member in entry.in_paths or ()
    }
    ours = {
        (text.download.addresses[-1].partition("://")[2], text.member)
        for text in TEXTS
        if re.search(r"europarl-v7|commoncrawl", text.member) and text.download.name.endswith("tgz")
    }
    assert len(ours) == 8
    assert ours - known == set()
