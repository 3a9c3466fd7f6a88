"""Read the lines of a text inside a downloaded file or archive, without writing to disk."""

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import ParseError

from transduce.datasets.values import Text
from transduce.errors import InputError
from transduce.text.files import read_stream_lines

TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
OPENERS: dict[str, Callable[..., io.BufferedIOBase]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ParseError),
    *(EOFError, OSError),
    *(NotImplementedError, RuntimeError),  # raised by zipfile for features that it lacks
    *(ValueError, LookupError),  # raised for unknown encodings
)
# A limit on the bytes that a file may unpack to, so that no archive fills a disk.
MOST_TIMES = 100  # the most unpacked bytes per packed byte; text has 10 or, at most, 50
ALWAYS_ALLOWED = 100_000_000  # unpacked bytes that even the smallest file may have
DAMAGED_HINT = "this is not the file that it should be: delete it, and fetch it again"


def read_text_lines(text: Text, path: Path) -> Iterator[bytes]:
    """Yield a `Text`'s lines from its downloaded file; InputError if it cannot be unpacked."""
    try:
        with open_text(text, path) as stream:
            yield from text.reader(read_stream_lines(stream))
    except DAMAGED as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
        raise InputError(f"cannot be unpacked ({reason})", DAMAGED_HINT, file=path) from error


@contextmanager
def open_text(text: Text, path: Path) -> Iterator[io.BufferedIOBase]:
    """Context manager: open a `Text` in its downloaded file or archive, decompressed."""
    name, member = text.download.name, text.member
    stream: io.BufferedIOBase
    with ExitStack() as stack:
        if name.lower().endswith(".zip"):
            archive = stack.enter_context(zipfile.ZipFile(path))
            found = stack.enter_context(open_zip_member(archive, member, path))
            stream = stack.enter_context(limit_unpacked(found, path))
        else:
            stream = stack.enter_context(path.open("rb"))
            if name.lower().endswith(TARS):
                packed = stack.enter_context(decompress(stream, name, path))
                tape = stack.enter_context(tarfile.open(fileobj=packed, mode="r|"))
                stream = stack.enter_context(open_tar_member(tape, member, path))
        yield stack.enter_context(decompress(stream, member or name, path))


def decompress(stream: io.BufferedIOBase, name: str, path: Path) -> io.BufferedIOBase:
    """Return the stream's bytes, unpacked and limited if `name` ends as compressed files do."""
    unpack = OPENERS.get(posixpath.splitext(name.lower())[1])
    return stream if unpack is None else limit_unpacked(unpack(stream), path)


def open_tar_member(archive: tarfile.TarFile, pattern: str, path: Path) -> io.BufferedIOBase:
    """Open the first member that matches a shell-style pattern; InputError without such a file.

    Error messages name `path`, the archive.
    """
    for entry in archive:
        if matches_pattern(entry.name, pattern):
            stream = archive.extractfile(entry) if entry.isreg() else None
            if stream is None:
                raise InputError(f"{pattern} is no regular file in it", DAMAGED_HINT, file=path)
            return cast("io.BufferedIOBase", stream)
    raise InputError(f"has no {pattern}", DAMAGED_HINT, file=path)


def open_zip_member(archive: zipfile.ZipFile, pattern: str, path: Path) -> io.BufferedIOBase:
    """Open the first member that matches a shell-style pattern; raise InputError if none."""
    for entry in archive.infolist():
        if matches_pattern(entry.filename, pattern):
            return cast("io.BufferedIOBase", archive.open(entry))
    raise InputError(f"has no {pattern}", DAMAGED_HINT, file=path)


def matches_pattern(name: str, pattern: str) -> bool:
    """Return whether the name of a file in an archive matches a shell-style pattern."""
    return fnmatchcase(posixpath.normpath(name), pattern)


def limit_unpacked(stream: io.BufferedIOBase, path: Path) -> io.BufferedReader:
    """Return the stream; its reads raise InputError beyond 100 MB and 100 times `path`'s size."""
    most = max(ALWAYS_ALLOWED, MOST_TIMES * path.stat().st_size)
    return io.BufferedReader(LimitedStream(stream, most, path), buffer_size=1 << 16)


class LimitedStream(io.RawIOBase):
    """A stream of unpacked bytes that raises InputError if more than `most` are read."""

    def __init__(self, stream: io.BufferedIOBase, most: int, path: Path) -> None:
        super().__init__()
        self.stream, self.most, self.path = stream, most, path
        self.count = 0

    def readable(self) -> bool:
        """Return True: this stream can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the stream's next bytes and return the byte count, 0 at the end."""
        data = self.stream.read(len(into))
        into[: len(data)] = data
        self.count += len(data)
        if self.count > self.most:
            raise InputError(
                f"unpacks to more than {self.most:,} bytes",
                "this is no text: delete it, or unpack it yourself and name the files",
                file=self.path,
            )
        return len(data)

    def close(self) -> None:
        """Close this stream and the stream that it reads."""
        self.stream.close()
        super().close()
