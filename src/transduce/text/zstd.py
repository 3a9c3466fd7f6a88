"""Reading of Zstandard files, whose library is an optional extra."""

import io
from collections.abc import Iterator
from pathlib import Path

from transduce.errors import InputError

CHUNK = (
    1 << 12
)  # packed bytes at a time: few, for a damaged file can unpack to 30,000 times as many


def open_zstd(path: Path) -> io.BufferedIOBase:
    """Open a .zst file as unpacked bytes; reading raises EOFError if it is cut or damaged."""
    try:
        import zstandard  # noqa: F401 - an extra, needed for such files only
    except ImportError:
        raise InputError(
            "reading .zst needs the package zstandard",
            "pip install 'transduce[zstd]', or unpack the file: zstd -d FILE",
            file=path,
        ) from None
    return io.BufferedReader(ZstdStream(path.open("rb")), buffer_size=1 << 16)


class ZstdStream(io.RawIOBase):
    """A stream of the unpacked bytes of a Zstandard file that raises EOFError if it is cut."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self.packed = packed
        self.chunks = unpack_frames(packed)
        self.ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with unpacked bytes; return how many, 0 at the end."""
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
        """Close this stream and the packed file under it."""
        self.packed.close()
        super().close()


def unpack_frames(packed: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the unpacked bytes of all Zstandard frames of a file."""
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
