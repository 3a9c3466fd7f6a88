"""Pictures and sounds as lines: what is read equals what was drawn, and the rest is refused."""

import io
import os
import re
import struct
import wave
import zlib

import numpy as np
import pytest

from transduce.errors import InputError
from transduce.text.clean import normalise
from transduce.text.signals import MOST_BYTES, PNG, Signal, read_signal_line, write_png

PIXELS = np.random.default_rng(1).integers(0, 256, (5, 7)).astype(np.uint8)
PICTURE = Signal("picture", 7, PIXELS.tobytes())


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def build_png(lines, *, depth=8, colour=0, interlaced=0, width=7, height=5):
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    packed = zlib.compress(lines)
    chunks = (b"IHDR", head), (b"IDAT", packed[:9]), (b"IDAT", packed[9:]), (b"IEND", b"")
    return PNG + b"".join(chunk(*one) for one in chunks)


def filter_lines(kind):
    """The lines of PIXELS, each pixel less the prediction of the PNG standard's filter `kind`."""
    around = np.pad(PIXELS.astype(int), ((1, 0), (1, 0)))
    left, up, corner = around[1:, :-1], around[:-1, 1:], around[:-1, :-1]
    p = left + up - corner
    near = [np.abs(p - one) for one in (left, up, corner)]
    is_left, is_up = (near[0] <= near[1]) & (near[0] <= near[2]), near[1] <= near[2]
    paeth = np.where(is_left, left, np.where(is_up, up, corner))
    guess = (0 * left, left, up, (left + up) // 2, paeth)[kind]
    lines = ((PIXELS - guess) % 256).astype(np.uint8)
    return b"".join(bytes([kind]) + line.tobytes() for line in lines)


def build_wav(samples, *, width=1, channels=1, rate=8_000):
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(samples)
    return stream.getvalue()


def read(folder, data, name="a.png"):
    (folder / name).write_bytes(data)
    return Signal.read(folder / name)


def test_a_line_holds_a_signal_and_cleaning_leaves_it_as_it_is():
    line = Signal("sound", 8_000, bytes(range(256))).to_line()
    assert normalise(line) == line
    assert Signal.from_line(line) == Signal("sound", 8_000, bytes(range(256)))
    assert Signal.from_line("a picture-7:") is None


@pytest.mark.parametrize("kind", range(5))
def test_a_png_is_read_whatever_its_filter(tmp_path, kind):
    assert read(tmp_path, build_png(filter_lines(kind))) == PICTURE


def test_a_png_that_was_written_is_read_again(tmp_path):
    assert read(tmp_path, write_png(PIXELS)) == PICTURE
    assert read(tmp_path, write_png(PIXELS) + b"what viewers ignore") == PICTURE


@pytest.mark.parametrize(
    "data",
    [
        b"P5 7 5 255\n" + PIXELS.tobytes(),
        b"P2\n# drawn by hand\n7 5\n255\n" + " ".join(map(str, PIXELS.ravel())).encode(),
    ],
    ids=["binary", "plain"],
)
def test_a_pgm_is_read_in_both_forms(tmp_path, data):
    assert read(tmp_path, data, "a.pgm") == PICTURE


@pytest.mark.parametrize(
    "header", [b"P5 7 5 255 ", b"P5\r\n#\r\n7 5\r\n255\r\n", b"P5\t7 5\n# x\n255\t"]
)
def test_one_blank_ends_the_header_of_a_pgm(tmp_path, header):
    assert read(tmp_path, header + PIXELS.tobytes(), "a.pgm") == PICTURE


def test_a_pgm_of_few_levels_is_spread_to_255(tmp_path):
    assert read(tmp_path, b"P2 4 1 3 0 1 2 3", "a.pgm").samples == bytes([0, 85, 170, 255])


def test_loud_and_soft_sounds_of_8_and_16_bits_agree(tmp_path):
    soft = np.array([0, 256, -256, 8_192, -32_768], "<i2")
    wide = read(tmp_path, build_wav(soft.tobytes(), width=2), "a.wav")
    narrow = read(tmp_path, build_wav((soft // 256 + 128).astype(np.uint8).tobytes()), "b.wav")
    assert wide == narrow
    expected = [128, 128 + 128 * np.log1p(255 / 128) / np.log(256)]
    assert [*wide.samples[:2]] == [round(one) for one in expected]
    assert (wide.kind, wide.row, wide.samples[-1]) == ("sound", 8_000, 0)


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (build_png(b"", colour=2), "is a PNG in colour"),
        (build_png(b"", depth=16), "is a PNG of 16 bits a pixel"),
        (build_png(b"", interlaced=1), "is an interlaced PNG"),
        (build_png(b"", width=999_999), "999,999 × 5 pixels, and at most 65,535 are read"),
        (build_png(b"short"), "or damaged"),
        (write_png(PIXELS)[:-20], "or damaged"),
        (write_png(PIXELS).replace(b"IDAT", b"IDAX"), "or damaged \\(a wrong checksum"),
        (b"P5 7 5 65535\n" + bytes(70), "a white of 65535"),
        (b"P5 7 5 255\n" + bytes(34), "34 pixels for 7 × 5"),
        (build_wav(bytes(8), channels=2), "a sound of 2 channels"),
        (build_wav(bytes(9), width=3), "a sound of 24 bits a sample"),
        (b"P5 0_7 5 255\n" + bytes(35), "the header of a PGM has width"),
        (build_wav(b""), "has no samples"),
        (build_wav(bytes(200_000)), "has more than 65,535 samples"),
        (build_wav(bytes(9))[:36] + b"LIST\xe8\x03\0\0INFO", "or damaged \\(cut"),
        (build_wav(bytes(9))[:30], "or damaged \\(cut"),
        (build_wav(bytes(9))[:-1], "fewer samples than its head says"),
        (build_wav(bytes(9), rate=10**7), "has 10,000,000 samples a second"),
        (bytes(MOST_BYTES + 1), "has over 16 MiB"),
        (b"", "is no PNG, PGM or WAV file"),
    ],
    ids=lambda one: "" if isinstance(one, bytes) else one,
)
def test_other_files_are_refused_by_what_they_are(tmp_path, data, fact):
    with pytest.raises(InputError, match=f"^{tmp_path}/a.png: .*{fact}"):
        read(tmp_path, data)


@pytest.mark.parametrize(
    "data",
    [
        build_png(b"", width=0),
        b"P5 0 0 255\n",
        b"P2 3 0 255\n",
        build_wav(b""),
    ],
    ids=["png", "pgm", "plain-pgm", "wav"],
)
def test_an_empty_picture_or_sound_is_not_to_be_made_smaller(tmp_path, data):
    with pytest.raises(InputError) as error:
        read(tmp_path, data)
    assert not re.search("smaller|cut", error.value.hint)
    assert "again" in error.value.hint


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"a\.png: is no regular file"):
        Signal.read(tmp_path / "a.png")


def test_a_path_becomes_a_signal_and_a_text_stays(tmp_path):
    (tmp_path / "A.PNG").write_bytes(write_png(PIXELS))
    assert read_signal_line("A.PNG", tmp_path) == PICTURE.to_line()
    assert read_signal_line("a word", tmp_path) == "a word"
