"""Corpora from the catalogue mtdata, such as `mtdata/Statmt-news_commentary-16-deu-eng`.

The package mtdata is not imported. The program mtdata writes its catalogue to a file, the index,
with a line of JSON for each corpus; this line is turned into a `Corpus`, which is fetched like any
other. The index has no hashes, sizes or licences and differs by version: the manifest of a fetched
corpus names the version of the index.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import final

from transduce.datasets.languages import shorten_code
from transduce.datasets.readers import read_column, read_sgml_segments, read_tmx
from transduce.datasets.values import (
    WHOLE,
    Corpus,
    Download,
    LineReader,
    Part,
    Split,
    Text,
    Texts,
    strip_newlines,
)
from transduce.durable.json import parse_json
from transduce.errors import InputError, short_repr, suggest_names

PREFIX = "mtdata/"
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+]*")  # a part of a name, and so of a folder's path
LONGEST_NAME = 150
INDEX = "mtdata.index.*.jsonl"
LINE_LIMIT = 1 << 20  # bytes of an index line; real ones have a few hundred
WRITES_IT = "`uvx mtdata index` writes it"
# readers of the file formats that have one file for each language
SIDES: Mapping[str, LineReader] = {"txt": strip_newlines, "sgm": read_sgml_segments}


@final
@dataclass(frozen=True)
class IndexEntry:
    """One line of mtdata's index: a corpus's name, files, format and columns."""

    name: str
    files: list[tuple[Download, str]]  # each download, and its member if it is an archive
    kind: str  # file format: txt, sgm, tsv or tmx
    columns: list[int]  # column numbers, from 0, of source and target in a tsv file


def parse_corpus_name(name: str) -> Corpus:
    """Build a corpus without splits from an mtdata name; raise InputError for a malformed name."""
    parts = name.removeprefix(PREFIX).split("-")
    is_plain = len(name) <= LONGEST_NAME and all(map(PLAIN.fullmatch, parts))
    if len(parts) != 5 or not is_plain:  # group, name, version, and both languages
        raise InputError(
            f"{short_repr(name)} names no corpus of two languages",
            "such as mtdata/Statmt-news_commentary-16-deu-eng",
        )
    source, target = shorten_code(parts[3]), shorten_code(parts[4])
    if source == target:
        raise InputError(f"both sides of {name} are {source}", "name another corpus")
    return Corpus(
        name,
        (source, target),
        "known to mtdata's index, which states no hash and no size",
        "not stated by mtdata's index: ask its publisher",
        (),
    )


def resolve_splits(corpus: Corpus) -> Corpus:
    """Return an mtdata corpus with one split, which has all texts that mtdata's index lists.

    InputError if the index is missing, lacks the corpus, or lists a format that is not supported.
    """
    path = find_index()
    name = corpus.name.removeprefix(PREFIX)
    found = build_text_pairs(find_entry(name, path), corpus.languages)
    parts = tuple(Part(f"{name} of {path.name}", (text_pair,)) for text_pair in found)
    return replace(corpus, splits=(Split(WHOLE, parts),))


def find_index() -> Path:
    """Return mtdata's newest index file in $MTDATA or ~/.mtdata; InputError if there is none."""
    try:
        folder = Path(os.environ.get("MTDATA") or "~/.mtdata").expanduser()
    except RuntimeError as error:  # of a user without a home folder
        raise InputError(
            f"mtdata's index is not found: {error}", "name its folder in MTDATA"
        ) from error
    files = filter(Path.is_file, folder.glob(INDEX))
    found = max(files, key=lambda path: path.stat().st_mtime, default=None)
    if found is None:
        fact = f"mtdata's index is not here: {folder} has no {INDEX}"
        raise InputError(fact, WRITES_IT)
    return found


def find_entry(name: str, path: Path) -> IndexEntry:
    """Return the entry of a corpus in an index file; InputError suggests names if there is none."""
    near = []
    for entry in read_entries(path, "-".join(name.split("-")[-2:])):
        if entry.name == name:
            return entry
        near.append(PREFIX + entry.name)
    raise InputError(f"{path.name} has no {name}", suggest_names(PREFIX + name, near))


def read_entries(path: Path, languages: str) -> Iterator[IndexEntry]:
    """Yield an index's entries for a language pair such as deu-eng; InputError if malformed."""
    ending = f'-{languages}"'.encode()
    with path.open("rb") as file:
        lines = iter(partial(file.readline, LINE_LIMIT), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) == LINE_LIMIT:
                fact = f"has a line of more than {LINE_LIMIT:,} bytes"
                raise InputError(fact, WRITES_IT, file=path, line=number)
            if ending in line:
                try:
                    yield parse_entry(line)
                except (ValueError, TypeError, LookupError, AttributeError) as error:
                    fact = "is no line of mtdata's index"
                    raise InputError(fact, WRITES_IT, file=path, line=number) from error


def parse_entry(line: bytes) -> IndexEntry:
    """Parse a JSON line of mtdata's index; a bad one raises errors that `read_entries` catches."""
    found = parse_json(line)
    addresses = found["url"] if isinstance(found["url"], list) else [found["url"]]
    ends_in_name = len(addresses) > 1 or addresses[0].endswith(found["ext"].rpartition(".")[2])
    name = "" if ends_in_name else found["filename"]
    downloads = [Download((one,), file_name=name) for one in addresses]
    members = found.get("in_paths") or [""]
    columns = found.get("cols") or [0, 1]
    words = [found["did"], found["ext"], found.get("in_ext") or "", name, *addresses, *members]
    words += [one.name for one in downloads]  # raises ValueError for a malformed one
    if not all(isinstance(word, str) and "\0" not in word for word in words) or "/" in name:
        raise ValueError("its parts are not texts")
    if not all(type(column) is int and 0 <= column < 1_000 for column in columns):
        raise ValueError("its columns are no numbers")
    return IndexEntry(
        found["did"],
        [(download, member) for download in downloads for member in members],
        found.get("in_ext") or found["ext"].partition(".")[0],
        columns,
    )


def build_text_pairs(entry: IndexEntry, languages: tuple[str, ...]) -> list[Texts]:
    """Return an entry's (source, target) texts: one pair from two files, or a pair from each file.

    InputError if the two files are the same one, if a TMX file has two variants of one language, or
    if the format is not supported.
    """
    kind, files, columns = entry.kind, entry.files, entry.columns
    if len(files) == 2 and files[0] == files[1]:
        fact = f"mtdata's index names the same file for both sides of {entry.name}"
        raise InputError(fact, "name another corpus")
    reader = read_column(columns[0]) if kind == "tsv" and len(columns) == 1 else SIDES.get(kind)
    if reader is not None and len(files) == 2:
        return [tuple(Text(*file, reader) for file in files)]
    if kind == "tsv" and len(columns) == 2:
        return [tuple(Text(*file, read_column(number)) for number in columns) for file in files]
    if kind == "tmx":
        if len({one.partition("_")[0] for one in languages}) == 1:
            fact = (
                f"{entry.name} has {' and '.join(languages)}, which a TMX file does not tell apart"
            )
            raise InputError(fact, "name a corpus of two languages")
        return [tuple(Text(*file, read_tmx(languages, side)) for side in (0, 1)) for file in files]
    raise InputError(
        f"{entry.name} is kept as {kind}, which is not read here",
        f"`uvx mtdata echo {entry.name}` writes it with tabs, for --pairs",
    )
