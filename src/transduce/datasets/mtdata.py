"""Corpora that mtdata's index knows, by its names: `mtdata/Statmt-news_commentary-16-deu-eng`.

mtdata is not imported. It writes its index as lines of JSON, too; what they say of a corpus becomes
a value, which is fetched as all others are. An index states neither hashes nor sizes nor licences,
and versions of it differ: the manifest names the one that was read.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import final

from transduce.datasets.languages import short
from transduce.datasets.readings import column, segments
from transduce.datasets.units import units
from transduce.datasets.values import (
    WHOLE,
    Corpus,
    Download,
    Part,
    Reading,
    Split,
    Text,
    Way,
    as_they_are,
)
from transduce.errors import InputError, suggest_names

PREFIX = "mtdata/"
INDEX = "mtdata.index.*.jsonl"
WRITES_IT = "`uvx mtdata index` writes it"
SIDES: Mapping[str, Reading] = MappingProxyType({"txt": as_they_are, "sgm": segments})


@final
@dataclass(frozen=True)
class Entry:
    """A line of the index: where a text lies, and how it is kept."""

    name: str
    files: list[tuple[Download, str]]  # and what is meant in an archive
    kind: str  # of a file
    columns: list[int]  # of one with tabs


def outline(name: str) -> Corpus:
    """All that the name itself says: a corpus without its texts."""
    words = name.removeprefix(PREFIX).split("-")
    if len(words) != 5:  # group, name, version, and both languages
        raise InputError(
            f"{name} names no corpus of two languages",
            "such as mtdata/Statmt-news_commentary-16-deu-eng",
        )
    source, target = short(words[3]), short(words[4])
    if source == target:
        raise InputError(f"both sides of {name} are {source}", "name another corpus")
    return Corpus(
        name,
        (source, target),
        "known to mtdata's index, which states no hash and no size",
        "not stated by mtdata's index: ask its publisher",
        (),
    )


def looked_up(corpus: Corpus) -> Corpus:
    """The same corpus with its texts, as the index has them."""
    path = index_file()
    name = corpus.name.removeprefix(PREFIX)
    found = ways(entry_of(name, path), corpus.languages)
    parts = tuple(Part(f"{name} of {path.name}", (way,)) for way in found)
    return replace(corpus, splits=(Split(WHOLE, parts),))


def index_file() -> Path:
    """The newest index that mtdata has written on this machine."""
    folder = Path(os.environ.get("MTDATA") or "~/.mtdata").expanduser()
    found = max(folder.glob(INDEX), key=lambda path: path.stat().st_mtime, default=None)
    if found is None:
        fact = f"mtdata's index is not here: {folder} has no {INDEX}"
        raise InputError(fact, WRITES_IT)
    return found


def entry_of(name: str, path: Path) -> Entry:
    """What the index says of a corpus."""
    near = []
    for entry in entries(path, "-".join(name.split("-")[-2:])):
        if entry.name == name:
            return entry
        near.append(PREFIX + entry.name)
    raise InputError(f"{path.name} has no {name}", suggest_names(PREFIX + name, near))


def entries(path: Path, languages: str) -> Iterator[Entry]:
    """All corpora of these languages: few of very many."""
    ending = f'-{languages}"'
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if ending in line:
                try:
                    yield parsed(line)
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    fact = "is no line of mtdata's index"
                    raise InputError(fact, WRITES_IT, file=path, line=number) from error


def parsed(line: str) -> Entry:
    """One line of the index."""
    said = json.loads(line)
    addresses = said["url"] if isinstance(said["url"], list) else [said["url"]]
    is_named = len(addresses) > 1 or addresses[0].endswith(said["ext"].rpartition(".")[2])
    name = "" if is_named else said["filename"]
    downloads = [Download((one,), called=name) for one in addresses]
    members = said.get("in_paths") or [""]
    return Entry(
        said["did"],
        [(download, member) for download in downloads for member in members],
        said.get("in_ext") or said["ext"].partition(".")[0],
        said.get("cols") or [0, 1],
    )


def ways(entry: Entry, languages: tuple[str, str]) -> list[Way]:
    """To each of its texts: a file of each side, or files that hold both."""
    kind, files, columns = entry.kind, entry.files, entry.columns
    if len(files) == 2 and files[0] == files[1]:
        fact = f"mtdata's index names the same file for both sides of {entry.name}"
        raise InputError(fact, "name another corpus")
    if kind in SIDES and len(files) == 2:
        return [Way(*(Text(*file, SIDES[kind]) for file in files))]
    if kind == "tsv" and len(files) == 2 and len(columns) == 1:
        return [Way(*(Text(*file, column(columns[0])) for file in files))]
    if kind == "tsv" and len(columns) == 2:
        return [Way(*(Text(*file, column(number)) for number in columns)) for file in files]
    if kind == "tmx":
        return [Way(*(Text(*file, units(languages, side)) for side in (0, 1))) for file in files]
    raise InputError(
        f"{entry.name} is kept as {kind}, which is not read here",
        f"`uvx mtdata echo {entry.name}` writes it with tabs, for --pairs",
    )
