"""Public treebanks: what is stated of them, and from documents to a folder of trees and tags."""

import csv
import hashlib
import re
from dataclasses import replace

import pytest
from tests.datasets.made_trees import (
    base_noun_phrases,
    generate_trees,
    one_line,
    pretty,
    without_traces,
    words_and_tags,
)

from transduce.datasets.catalogue import TREEBANKS, find_corpus, is_treebank
from transduce.datasets.fetch import fetch_corpus, find_treebank_file
from transduce.datasets.readers import read_bracketed_trees
from transduce.datasets.values import Corpus, Download, Part, Split, Text
from transduce.errors import FolderError, InputError
from transduce.runs.fetch import fetch
from transduce.text.tags import read_tagged

MADE = list(generate_trees("train", 40))
DOCUMENTS = {"train": {"a1": MADE[:20], "b2": MADE[20:25]}, "dev": {"c3": MADE[25:]}}


def silent(*_):
    """Tell nobody."""


def offer(site, name, trees):
    """A document that lies on the site, its trees over several lines."""
    content = "\n".join(pretty(tree) + "\n" for tree in trees).encode()
    address = site.put(f"{name}.tree", content)
    download = Download((address,), len(content), hashlib.sha256(content).hexdigest())
    text = Text(download, reader=read_bracketed_trees)
    return Part(name, ((text,),), len(trees), f"of {name}")


@pytest.fixture
def treebank(site, monkeypatch):
    """A treebank of three documents that the catalogue knows."""
    splits = [
        Split(split, tuple(offer(site, *one) for one in documents.items()))
        for split, documents in DOCUMENTS.items()
    ]
    made = Corpus("made", ("en",), "about", "a licence", tuple(splits), source="http://source")
    monkeypatch.setattr("transduce.datasets.catalogue.TREEBANKS", (made,))
    return made


def test_a_split_has_the_trees_of_its_documents_one_a_line(treebank, settings, tmp_path):
    found = fetch_corpus(treebank, tmp_path, settings, silent)
    assert found.folder == tmp_path / "made/en"
    for split, documents in DOCUMENTS.items():
        trees = [one_line(tree) for some in documents.values() for tree in some]
        assert found.read(f"{split}.trees").decode().splitlines() == trees


def test_the_manifest_says_licence_source_and_what_each_document_is_from(
    treebank, settings, tmp_path, site
):
    about = fetch_corpus(treebank, tmp_path, settings, silent).about
    assert (about["licence"], about["source"], about["unlike"]) == (
        "a licence",
        "http://source",
        [],
    )
    train = about["splits"]["train"]
    assert (train["lines"], [part["lines"] for part in train["parts"]]) == (25, [20, 5])
    content = site.files["/b2.tree"]
    assert train["parts"][1] == {
        "name": "b2",
        "lines": 5,
        "from": {f"{site.address}/b2.tree": hashlib.sha256(content).hexdigest()},
        "licence": "of b2",
    }


def test_each_split_is_a_corpus_of_tags_and_one_of_base_noun_phrases(treebank, settings, tmp_path):
    fetch_corpus(treebank, tmp_path, settings, silent)
    raw = (tree for some in DOCUMENTS["train"].values() for tree in some)
    trees = [tree for tree in map(without_traces, raw) if tree]
    tags, phrases = (
        list(read_tagged(find_treebank_file(f"made-{tags}", "train", tmp_path) or ""))
        for tags in ("pos", "chunks")
    )
    assert [list(zip(one.tokens, one.labels, strict=True)) for one in tags] == [
        words_and_tags(tree) for tree in trees
    ]
    assert [list(one.labels) for one in phrases] == [base_noun_phrases(tree) for tree in trees]
    assert {label for one in phrases for label in one.labels} == {"B-NP", "I-NP", "O"}


def test_a_tree_of_traces_alone_is_kept_as_a_tree_and_has_no_tags(settings, tmp_path, site):
    document = offer(site, "d", [["", ["S", ["NP", ["-NONE-", "*"]]]], *MADE[:1]])
    traces = Corpus("traces", ("en",), "", "", (Split("train", (document,)),))
    found = fetch_corpus(traces, tmp_path, settings, silent)
    assert found.read("train.trees").count(b"\n") == 2
    assert len(list(read_tagged(found.folder / "train.pos.tsv"))) == 1


def test_it_is_made_once_and_read_only_if_it_is_as_it_was_written(
    treebank, settings, tmp_path, site
):
    folder = fetch_corpus(treebank, tmp_path, settings, silent).folder
    site.asked.clear()
    fetch_corpus(treebank, tmp_path, replace(settings, network=None), silent)
    assert site.asked == []
    assert find_treebank_file("made", "test", tmp_path) is None
    (folder / "dev.trees").write_bytes(b"(S (NN dog))\n")
    with pytest.raises(FolderError, match=r"dev\.trees: is not as it was written"):
        find_treebank_file("made", "dev", tmp_path)


def test_a_document_that_is_gone_or_another_one_is_named_and_what_is_here_stays(
    treebank, settings, tmp_path, site
):
    content = site.files.pop("/b2.tree")
    with pytest.raises(InputError, match=r"b2\.tree of made cannot be had: http.*404") as error:
        fetch_corpus(treebank, tmp_path, settings, silent)
    assert "goes on where it was" in error.value.hint
    site.files["/b2.tree"] = content.replace(b"(DT a)", b"(DT x)")
    with pytest.raises(InputError, match=r"b2\.tree.*is another file: expected sha256"):
        fetch_corpus(treebank, tmp_path, settings, silent)
    assert not (tmp_path / "made").exists()
    site.files["/b2.tree"] = content
    site.asked.clear()
    fetch_corpus(treebank, tmp_path, settings, silent)
    assert [path for path, _ in site.asked] == ["/b2.tree", "/c3.tree"]


def test_another_number_of_trees_than_the_tables_is_noted(treebank, settings, tmp_path):
    train, *others = treebank.splits
    first, *rest = train.parts
    changed = replace(train, parts=(replace(first, lines=21), *rest))
    found = fetch_corpus(replace(treebank, splits=(changed, *others)), tmp_path, settings, silent)
    assert found.about["unlike"] == [
        "a1 has 20 lines, and 21 were expected",
        "train has 25 lines, and 26 were expected",
    ]


def test_copies_are_taken_from_a_folder_without_a_network(treebank, tmp_path, site):
    for path, content in site.files.items():
        (tmp_path / path[1:]).write_bytes(content)
    (found,) = fetch("made", cache=tmp_path / "cache", copies=tmp_path, offline=True)
    assert (found.corpus, found.warnings) == (treebank, ())
    assert found.lines == {"train": 25, "dev": 15}
    assert site.asked == []


def test_without_a_network_some_of_what_is_missing_is_named(tmp_path, settings):
    with pytest.raises(InputError) as error:
        fetch_corpus(
            find_corpus("craft", ("en",)), tmp_path, replace(settings, network=None), silent
        )
    assert error.value.fact.startswith(
        "craft needs what is not here: 11532192.tree, 11597317.tree,"
    )
    assert error.value.fact.endswith(".tree and 87 more")


def test_a_treebank_that_is_not_here_is_answered_with_the_command_that_fetches_it(tmp_path):
    with pytest.raises(InputError, match=r"craft is not here.*\nhint: transduce fetch craft"):
        find_treebank_file("craft-pos", "train", tmp_path)


def test_parallel_corpora_and_treebanks_are_not_taken_for_each_other():
    with pytest.raises(InputError, match="craft is en trees, not en-de"):
        find_corpus("craft", ("en", "de"))
    with pytest.raises(InputError, match=r"multi30k is .*, not en"):
        find_corpus("multi30k", ("en",))


def test_the_tags_of_a_treebank_have_a_name_after_its_own():
    names = ["craft", "gum-pos", "gum-chunks", "gum-trees", "gumpos", "multi30k", "multi30k-pos"]
    assert [is_treebank(name) for name in names] == [True, True, True, *[False] * 4]


def test_a_file_that_ends_inside_a_tree_is_refused():
    lines = iter([b"( (S\n", b"  (NN dog)))\n", b"\n", b"( (S (NN cat))\n"])
    trees = read_bracketed_trees(lines)
    assert next(trees) == b"( (S (NN dog)))"
    with pytest.raises(InputError, match="the last tree has no end"):
        next(trees)


def test_the_numbers_of_documents_and_trees_are_the_published_ones():
    counts = {
        one.name: {s.name: (len(s.parts), sum(part.lines for part in s.parts)) for s in one.splits}
        for one in TREEBANKS
    }
    assert counts["craft"] == {"train": (60, 18_951), "dev": (7, 2_780), "test": (30, 9_099)}
    assert counts["gum"] == {
        "train": (177, 10_224), "dev": (30, 1_575), "test": (30, 1_464), "test2": (26, 1_334),
    }  # fmt: skip


def test_each_document_is_a_file_of_one_commit_with_a_known_hash():
    documents = [part for treebank in TREEBANKS for part in treebank.parts]
    downloads = [text.download for part in documents for (text,) in part.ways]
    address = re.compile(r"https://[^ ]+/[0-9a-f]{40}/[a-z/-]+/\w+\.(tree|ptb)")
    assert all(address.fullmatch(one) for download in downloads for one in download.addresses)
    assert all(re.fullmatch("[0-9a-f]{64}", download.sha256) for download in downloads)
    assert min(download.size for download in downloads) > 0
    assert (
        len({one.cache_name for one in downloads}) == len({one.sha256 for one in downloads}) == 360
    )
    assert not [document.name for document in documents if "reddit" in document.name]


@pytest.mark.parametrize("treebank", TREEBANKS)
def test_splits_and_licences_are_those_of_the_shared_copy(shared, treebank):
    path = shared / f"data/{treebank.name}-treebank/documents.tsv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    ours = {(s.name, part.name, part.lines) for s in treebank.splits for part in s.parts}
    assert ours == {(row["split"], row["document"], int(row["trees"])) for row in rows}
    stated = {row["document"]: row["note"] for row in rows if row["note"].startswith("CC")}
    assert (
        stated.items()
        <= {
            document.name: document.licence for document in find_corpus("gum", ("en",)).parts
        }.items()
    )
