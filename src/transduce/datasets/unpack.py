"""The lines of a text in a download. No name that stands in an archive is ever written to."""

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import ParseError

from transduce.datasets.values import Text
from transduce.errors import InputError
from transduce.text.files import read_raw_lines

TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
PACKED: dict[str, Callable[..., io.BufferedIOBase]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ParseError),
    *(EOFError, OSError, NotImplementedError, RuntimeError),  # what zipfile cannot or may not open
    *(ValueError, LookupError),  # encodings that are not known
)
FOREIGN = "this is not the file that it should be: delete it, and fetch it again"


def lines_of(text: Text, path: Path) -> Iterator[bytes]:
    """The lines of one side, without their newlines."""
    try:
        with opened(text, path) as stream:
            yield from text.reading(read_raw_lines(stream))
    except DAMAGED as error:
        said = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
        raise InputError(f"cannot be unpacked ({said})", FOREIGN, file=path) from error


@contextmanager
def opened(text: Text, path: Path) -> Iterator[io.BufferedIOBase]:
    """The unpacked bytes of a side."""
    with taken_out(text, path) as stream:
        unpack = PACKED.get(posixpath.splitext(text.member or text.download.name)[1])
        if unpack is None:
            yield stream
        else:
            with unpack(stream) as unpacked:
                yield unpacked


@contextmanager
def taken_out(text: Text, path: Path) -> Iterator[io.BufferedIOBase]:
    """The bytes of a file, or of a member of an archive."""
    name = text.download.name.lower()
    if name.endswith(TARS):
        with tarfile.open(path) as tape, in_tar(tape, text.member, path) as stream:
            yield stream
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive, in_zip(archive, text.member, path) as stream:
            yield stream
    else:
        with path.open("rb") as stream:
            yield stream


def in_tar(archive: tarfile.TarFile, member: str, path: Path) -> io.BufferedIOBase:
    """A member that is a file; what the archive holds behind it is not looked at."""
    for entry in archive:
        if fits(entry.name, member):
            stream = archive.extractfile(entry) if entry.isreg() else None
            if stream is None:
                raise InputError(f"{member} is no regular file in it", FOREIGN, file=path)
            return cast("io.BufferedIOBase", stream)
    raise InputError(f"has no {member}", FOREIGN, file=path)


def in_zip(archive: zipfile.ZipFile, member: str, path: Path) -> io.BufferedIOBase:
    """A member of that name."""
    for entry in archive.infolist():
        if fits(entry.filename, member):
            return cast("io.BufferedIOBase", archive.open(entry))
    raise InputError(f"has no {member}", FOREIGN, file=path)


def fits(name: str, member: str) -> bool:
    """Whether a name in an archive is meant; `*` stands for what changes with a version."""
    return fnmatchcase(posixpath.normpath(name), member)
