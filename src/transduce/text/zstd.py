"""Reading of Zstandard (.zst) files with the package zstandard, an optional dependency."""

import io
from collections.abc import Iterator
from pathlib import Path

from transduce.errors import InputError

# Number of compressed bytes to unpack at once. It is small because 4 bytes can become 128 KiB.
CHUNK = 1 << 9


def open_zstd(path: Path) -> io.BufferedReader:
    """Open a .zst file as a stream of unpacked bytes that raises EOFError if it is damaged."""
    try:
        import zstandard  # noqa: F401 - an optional dependency
    except ImportError:
        raise InputError(
            "reading .zst needs the package zstandard",
            "pip install zstandard, or unpack the file: zstd -d FILE",
            file=path,
        ) from None
    return io.BufferedReader(ZstdStream(path.open("rb")), buffer_size=1 << 16)


class ZstdStream(io.RawIOBase):
    """A stream of unpacked bytes of a Zstandard file; it raises EOFError if the file is damaged."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self.packed = packed
        self.chunks = unpack_frames(packed)
        self.ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True: this stream can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with unpacked bytes and return their number, 0 at the end of the file."""
        while not self.ready:
            self.ready = memoryview(b"")  # frees the chunk before the next one is unpacked
            chunk = next(self.chunks, None)
            if chunk is None:
                return 0
            self.ready = memoryview(chunk)
            del chunk
        count = min(len(into), len(self.ready))
        into[:count] = self.ready[:count]
        self.ready = self.ready[count:]
        return count

    def close(self) -> None:
        """Close this stream and the packed file under it."""
        self.packed.close()
        super().close()


def unpack_frames(packed: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the unpacked bytes of all frames of a Zstandard file, in chunks."""
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
