"""The public corpora in miniature: their names, archives and members, but sentences of our own."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from tests.datasets.site import Site

from transduce.datasets.readers import (
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    read_sgml_segments,
)
from transduce.datasets.values import Corpus, Download, Part, Text, Texts
from transduce.phrasebook import pairs

LINES = {"train": 150, "dev": 20, "test": 20}  # of a part


@cache
def sentences_of(kind: str) -> list[tuple[str, str]]:
    """Return the sentences of a kind of split, the same for every part."""
    return list(pairs(kind, LINES[kind]))


class Miniature:
    """Copies of corpora on a site of our own; a file is made for each download."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.members: dict[Download, dict[str, bytes]] = {}

    def corpora(self, real: Iterable[Corpus]) -> tuple[Corpus, ...]:
        """Return the same corpora on this site, with equally many lines in both sides of a part."""
        every = tuple(real)
        for corpus in every:
            for split in corpus.splits:
                kind = split.name if split.name in LINES else "test"
                for part in split.parts:
                    self.fill(part, sentences_of(kind), corpus.languages)
        packed = {one: self.pack_download(one, members) for one, members in self.members.items()}
        return tuple(self.move_corpus(corpus, packed) for corpus in every)

    def fill(
        self, part: Part, sentences: Sequence[tuple[str, str]], languages: tuple[str, ...]
    ) -> None:
        """Write both sides of the text into the files of every pair of texts."""
        sides = list(zip(*sentences, strict=True))
        if languages[0] != "en":
            sides.reverse()
        for pair in part.ways:
            for side, text in zip(sides, pair, strict=True):
                members = self.members.setdefault(text.download, {})
                if is_tabbed(text):
                    lines = ["\t".join(pair) for pair in sentences]
                else:
                    lines = [format_line(line, text) for line in side]
                members.setdefault(text.member, "".join(f"{line}\n" for line in lines).encode())

    def pack_download(self, download: Download, members: dict[str, bytes]) -> Download:
        """Return the download of a file on this site, with its own size and hash."""
        content = pack(download.name, members)
        address = self.site.put(download.cache_name + "/" + download.name, content)
        return Download((address,), len(content), hashlib.sha256(content).hexdigest())

    def move_corpus(self, corpus: Corpus, packed: dict[Download, Download]) -> Corpus:
        """Return a corpus with other downloads, whose line counts and hashes are unknown."""
        splits = []
        for split in corpus.splits:
            parts = tuple(
                replace(
                    part,
                    lines=0,
                    ways=tuple(move_pair(pair, packed) for pair in part.ways),
                )
                for part in split.parts
            )
            splits.append(replace(split, parts=parts, lines=0, sha256=("", "")))
        return replace(corpus, splits=tuple(splits))


def move_pair(pair: Texts, packed: dict[Download, Download]) -> Texts:
    """Return the same pair of texts with the downloads of this site."""
    return tuple(replace(text, download=packed[text.download]) for text in pair)


def is_tabbed(text: Text) -> bool:
    """Return whether both sides are columns of one line."""
    return text.reader.__qualname__.startswith(read_column.__name__)


def format_line(line: str, text: Text) -> str:
    """Return a line in the format that the reader of a text expects."""
    if text.reader in (read_sgml_segments, read_iwslt_segments):
        return f'<seg id="1"> {line} </seg>'
    return line if text.reader is not read_iwslt_training else f"{line} "


def pack(name: str, members: dict[str, bytes]) -> bytes:
    """Return the bytes of a file or archive, whose format its name decides."""
    unpacked = {
        member: gzip.compress(text, mtime=0) if (member or name).endswith(".gz") else text
        for member, text in members.items()
    }
    out = io.BytesIO()
    match PurePosixPath(name).suffix:
        case ".zip":
            with zipfile.ZipFile(out, "w") as archive:
                for member, text in unpacked.items():
                    archive.writestr(member, text)
        case ".tgz" | ".tar":
            with tarfile.open(fileobj=out, mode="w:gz" if name.endswith("z") else "w") as tape:
                for member, text in unpacked.items():
                    entry = tarfile.TarInfo(member)
                    entry.size = len(text)
                    tape.addfile(entry, io.BytesIO(text))
        case _:
            return unpacked[""]
    return out.getvalue()
