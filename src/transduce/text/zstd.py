"""Files packed by Zstandard, whose library is an extra."""

import io
from collections.abc import Iterator
from pathlib import Path

from transduce.errors import InputError

CHUNK = (
    1 << 12
)  # packed bytes at a time: few, for a damaged file can unpack to 30,000 times as many


def open_zstd(path: Path) -> io.BufferedIOBase:
    """The unpacked bytes; a file that breaks off or is damaged ends in EOFError."""
    try:
        import zstandard  # noqa: F401 - an extra, needed for such files only
    except ImportError:
        raise InputError(
            "reading .zst needs the package zstandard",
            "pip install 'transduce[zstd]', or unpack the file: zstd -d FILE",
            file=path,
        ) from None
    return io.BufferedReader(Unpacked(path.open("rb")), buffer_size=1 << 16)


class Unpacked(io.RawIOBase):
    """A stream of the unpacked bytes; zstandard's own takes a cut file for a whole one."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self.packed = packed
        self.chunks = unpacked(packed)
        self.ready = memoryview(b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """As many bytes as there are, 0 at the end."""
        while not self.ready:
            chunk = next(self.chunks, None)
            if chunk is None:
                return 0
            self.ready = memoryview(chunk)
        count = min(len(into), len(self.ready))
        into[:count] = self.ready[:count]
        self.ready = self.ready[count:]
        return count

    def close(self) -> None:
        """Close the packed file too."""
        self.packed.close()
        super().close()


def unpacked(packed: io.BufferedIOBase) -> Iterator[bytes]:
    """Frame after frame; a file may have several, laid end to end."""
    import zstandard

    frame, rest = None, b""
    while data := rest or packed.read(CHUNK):
        if frame is None or frame.eof:
            frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            yield frame.decompress(data)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from error
        rest = frame.unused_data if frame.eof else b""
    if frame is not None and not frame.eof:
        raise EOFError("the last frame has no end")
