"""From a corpus as a value to a folder of its texts."""

import gzip
import hashlib
import shutil
from dataclasses import replace

import pytest
from tests.datasets.made import Miniature

from transduce.datasets import fetch as fetching
from transduce.datasets.catalogue import CORPORA, FILTERS, find_corpus
from transduce.datasets.fetch import corpus_folder, fetch_corpus, find_split_files
from transduce.datasets.readers import split_by_hash
from transduce.datasets.values import Corpus, Download, Part, Split, Text
from transduce.durable.folder import open_folder
from transduce.errors import FolderError, InputError
from transduce.runs.texts import FilePair
from transduce.scores.test_sets import GERMAN_2014_FILTERED, identify_test_set


def silent(*_):
    """Tell nobody."""


def small(site, **more):
    """A corpus of one part in two plain files."""
    texts = [Text(Download((site.put(f"a.{side}", text),))) for side, text in TEXTS.items()]
    ways = (*more.pop("before", ()), tuple(texts), *more.pop("after", ()))
    split = Split("train", (Part("one", ways, more.pop("lines", 2)),), **more)
    return Corpus("small", ("en", "de"), "about", "a licence", (split,))


TEXTS = {"en": b"A dog.\nA cat.\n", "de": b"Ein Hund.\nEine Katze."}


def test_a_corpus_becomes_a_folder_whose_manifest_says_where_it_is_from(site, settings, tmp_path):
    found = fetch_corpus(small(site), tmp_path, settings, silent)
    assert found.folder == tmp_path / "small/en-de"
    assert found.read("train.en") == TEXTS["en"]
    assert found.read("train.de") == TEXTS["de"] + b"\n"
    (part,) = found.about["splits"]["train"]["parts"]
    assert part["from"] == {
        f"{site.address}/a.{side}": hashlib.sha256(text).hexdigest() for side, text in TEXTS.items()
    }
    assert (found.about["licence"], found.about["unlike"]) == ("a licence", [])


def test_it_is_made_once(site, settings, tmp_path):
    fetch_corpus(small(site), tmp_path, settings, silent)
    site.asked.clear()
    fetch_corpus(small(site), tmp_path, replace(settings, network=None), silent)
    assert site.asked == []


def test_a_fetched_corpus_that_was_edited_is_refused(site, settings, tmp_path):
    folder = fetch_corpus(small(site), tmp_path, settings, silent).folder
    (folder / "train.de").write_bytes(b"Ein Hund.\nEine Kuh..\n")
    with pytest.raises(FolderError, match=r"train\.de: is not as it was written"):
        fetch_corpus(small(site), tmp_path, settings, silent)


def test_another_count_than_the_expected_one_is_noted_not_refused(site, settings, tmp_path):
    found = fetch_corpus(small(site, lines=3, sha256=("0" * 64, "")), tmp_path, settings, silent)
    assert found.about["unlike"] == [
        "one has 2 lines, and 3 were expected",
        "train has 2 lines, and 3 were expected",
        "train.en is another text than the one that was expected",
    ]


def test_sides_of_unequal_length_are_refused_and_nothing_stays(site, settings, tmp_path):
    corpus = small(site)
    site.put("a.de", b"Ein Hund.\n")
    with pytest.raises(InputError, match="one: one side ends before line 2, the other does not"):
        fetch_corpus(corpus, tmp_path, settings, silent)
    assert not (tmp_path / "small").exists()


def test_a_pair_of_texts_whose_file_is_missing_or_no_archive_is_replaced_by_the_next(
    site, settings, tmp_path
):
    def text_pair(name):
        download = Download((f"{site.address}/{name}",))
        return tuple(Text(download, side) for side in ("en", "de"))

    site.put("page.tgz", b"<html>log in</html>")
    corpus = small(site, before=(text_pair("gone.tgz"), text_pair("page.tgz")))
    assert fetch_corpus(corpus, tmp_path, settings, silent).about["splits"]["train"]["lines"] == 2
    assert [path for path in settings.folder.iterdir() if "page" in path.name] == []


def test_all_pairs_of_texts_that_fail_are_named_with_their_reasons(site, settings, tmp_path):
    corpus = small(site)
    site.files.clear()
    with pytest.raises(InputError, match=r"one cannot be had: http.*a\.en: the server answered"):
        fetch_corpus(corpus, tmp_path, settings, silent)


def test_without_a_network_all_that_is_missing_is_named(tmp_path, settings):
    with pytest.raises(InputError) as error:
        fetch_corpus(
            find_corpus("wmt14-en-fr", ("en", "fr")),
            tmp_path,
            replace(settings, network=None),
            silent,
        )
    assert error.value.fact == (
        "wmt14-en-fr needs what is not here: training-parallel-europarl-v7.tgz, "
        "training-parallel-commoncrawl.tgz, training-parallel-nc-v9.tgz, "
        "training-parallel-un.zip, training-giga-fren.zip"
    )
    assert error.value.hint.startswith("without --offline they are fetched")


def test_every_corpus_of_the_catalogue_is_fetched_from_a_copy_in_miniature(
    site, settings, tmp_path
):
    for corpus in Miniature(site).corpora(CORPORA):
        found = fetch_corpus(corpus, tmp_path, settings, silent)
        for split in corpus.splits:
            sides = [found.read(f"{split.name}.{code}").splitlines() for code in corpus.languages]
            assert len(sides[0]) == len(sides[1]) == found.about["splits"][split.name]["lines"]
        assert found.about["unlike"] == []


def test_the_second_pair_of_texts_has_the_same_lines(site, settings, tmp_path):
    for corpus in Miniature(site).corpora(CORPORA):
        first = fetch_corpus(corpus, tmp_path / "first", settings, silent)
        turned = [
            replace(s, parts=tuple(replace(p, ways=p.ways[::-1]) for p in s.parts))
            for s in corpus.splits
        ]
        second = replace(corpus, splits=tuple(turned))
        assert fetch_corpus(second, tmp_path / "second", settings, silent).files == first.files


def test_one_pair_of_so_many_is_held_out():
    every = [(b"%d" % number, b"") for number in range(1, 101)]
    held, rest = (list(FILTERS[name](every)) for name in ("23rd", "no 23rd"))
    assert [int(source) for source, _ in held] == [23, 46, 69, 92]
    assert sorted(held + rest) == sorted(every)


def test_no_source_sentence_of_a_hashed_corpus_stands_in_two_splits():
    every = [(b"s%d" % (number % 5_000), b"t%d" % number) for number in range(6_000)]
    splits = [list(split_by_hash(name)(every)) for name in ("train", "dev", "test")]
    sources = [{source for source, _ in split} for split in splits]
    assert [len(one) for one in sources] == [1_000, 2_000, 2_000]
    assert not sources[0] & (sources[1] | sources[2])
    assert not sources[1] & sources[2]


def test_a_hashed_corpus_that_is_no_utf_8_is_named_by_its_file(site, settings, tmp_path):
    text = Text(Download((site.put("a.txt", b"\xff\n"),)))
    split = Split("train", (Part("one", ((text, text),)),), pair_filter=split_by_hash("train"))
    corpus = Corpus("hashed", ("en", "de"), "", "", (split,))
    with pytest.raises(InputError, match=r"-a\.txt: has text that is no UTF-8"):
        fetch_corpus(corpus, tmp_path, settings, silent)
    assert not corpus_folder(corpus, tmp_path).exists()


def test_captions_are_taken_from_a_copy_of_their_authors_files(shared, tmp_path, settings):
    corpus = find_corpus("multi30k", ("en", "de"))
    own = replace(settings, copies=shared / "data/multi30k", network=None)
    found = fetch_corpus(corpus, tmp_path, own, silent)
    assert found.about["unlike"] == []
    assert (
        identify_test_set(found.read("test.de").decode().splitlines())
        == "Multi30k test 2016, German"
    )


def test_the_filtered_edition_is_found_in_the_whole_one(shared, tmp_path, settings):
    for side in ("en", "de"):
        packed = (shared / f"data/wmt-newstest/newstest2014.en-de.{side}.gz").read_bytes()
        (tmp_path / f"newstest2014.{side}").write_bytes(gzip.decompress(packed))
    own = replace(settings, copies=tmp_path, network=None)
    found = fetch_corpus(find_corpus("newstest2014-filtered", ("en", "de")), tmp_path, own, silent)
    assert found.about["unlike"] == []
    assert identify_test_set(found.read("test.de").decode().splitlines()) == GERMAN_2014_FILTERED


def test_a_split_is_found_in_both_directions_and_where_else_it_lies(
    site, settings, tmp_path, monkeypatch
):
    copies = Miniature(site).corpora(CORPORA[:6])
    monkeypatch.setattr("transduce.datasets.catalogue.CORPORA", copies)
    for corpus in copies:
        fetch_corpus(corpus, tmp_path, settings, silent)
    dev = find_split_files("wmt14-en-de", "dev", ("de", "en"), tmp_path)
    folder = corpus_folder(find_corpus("newstest2013", ("en", "de")), tmp_path)
    assert dev == (folder / "test.de", folder / "test.en")
    assert find_split_files("newstest2014", "train", ("en", "fr"), tmp_path) is None
    assert FilePair(*dev).fingerprint().split()[0] == (
        open_folder(folder, fetching.CORPUS_KIND).files["test.de"].sha256
    )


def test_a_file_that_cannot_be_unpacked_is_taken_from_the_next_mirror(site, settings, tmp_path):
    bad, cut = site.put("bad.en.gz", b"no gzip"), site.put("cut.gz", gzip.compress(b"A dog.")[:9])
    good = site.put("good.gz", gzip.compress(TEXTS["en"]))
    german = Text(Download((site.put("a.de", TEXTS["de"]),)))
    pair = (Text(Download((bad, cut, good))), german)
    corpus = Corpus("mirrors", ("en", "de"), "", "", (Split("train", (Part("one", (pair,)),)),))
    found = fetch_corpus(corpus, tmp_path, settings, silent)
    assert found.read("train.en") == TEXTS["en"]
    (part,) = found.about["splits"]["train"]["parts"]
    assert good in part["from"]
    site.asked.clear()
    shutil.rmtree(found.folder)
    fetch_corpus(corpus, tmp_path, settings, silent)
    assert site.asked == []


def test_where_no_mirror_has_a_file_that_can_be_unpacked_all_are_named(site, settings, tmp_path):
    bad, gone = site.put("bad.en.gz", b"no gzip"), f"{site.address}/gone.gz"
    pair = tuple(Text(Download((bad, gone), file_name=f"{side}.gz")) for side in "ab")
    corpus = Corpus("mirrors", ("en", "de"), "", "", (Split("train", (Part("one", (pair,)),)),))
    with pytest.raises(InputError, match=r"bad\.en\.gz: .*cannot be unpacked.*gone\.gz"):
        fetch_corpus(corpus, tmp_path, settings, silent)
    assert not list(settings.folder.glob("*.gz"))
