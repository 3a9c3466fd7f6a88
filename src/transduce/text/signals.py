"""Pictures and sounds as lines of text, with one character for each 8-bit sample.

A line such as "picture-8:⠀⠁⣿…" has the kind of a signal, its row (pixels in a row of a picture, or
samples in a second of sound), and a Braille pattern for each sample. The eight dots of a pattern
are the sample's bits. Such a line has no blanks, and cleaning leaves it as it is. Grey pictures of
8 bits are read from PNG and PGM, sounds of one channel from WAV, by Python's zlib and wave.
"""

import io
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import UInt8

from transduce.durable.files import NO_FILE, is_pipe_or_device
from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.files import explain_read_errors

# h rows of a picture, w pixels each

SUFFIXES = (".png", ".pgm", ".wav")
LINE = re.compile("(picture|sound)-([1-9][0-9]{0,6}):([\u2800-\u28ff]+)")
BRAILLE = 0x2800  # the first of 256 patterns
MOST_SAMPLES = 65_535  # with END this gives 65,536 pieces, the largest data.max_length
MOST_BYTES = 1 << 24  # size of the largest file
PNG = b"\x89PNG\r\n\x1a\n"
COLOURS = {2: "in colour", 3: "with a palette", 4: "with transparency", 6: "with transparency"}
# width, height and white, between blanks or comments; then one blank
PGM_HEADER = re.compile(rb"P[25]" + 3 * rb"(?:\s|#[^\n]*\n)+(\d{1,9})" + rb"\s")
COMMENT = re.compile(rb"#[^\n]*")
TO_GREY = "make it grey, of 8 bits a pixel: magick OLD -colorspace Gray -depth 8 NEW"


@final
@dataclass(frozen=True)
class Signal:
    """A picture or sound: its 8-bit samples, and its width in pixels or its samples per second."""

    kind: str  # "picture" or "sound"
    row: int  # pixels of a row, or samples of a second
    samples: bytes

    @classmethod
    def from_line(cls, line: str) -> "Signal | None":
        """Return the signal in a line such as "picture-8:⠀⠁⣿…"; None for any other line."""
        found = LINE.fullmatch(line)
        if found is None:
            return None
        kind, row, samples = found.groups()
        return cls(kind, int(row), bytes(ord(one) - BRAILLE for one in samples))

    @classmethod
    def read(cls, file: Path) -> "Signal":
        """Read a grey 8-bit PNG or PGM, or a one-channel WAV; InputError for any other file."""
        if is_pipe_or_device(file):
            raise InputError(NO_FILE, "write it to a file first", file=file)
        with explain_read_errors(str(file), str), file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputError(f"has over {MOST_BYTES >> 20} MiB", "cut it into parts", file=file)
        try:
            return cls(*parse_file(data))
        except InputError as error:
            raise InputError(error.fact, error.hint, file=file) from error
        except (ValueError, LookupError, struct.error, zlib.error, EOFError) as error:
            fact = f"is no PNG, PGM or WAV file, or damaged ({str(error) or 'cut'})"
            raise InputError(fact, "save it again", file=file) from error

    def to_line(self) -> str:
        """Return the signal as a line of text, such as "picture-8:⠀⠁⣿…"."""
        return f"{self.kind}-{self.row}:" + "".join(chr(BRAILLE + one) for one in self.samples)

    def to_pixels(self) -> UInt8[np.ndarray, "h w"]:
        """Return a picture's grey levels row by row, from 0 for black to 255 for white."""
        return np.frombuffer(self.samples, np.uint8).reshape(-1, self.row)

    def __str__(self) -> str:
        return f"a {self.kind} of {self.row:,} " + (
            "pixels a row" if self.kind == "picture" else "samples a second"
        )


def read_signal_line(line: str, folder: Path) -> str:
    """Return a line, or, if it names a PNG, PGM or WAV, its samples as a line of Braille patterns.

    The file is in `folder`. Raises InputError if it cannot be read.
    """
    is_file = line.lower().endswith(SUFFIXES)
    return Signal.read(folder / line).to_line() if is_file else line


def parse_file(data: bytes) -> tuple[str, int, bytes]:
    """Return (kind, width or sample rate, samples) of a picture or sound file; raise if unfit."""
    if data.startswith(PNG):
        kind, row, samples = "picture", *read_png(data)
    elif data.startswith((b"P2", b"P5")):
        kind, row, samples = "picture", *read_pgm(data)
    else:
        kind, row, samples = "sound", *read_wav(data)
    require(0 < row < 10**7, f"has {row:,} samples a second", "give it its real rate: sox -r RATE")
    require(len(samples) > 0, "has no samples", "record it again")
    fact = f"has more than {MOST_SAMPLES:,} samples, the most that are read"
    require(len(samples) <= MOST_SAMPLES, fact, "cut it")
    return kind, row, samples


# --- PNG (ISO/IEC 15948) and PGM ------------------------------------------------------------------


def read_png(data: bytes) -> tuple[int, bytes]:
    """Return the width and the pixels of a grey 8-bit PNG; raise InputError for other PNGs."""
    chunks, at = list[tuple[bytes, bytes]](), len(PNG)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        body, (check,) = data[at + 4 : at + 8 + size], struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(body) != check:
            raise ValueError("a wrong checksum")
        chunks.append((body[:4], body[4:]))
        if body[:4] == b"IEND":  # viewers ignore what follows
            break
        at += 12 + size
    width, height, depth, colour, *_, interlaced = struct.unpack(">IIBBBBB", dict(chunks)[b"IHDR"])
    require(colour == 0, f"is a PNG {COLOURS.get(colour, 'of unknown colours')}", TO_GREY)
    require(depth == 8, f"is a PNG of {depth} bits a pixel", TO_GREY)
    require(not interlaced, "is an interlaced PNG", "save it without interlacing")
    require_pixel_count(width, height)
    unpacker = zlib.decompressobj()
    packed = b"".join(body for name, body in chunks if name == b"IDAT")
    lines = unpacker.decompress(packed, height * (width + 1) + 1)
    above, rows = np.zeros(width, np.int64), list[bytes]()
    for kind, *line in np.frombuffer(lines, np.uint8).astype(int).reshape(height, width + 1):
        above = undo_filter(int(kind), np.array(line), above)
        rows.append(above.astype(np.uint8).tobytes())
    return width, b"".join(rows)


def undo_filter(kind: int, line: "np.ndarray", above: "np.ndarray") -> "np.ndarray":
    """Return the pixels of a PNG's line from its filter (0 to 4), its bytes and the line above."""
    if kind == 0:
        return line
    if kind == 1:  # the pixel to the left was subtracted
        return line.cumsum() % 256
    if kind == 2:  # the pixel above was subtracted
        return (line + above) % 256
    if kind > 4:
        raise ValueError(f"the filter {kind}")
    found, left, corner = list[int](), 0, 0
    for value, up in zip(line.tolist(), above.tolist(), strict=True):
        guess = (left + up) // 2 if kind == 3 else predict_by_paeth(left, up, corner)
        left, corner = (value + guess) % 256, up
        found.append(left)
    return np.array(found)


def predict_by_paeth(left: int, up: int, corner: int) -> int:
    """Return whichever of the three is nearest to left + up - corner; of equals the first."""
    return min((left, up, corner), key=lambda one: abs(left + up - corner - one))


def write_png(pixels: UInt8[np.ndarray, "h w"]) -> bytes:
    """Return the bytes of a PNG file that shows a picture of grey levels."""
    height, width = pixels.shape
    lines = np.pad(pixels, ((0, 0), (1, 0)))  # the filter 0 before each line
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    bodies = (b"IHDR" + head, b"IDAT" + zlib.compress(lines.tobytes()), b"IEND")
    return PNG + b"".join(
        struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
        for body in bodies
    )


def read_pgm(data: bytes) -> tuple[int, bytes]:
    """Return a PGM's (width, pixels), scaled so that white is 255; ValueError if malformed."""
    header = PGM_HEADER.match(data)
    if header is None:
        raise ValueError("the header of a PGM has width, height and white")
    width, height, white = map(int, header.groups())
    require(0 < white < 256, f"is a PGM with a white of {white}, and at most 255 is read", TO_GREY)
    require_pixel_count(width, height)
    is_plain, body = data.startswith(b"P2"), data[header.end() :]
    if not is_plain and len(body) == width * height + 1 and data[: header.end()].endswith(b"\r"):
        body = body[1:]  # the line end of Windows
    values = [*map(read_number, COMMENT.sub(b"", body).split())] if is_plain else [*body]
    if len(values) != width * height or max(values) > white:
        raise ValueError(f"{len(values):,} pixels for {width:,} × {height:,}")
    return width, bytes((2 * 255 * one + white) // (2 * white) for one in values)


def read_number(text: bytes) -> int:
    """Return a number in a PGM file; raise ValueError unless it is written in digits alone."""
    if not text.isdigit():
        raise ValueError(f"{text[:20]!r} is no number")
    return int(text)


def require_pixel_count(width: int, height: int) -> None:
    """Raise InputError if a picture has no pixels, or too many to be unpacked."""
    fact = f"is a picture of {width:,} × {height:,} pixels"
    require(width * height > 0, fact, "save it again, or name another picture")
    fact = f"{fact}, and at most {MOST_SAMPLES:,} are read"
    require(width * height <= MOST_SAMPLES, fact, "make it smaller")


# --- WAV ------------------------------------------------------------------------------------------


def read_wav(data: bytes) -> tuple[int, bytes]:
    """Return a one-channel WAV's (sample rate, samples in 8-bit μ-law); ValueError if malformed.

    A sample x in [-1, 1] becomes 128 + 128 sign(x) · ln(1 + 255 |x|) / ln 256, rounded, up to 255.
    """
    import wave  # here, since only sounds need it

    try:
        with wave.open(io.BytesIO(data)) as sound:
            channels, width, rate, count, *_ = sound.getparams()
            frames = sound.readframes(MOST_SAMPLES + 1)
    except (wave.Error, RuntimeError) as error:  # the latter at a cut chunk
        raise ValueError(str(error)) from error
    require(channels == 1, f"is a sound of {channels} channels", "mix them: sox OLD -c 1 NEW")
    fact = f"is a sound of {8 * width} bits a sample, and 8 or 16 are read"
    require(width in (1, 2), fact, "sox OLD -b 16 NEW")
    if len(frames) < width * min(count, MOST_SAMPLES + 1):
        raise ValueError("fewer samples than its head says")
    if width == 1:
        x = np.frombuffer(frames, np.uint8) / 128 - 1
    else:
        x = np.frombuffer(frames, "<i2") / 2**15
    law = np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256)
    return rate, np.clip(np.rint(128 + 128 * law), 0, 255).astype(np.uint8).tobytes()
