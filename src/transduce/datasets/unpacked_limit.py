"""A limit on the bytes that a downloaded file may unpack to, so that no archive fills a disk."""

import io
from pathlib import Path

from transduce.errors import InputError

MOST_TIMES = 100  # the most unpacked bytes per packed byte; text has 10 or, at most, 50
ALWAYS_ALLOWED = 100_000_000  # unpacked bytes that even the smallest file may have


def limit_unpacked(stream: io.BufferedIOBase, path: Path) -> io.BufferedReader:
    """Wrap a stream of unpacked bytes, so that reading too many of them raises InputError."""
    most = max(ALWAYS_ALLOWED, MOST_TIMES * path.stat().st_size)
    return io.BufferedReader(LimitedStream(stream, most, path), buffer_size=1 << 16)


class LimitedStream(io.RawIOBase):
    """A stream that is read from its start and raises InputError after `most` bytes."""

    def __init__(self, stream: io.BufferedIOBase, most: int, path: Path) -> None:
        super().__init__()
        self.stream, self.most, self.path = stream, most, path
        self.count = 0

    def readable(self) -> bool:
        """Return True: this stream can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the stream's next bytes and return their number, 0 at its end."""
        data = self.stream.read(len(into))
        into[: len(data)] = data
        self.count += len(data)
        if self.count > self.most:
            raise InputError(
                f"unpacks to more than {self.most:,} bytes, {MOST_TIMES} times its size",
                "this is no text: delete it, or unpack it yourself and name the files",
                file=self.path,
            )
        return len(data)

    def close(self) -> None:
        """Close this stream and the stream that it reads."""
        self.stream.close()
        super().close()
