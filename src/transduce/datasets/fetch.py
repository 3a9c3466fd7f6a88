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

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Any

from transduce.datasets import mtdata
from transduce.datasets.catalogue import find_corpus, split_treebank_name
from transduce.datasets.downloads import DownloadSettings, VerifiedFile, delete_download, find_file
from transduce.datasets.transfer import DownloadProgress
from transduce.datasets.unpack import DAMAGED_HINT, read_text_lines
from transduce.datasets.values import (
    WHOLE,
    Corpus,
    Lines,
    Part,
    Split,
    Text,
    Texts,
    WrongFileError,
)
from transduce.durable.folder import FolderWriter, VerifiedFolder, atomic_folder, open_folder
from transduce.errors import FolderError, InputError
from transduce.settings.fields import require
from transduce.text.tags import format_tagged, tag_base_noun_phrases, tag_parts_of_speech
from transduce.text.trees.brackets import parse_tree
from transduce.text.trees.tree import clean_tree

CORPUS_KIND = "corpus"
MAX_NAMED = 10  # the most missing files that an error message names
# for each part of a corpus, the chosen texts (a pair, or one text of trees) and each text's file
ChosenTexts = dict[Part, tuple[Texts, dict[Text, VerifiedFile]]]
About = dict[str, Any]  # the values of a corpus folder's manifest, added to as files are written
# endings of a treebank split's files, by the suffix of a corpus name: gum, gum-pos, gum-chunks
FILES = {"": "trees", "pos": "pos.tsv", "chunks": "chunks.tsv"}
RESUME_HINT = "the same command goes on where it was; --from FOLDER takes copies that you have"


def corpus_folder(corpus: Corpus, cache: Path) -> Path:
    """Return the path of a corpus's folder in the cache."""
    return cache / corpus.name / "-".join(corpus.languages)


def find_split_files(
    name: str, split: str, languages: tuple[str, str], cache: Path
) -> tuple[Path, Path] | None:
    """Return a split's verified (source, target) files, or None if the corpus lacks the split.

    The dev or test set may be the test set of another corpus. "train" and "test" both mean the
    whole corpus if it is not divided. InputError if the corpus has not been fetched.
    """
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
    folder = open_fetched(find_corpus(treebank, ("en",)), cache, treebank)
    file = f"{split}.{FILES[form]}"
    return folder.verified_path(file) if split in read_splits(folder) else None


def open_fetched(corpus: Corpus, cache: Path, name_to_fetch: str) -> VerifiedFolder:
    """Open the folder of a known corpus; if missing, InputError says to fetch `name_to_fetch`."""
    folder = corpus_folder(corpus, cache)
    if not folder.is_dir():
        fact = f"the corpus {corpus.name} is not here: {folder} does not exist"
        raise InputError(fact, f"transduce fetch {name_to_fetch}")
    return open_folder(folder, CORPUS_KIND)


def read_splits(folder: VerifiedFolder) -> dict[str, Any]:
    """Return {split: {"lines": count, …}} of a fetched corpus; FolderError if it is malformed."""
    match folder.about.get("splits"):
        case dict(splits) if all(
            isinstance(one, dict) and type(one.get("lines")) is int for one in splits.values()
        ):
            return splits
    raise FolderError("names no splits", "delete it, and fetch it again", file=folder.folder)


def fetch_corpus(
    corpus: Corpus,
    cache: Path,
    settings: DownloadSettings,
    progress: DownloadProgress,
) -> VerifiedFolder:
    """Verify a corpus's folder in the cache, or download and write it; return the folder."""
    folder = corpus_folder(corpus, cache)
    if folder.is_dir():
        existing = open_folder(folder, CORPUS_KIND)
        existing.verify()
        return existing
    about: About = {"name": corpus.name, "languages": list(corpus.languages)}
    about["licence"] = corpus.licence
    about |= {"source": corpus.source} if corpus.source else {}
    if corpus.name.startswith(mtdata.PREFIX):
        corpus = mtdata.resolve_splits(corpus)
    texts = choose_texts(corpus, settings, progress)
    about |= {"splits": {}, "unlike": []}  # unlike: unexpected line counts and checksums
    with atomic_folder(folder, kind=CORPUS_KIND, about=about) as writer:
        for split in corpus.splits:
            progress(f"unpacking {split.name}", 0, 0)
            write_split(corpus, split, texts, writer, about)
    return open_folder(folder, CORPUS_KIND)


def choose_texts(
    corpus: Corpus, settings: DownloadSettings, progress: DownloadProgress
) -> ChosenTexts:
    """Find or download a corpus's files; return {part: (chosen texts, {text: file})}.

    InputError if a part's files cannot be had; offline, it names the missing files of all parts.
    """
    chosen_texts, missing = {}, dict[str, None]()  # the missing files' names, each once
    for part in corpus.parts:
        name = part.name
        if corpus.is_treebank:
            name = f"{part.ways[0][0].download.name} of {corpus.name}"
        try:
            chosen_texts[part] = find_first_available(part, name, settings, progress)
        except InputError as error:
            if settings.network or isinstance(error, WrongFileError):
                raise
            missing |= dict.fromkeys(text.download.name for text in part.ways[0])
    more = len(missing) - MAX_NAMED
    named = ", ".join([*missing][:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    fact = f"{corpus.name} needs what is not here: {named}"
    require(not missing, fact, "without --offline they are fetched; --from FOLDER takes your own")
    return chosen_texts


def find_first_available(
    part: Part, name: str, settings: DownloadSettings, progress: DownloadProgress
) -> tuple[Texts, dict[Text, VerifiedFile]]:
    """Return (texts, {text: file}) for the first texts in `part.ways` that can be had.

    Files are found here or downloaded. If no texts can be had, InputError names the part `name`.
    """
    reasons, how = [], (settings, progress)
    for texts in part.ways:
        try:
            files = {
                one: find_readable_file([text for text in texts if text.download == one], *how)
                for one in dict.fromkeys(text.download for text in texts)
            }
            if len({file.path for file in files.values()}) < len(files):
                fact = f"{name}: two downloads have one name, and --from has one file of that name"
                raise WrongFileError(fact, "without --from FOLDER both are downloaded")
            return texts, {text: files[text.download] for text in texts}
        except InputError as error:
            if isinstance(error, WrongFileError):
                raise
            reasons.append(error.fact)
    raise InputError(f"{name} cannot be had: " + "; ".join(reasons), RESUME_HINT)


def find_readable_file(
    texts: Sequence[Text], settings: DownloadSettings, progress: DownloadProgress
) -> VerifiedFile:
    """Find or download the file that all these texts are in; InputError if it cannot be had.

    If a download without a known checksum cannot be read, or one of the texts has no line of text,
    it is deleted and the next address is tried.
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
    corpus: Corpus, split: Split, chosen_texts: ChosenTexts, writer: FolderWriter, about: About
) -> None:
    """Write a split's file for each language, or its trees and tags; add its counts to `about`.

    Unexpected line counts and checksums are added to `about`, too. InputError if trees, or lines
    that the split's filter decodes, are no UTF-8.
    """
    endings = FILES.values() if corpus.is_treebank else corpus.languages
    names = [f"{split.name}.{ending}" for ending in endings]
    parts, count = list[dict[str, object]](), 0
    with ExitStack() as stack:
        streams = [stack.enter_context(writer.open(name)) for name in names]
        try:
            for lines in split.pair_filter(read_lines(split, chosen_texts, parts, about)):
                forms = (
                    list_tree_forms(*lines) if corpus.is_treebank else [x + b"\n" for x in lines]
                )
                for stream, content in zip(streams, forms, strict=True):
                    stream.write(content)
                count += 1
        except UnicodeDecodeError as error:
            files = {
                str(one.path) for part in split.parts for one in chosen_texts[part][1].values()
            }
            fact = f"{', '.join(sorted(files))}: has text that is no UTF-8"
            raise InputError(fact, DAMAGED_HINT) from error
    about["splits"][split.name] = {"lines": count, "parts": parts}
    record_mismatch(split.name, split.expected, count, about)
    for name, known in zip(names, split.sha256, strict=False):
        if known and writer.files[name]["sha256"] != known:
            about["unlike"].append(f"{name} is another text than the one that was expected")


def read_lines(
    split: Split, chosen_texts: ChosenTexts, summaries: list[dict[str, object]], about: About
) -> Iterator[Lines]:
    """Yield a split's pairs or trees; add facts on its parts to `summaries` and `about`.

    Each part's name, line count and origin go to `summaries`, an unexpected line count to `about`.

    Raises InputError if one side of a part has more lines than the other.
    """
    for part in split.parts:
        texts, files = chosen_texts[part]
        count, sides = 0, [read_text_lines(text, files[text].path) for text in texts]
        for count, lines in enumerate(zip_longest(*sides), start=1):
            if None in lines:
                fact = f"{part.name}: one side ends before line {count:,}, the other does not"
                raise InputError(fact, "the files do not belong together: fetch them again")
            yield lines
        record_mismatch(part.name, part.lines, count, about)
        origins = {one.origin: one.sha256 for one in files.values()}
        licence = {"licence": part.licence} if part.licence else {}
        summaries.append({"name": part.name, "lines": count, "from": origins, **licence})


def list_tree_forms(line: bytes) -> list[bytes]:
    """Return a tree's bytes for three files: its line, words with POS tags, words with chunk tags.

    If a tree has only traces (-NONE-) and no words, the last two are empty.
    """
    tree = clean_tree(parse_tree(line.decode()))
    if tree is None:
        return [line + b"\n", b"", b""]
    tagged = (tag_parts_of_speech(tree), tag_base_noun_phrases(tree))
    return [line + b"\n", *(format_tagged(one).encode() for one in tagged)]


def record_mismatch(name: str, expected: int, found: int, about: About) -> None:
    """Add a message to `about` if the line count is not as expected (0: any count is fine)."""
    message = f"{name} has {found:,} lines, and {expected:,} were expected"
    if expected and expected != found and message not in about["unlike"]:
        about["unlike"].append(message)
