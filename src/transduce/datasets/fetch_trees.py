"""Fetch a treebank into a folder with its trees, and two tagging corpora made from the trees.

CACHE/craft/en/train.trees       the raw trees, one a line, in the order of the documents
CACHE/craft/en/train.pos.tsv     token<TAB>part of speech, of the cleaned trees
CACHE/craft/en/train.chunks.tsv  token<TAB>B-NP, I-NP or O: base noun phrases
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from transduce.datasets.catalogue import find_treebank, split_treebank_name
from transduce.datasets.downloads import WRONG_FILE_HINT, DownloadSettings, VerifiedFile, find_file
from transduce.datasets.fetch import (
    KIND,
    RESUME_HINT,
    CorpusRecord,
    corpus_folder,
    missing_files_error,
    open_fetched,
    open_verified,
    read_splits,
    record_mismatch,
)
from transduce.datasets.transfer import DownloadProgress
from transduce.datasets.treebanks import Document, Treebank, TreebankSplit
from transduce.datasets.unpack import read_text_lines
from transduce.durable.folder import FolderWriter, VerifiedFolder, atomic_folder, open_folder
from transduce.errors import InputError
from transduce.text.tags import TaggedSentence, format_tagged
from transduce.text.tags_of_trees import tag_base_noun_phrases, tag_parts_of_speech
from transduce.text.trees.clean import TreeReport, clean_tree
from transduce.text.trees.read import parse_tree
from transduce.text.trees.tree import Tree

Write = Callable[[bytes], int]  # writes to one file of a split
# endings of a split's files, by the suffix of a corpus name: gum, gum-pos, gum-chunks
FILES = {"": "trees", "pos": "pos.tsv", "chunks": "chunks.tsv"}
TAGGERS: dict[str, Callable[[Tree], TaggedSentence]] = {
    "pos.tsv": tag_parts_of_speech,
    "chunks.tsv": tag_base_noun_phrases,
}


def find_treebank_file(name: str, split: str, cache: Path) -> Path | None:
    """Return the verified file of a split of a fetched treebank; None if there is no such split.

    The name "gum" gives GUM's trees, "gum-pos" its part-of-speech tags, and "gum-chunks" its base
    noun phrases.
    """
    treebank, form = split_treebank_name(name)
    folder = open_fetched(find_treebank(treebank), cache, treebank)
    file = f"{split}.{FILES[form]}"
    return folder.verified_path(file) if split in read_splits(folder) else None


def fetch_treebank(
    treebank: Treebank, cache: Path, settings: DownloadSettings, progress: DownloadProgress
) -> VerifiedFolder:
    """Return a treebank's verified folder in the cache; download its files if it is missing."""
    folder = corpus_folder(treebank, cache)
    if folder.is_dir():
        return open_verified(folder)
    found = find_documents(treebank, settings, progress)
    record = CorpusRecord({"name": treebank.name, "languages": list(treebank.languages)})
    record.about |= {"licence": treebank.licence, "source": treebank.source}
    record.about |= {"splits": {}, "unlike": record.mismatches}
    with atomic_folder(folder, kind=KIND, about=record.about) as writer:
        for split in treebank.splits:
            progress(f"unpacking {split.name}", 0, 0)
            write_split(split, found, writer, record)
    return open_folder(folder, KIND)


def find_documents(
    treebank: Treebank, settings: DownloadSettings, progress: DownloadProgress
) -> dict[Document, VerifiedFile]:
    """Return the downloaded file of every document; if offline, InputError lists missing files."""
    found, missing = {}, []
    for document in treebank.documents:
        download = document.text.download
        try:
            found[document] = find_file(download, settings, progress)
        except InputError as error:
            if error.hint == WRONG_FILE_HINT:
                raise
            if settings.network:
                fact = f"{download.name} of {treebank.name} cannot be had: {error.fact}"
                raise InputError(fact, RESUME_HINT) from error
            missing.append(download.name)
    if missing:
        raise missing_files_error(treebank.name, missing)
    return found


def write_split(
    split: TreebankSplit,
    found: dict[Document, VerifiedFile],
    writer: FolderWriter,
    record: CorpusRecord,
) -> None:
    """Write a treebank split's three files; add its documents' counts and origins to the record."""
    with ExitStack() as stack:
        write = {
            form: stack.enter_context(writer.open(f"{split.name}.{form}")).write
            for form in FILES.values()
        }
        parts = [write_document(one, found[one], write, record) for one in split.documents]
    record.about["splits"][split.name] = {
        "lines": sum(one["lines"] for one in parts),
        "parts": parts,
    }


def write_document(
    document: Document, found: VerifiedFile, write: Mapping[str, Write], record: CorpusRecord
) -> dict[str, Any]:
    """Write a document's trees and tagged sentences; return its entry for the manifest."""
    count = 0
    for line in read_text_lines(document.text, found.path):
        count += 1
        write["trees"](line + b"\n")
        tree = clean_tree(parse_tree(line.decode()), TreeReport())
        if tree is None:  # the tree has no words, only traces (-NONE-)
            continue
        for form, tag in TAGGERS.items():
            write[form](format_tagged(tag(tree)).encode())
    record_mismatch(document.name, document.trees, count, record)
    return {
        "name": document.name,
        "lines": count,
        "from": {found.origin: found.sha256},
        "licence": document.licence,
    }
