"""Fetch a public corpus into a folder with one text file for each split and language.

    CACHE/wmt14-en-de/en-de/         train.en train.de dev.en dev.de … manifest.json
    CACHE/downloads/                 the downloaded files that the text files were made from

A treebank's folder has its trees, and two tagging corpora made from the trees:

    CACHE/craft/en/train.trees       the raw trees, one a line, in the order of the documents
    CACHE/craft/en/train.pos.tsv     token<TAB>part of speech, of the cleaned trees
    CACHE/craft/en/train.chunks.tsv  token<TAB>B-NP, I-NP or O: base noun phrases

The manifest lists the origin and the number of lines of every part, and all differences from the
expected line counts and checksums.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from transduce.datasets import mtdata
from transduce.datasets.catalogue import find_corpus, find_treebank, split_treebank_name
from transduce.datasets.downloads import DownloadSettings, VerifiedFile, delete_download, find_file
from transduce.datasets.transfer import DownloadProgress
from transduce.datasets.unpack import DAMAGED_HINT, read_text_lines
from transduce.datasets.values import (
    WHOLE,
    Corpus,
    Document,
    Pair,
    Part,
    Split,
    Text,
    TextPair,
    Treebank,
    TreebankSplit,
    WrongFileError,
)
from transduce.durable.folder import FolderWriter, VerifiedFolder, atomic_folder, open_folder
from transduce.errors import FolderError, InputError
from transduce.text.tags import (
    TaggedSentence,
    format_tagged,
    tag_base_noun_phrases,
    tag_parts_of_speech,
)
from transduce.text.trees.brackets import parse_tree
from transduce.text.trees.tree import Tree, clean_tree

KIND = "corpus"
MAX_NAMED = 10  # the most missing files that an error message names
# for each part of a corpus, the chosen text pair and the files of its two texts
ChosenTexts = dict[Part, tuple[TextPair, dict[Text, VerifiedFile]]]
About = dict[str, Any]  # the values of a corpus folder's manifest, added to as files are written
Write = Callable[[bytes], int]  # writes to one file of a split
# endings of a treebank split's files, by the suffix of a corpus name: gum, gum-pos, gum-chunks
FILES = {"": "trees", "pos": "pos.tsv", "chunks": "chunks.tsv"}
TAGGERS: dict[str, Callable[[Tree], TaggedSentence]] = {
    "pos.tsv": tag_parts_of_speech,
    "chunks.tsv": tag_base_noun_phrases,
}
RESUME_HINT = "the same command goes on where it was; --from FOLDER takes copies that you have"


def corpus_folder(corpus: Corpus | Treebank, cache: Path) -> Path:
    """Return the path of a corpus's folder in the cache."""
    return cache / corpus.name / "-".join(corpus.languages)


def find_split_files(
    name: str, split: str, languages: tuple[str, str], cache: Path
) -> tuple[Path, Path] | None:
    """Return the verified (source, target) files of a split, or None if the corpus lacks it."""
    elsewhere = dict(find_corpus(name, languages).other_splits)
    lies_in, split = (elsewhere[split], "test") if split in elsewhere else (name, split)
    folder = open_fetched(find_corpus(lies_in, languages), cache, name)
    have = read_splits(folder)
    if split not in have and split in ("train", "test"):
        split = WHOLE
    if split not in have:
        return None
    source, target = (folder.verified_path(f"{split}.{language}") for language in languages)
    return source, target


def find_treebank_file(name: str, split: str, cache: Path) -> Path | None:
    """Return the verified file of a fetched treebank's split, or None if it lacks the split.

    The name "gum" gives GUM's trees, "gum-pos" its part-of-speech tags, and "gum-chunks" its base
    noun phrases.
    """
    treebank, form = split_treebank_name(name)
    folder = open_fetched(find_treebank(treebank), cache, treebank)
    file = f"{split}.{FILES[form]}"
    return folder.verified_path(file) if split in read_splits(folder) else None


def open_fetched(corpus: Corpus | Treebank, cache: Path, name_to_fetch: str) -> VerifiedFolder:
    """Open the folder of a known corpus; if missing, InputError says to fetch `name_to_fetch`."""
    folder = corpus_folder(corpus, cache)
    if not folder.is_dir():
        fact = f"the corpus {corpus.name} is not here: {folder} does not exist"
        raise InputError(fact, f"transduce fetch {name_to_fetch}")
    return open_folder(folder, KIND)


def read_splits(folder: VerifiedFolder) -> dict[str, Any]:
    """Return the splits in the manifest of a fetched corpus; FolderError if they are malformed."""
    match folder.about.get("splits"):
        case dict(splits) if all(
            isinstance(one, dict) and type(one.get("lines")) is int for one in splits.values()
        ):
            return splits
    raise FolderError("names no splits", "delete it, and fetch it again", file=folder.folder)


def fetch_corpus(
    corpus: Corpus | Treebank,
    cache: Path,
    settings: DownloadSettings,
    progress: DownloadProgress,
) -> VerifiedFolder:
    """Return a corpus's folder in the cache after verifying every byte; make it if missing."""
    folder = corpus_folder(corpus, cache)
    if folder.is_dir():
        existing = open_folder(folder, KIND)
        existing.verify()
        return existing
    about: About = {"name": corpus.name, "languages": list(corpus.languages)}
    about["licence"] = corpus.licence
    steps: dict[str, Callable[[FolderWriter, About], None]]  # functions that write a split each
    if isinstance(corpus, Treebank):
        about["source"] = corpus.source
        trees = find_documents(corpus, settings, progress)
        steps = {one.name: partial(write_trees, one, trees) for one in corpus.splits}
    else:
        if corpus.name.startswith(mtdata.PREFIX):
            corpus = mtdata.resolve_splits(corpus)
        texts = choose_text_pairs(corpus, settings, progress)
        languages = corpus.languages
        steps = {one.name: partial(write_split, one, languages, texts) for one in corpus.splits}
    about |= {"splits": {}, "unlike": []}  # unlike: unexpected line counts and checksums
    with atomic_folder(folder, kind=KIND, about=about) as writer:
        for name, write in steps.items():
            progress(f"unpacking {name}", 0, 0)
            write(writer, about)
    return open_folder(folder, KIND)


def missing_files_error(name: str, missing: Iterable[str]) -> InputError:
    """Build the error for files that a corpus needs and that cannot be downloaded offline."""
    files = list(dict.fromkeys(missing))
    more = len(files) - MAX_NAMED
    named = ", ".join(files[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return InputError(
        f"{name} needs what is not here: {named}",
        "without --offline they are fetched; --from FOLDER takes your own",
    )


def choose_text_pairs(
    corpus: Corpus, settings: DownloadSettings, progress: DownloadProgress
) -> ChosenTexts:
    """Choose each part's first text pair whose files are available; InputError if one has none.

    Without a network, one InputError names the missing files of all parts.
    """
    chosen_texts, missing = {}, []
    for part in dict.fromkeys(part for split in corpus.splits for part in split.parts):
        try:
            chosen_texts[part] = choose_text_pair(part, settings, progress)
        except InputError as error:
            if settings.network or isinstance(error, WrongFileError):
                raise
            missing += [text.download.name for text in part.text_pairs[0]]
    if missing:
        raise missing_files_error(corpus.name, missing)
    return chosen_texts


def choose_text_pair(
    part: Part, settings: DownloadSettings, progress: DownloadProgress
) -> tuple[TextPair, dict[Text, VerifiedFile]]:
    """Return a part's first available text pair, and each text's file; InputError if none is."""
    reasons, how = [], (settings, progress)
    for text_pair in part.text_pairs:
        try:
            files = {
                one: find_readable_file([t for t in text_pair if t.download == one], *how)
                for one in dict.fromkeys(text.download for text in text_pair)
            }
            return text_pair, {text: files[text.download] for text in text_pair}
        except InputError as error:
            if isinstance(error, WrongFileError):
                raise
            reasons.append(error.fact)
    raise InputError(f"{part.name} cannot be had: " + "; ".join(reasons), RESUME_HINT)


def find_readable_file(
    texts: Sequence[Text], settings: DownloadSettings, progress: DownloadProgress
) -> VerifiedFile:
    """Find or download these texts' file, from the first address that gives a readable one.

    A download without a known checksum is deleted if it cannot be read, or has no line of text, and
    its next address is tried.
    """
    what, unreadable = texts[0].download, dict[str, str]()  # address -> fault of its file
    while True:
        try:
            file = find_file(what, settings, progress, unreadable)
        except InputError as error:
            fact = "; ".join([*unreadable.values(), error.fact])
            raise type(error)(fact, error.hint) from error
        try:
            for text in texts if not what.has_checksum else ():
                require_readable(text, file.path)
        except InputError as error:
            if file.path.parent != settings.folder or isinstance(error, WrongFileError):
                raise
            delete_download(file.path)
            unreadable[file.origin] = f"{file.origin}: {error.fact}"
            if settings.network is None or set(what.addresses) <= set(unreadable):
                raise
        else:
            return file


def require_readable(text: Text, path: Path) -> None:
    """Read a text to its end; raise InputError if it cannot be unpacked, or has no line of text."""
    has_text = False
    for line in read_text_lines(text, path):
        has_text = has_text or bool(line.strip())
    if not has_text:
        raise InputError("has no line of text", DAMAGED_HINT, file=path)


def write_split(
    split: Split,
    languages: tuple[str, str],
    chosen_texts: ChosenTexts,
    writer: FolderWriter,
    about: About,
) -> None:
    """Write a split's two text files; add their line counts and origins to `about`."""
    names = [f"{split.name}.{language}" for language in languages]
    parts: list[dict[str, object]] = []
    with ExitStack() as stack:
        source, target = (stack.enter_context(writer.open(name)) for name in names)
        count = 0
        for one, other in split.pair_filter(read_pairs(split, chosen_texts, parts, about)):
            source.write(one + b"\n")
            target.write(other + b"\n")
            count += 1
    about["splits"][split.name] = {"lines": count, "parts": parts}
    record_mismatch(f"{split.name}", split.expected, count, about)
    for name, known in zip(names, split.sha256, strict=True):
        if known and writer.files[name]["sha256"] != known:
            about["unlike"].append(f"{name} is another text than the one that was expected")


def read_pairs(
    split: Split,
    chosen_texts: ChosenTexts,
    summaries: list[dict[str, object]],
    about: About,
) -> Iterator[Pair]:
    """Yield the pairs of all parts of a split; append a summary of each part to `summaries`."""
    for part in split.parts:
        text_pair, found = chosen_texts[part]
        count = 0
        for pair in zip_lines(part, text_pair, found):
            yield pair
            count += 1
        record_mismatch(part.name, part.lines, count, about)
        origins = {one.origin: one.sha256 for one in found.values()}
        summaries.append({"name": part.name, "lines": count, "from": origins})


def zip_lines(part: Part, text_pair: TextPair, found: dict[Text, VerifiedFile]) -> Iterable[Pair]:
    """Yield the line pairs of a text pair's two files; InputError if one file has more lines."""
    sides = [read_text_lines(text, found[text].path) for text in text_pair]
    for number, (source, target) in enumerate(zip_longest(*sides), start=1):
        if source is None or target is None:
            fact = f"{part.name}: one side ends before line {number:,}, the other does not"
            raise InputError(fact, "the files do not belong together: fetch them again")
        yield source, target


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
            if isinstance(error, WrongFileError):
                raise
            if settings.network:
                fact = f"{download.name} of {treebank.name} cannot be had: {error.fact}"
                raise InputError(fact, RESUME_HINT) from error
            missing.append(download.name)
    if missing:
        raise missing_files_error(treebank.name, missing)
    return found


def write_trees(
    split: TreebankSplit,
    found: dict[Document, VerifiedFile],
    writer: FolderWriter,
    about: About,
) -> None:
    """Write a treebank split's three files; add its documents' counts and origins to `about`."""
    with ExitStack() as stack:
        write = {
            form: stack.enter_context(writer.open(f"{split.name}.{form}")).write
            for form in FILES.values()
        }
        parts = [write_document(one, found[one], write, about) for one in split.documents]
    about["splits"][split.name] = {
        "lines": sum(one["lines"] for one in parts),
        "parts": parts,
    }


def write_document(
    document: Document, found: VerifiedFile, write: Mapping[str, Write], about: About
) -> dict[str, Any]:
    """Write a document's trees and tagged sentences; return its entry for the manifest."""
    count = 0
    for line in read_text_lines(document.text, found.path):
        count += 1
        write["trees"](line + b"\n")
        tree = clean_tree(parse_tree(line.decode()))
        if tree is None:  # the tree has no words, only traces (-NONE-)
            continue
        for form, tag in TAGGERS.items():
            write[form](format_tagged(tag(tree)).encode())
    record_mismatch(document.name, document.trees, count, about)
    return {
        "name": document.name,
        "lines": count,
        "from": {found.origin: found.sha256},
        "licence": document.licence,
    }


def record_mismatch(name: str, expected: int, found: int, about: About) -> None:
    """Add a message to `about` if the line count is not as expected (0: any count is fine)."""
    note = f"{name} has {found:,} lines, and {expected:,} were expected"
    if expected and expected != found and note not in about["unlike"]:
        about["unlike"].append(note)
