"""Lines and pairs from files of all kinds."""

import codecs
import gzip
import io
import lzma
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from transduce.errors import InputError
from transduce.runs.texts import TaskFiles
from transduce.tasks.text import TRANSLATION
from transduce.text import files
from transduce.text.files import find_similar_file, read_lines, read_pairs, read_pairs_tsv

WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.fixture
def file(tmp_path):
    """A file of the given bytes, packed by the given suffix."""

    def write(data, suffix="", name="text"):
        path = tmp_path / (name + suffix)
        path.write_bytes(WRITERS[suffix](data))
        return path

    return write


@pytest.mark.parametrize("suffix", WRITERS)
def test_lines_are_the_same_plain_and_packed(file, suffix):
    text = [f"Zeile {i}: äöü€😀 " * (i % 50) for i in range(3000)]
    path = file("".join(f"{line}\n" for line in text).encode(), suffix)
    assert list(read_lines(path)) == text


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_empty_file_gives_no_lines(file, suffix):
    assert list(read_lines(file(b"", suffix))) == []


def test_a_file_with_nothing_but_a_mark_of_byte_order_gives_no_lines(file):
    assert list(read_lines(file(b"\xef\xbb\xbf"))) == []


def test_a_missing_last_newline_does_not_change_the_count(file):
    assert list(read_lines(file(b"a\nb"))) == list(read_lines(file(b"a\nb\n"))) == ["a", "b"]


def test_empty_lines_are_lines(file):
    assert list(read_lines(file(b"\n\na\n\n"))) == ["", "", "a", ""]


def test_only_a_newline_ends_a_line(file):
    odd = "a\rb\x0bc\x0cd\x1ce\x1df\x1eg\x85h\u2028i\u2029j"
    assert list(read_lines(file(f"{odd}\nnext".encode()))) == [odd, "next"]


def test_a_mark_of_byte_order_goes_at_the_start_only(file):
    assert list(read_lines(file("\ufeffa\n\ufeffb\n".encode()))) == ["a", "\ufeffb"]


def test_windows_and_unix_line_ends_may_be_mixed(file):
    assert list(read_lines(file(b"a\r\nb\nc\r\n\r\nd\r"))) == ["a", "b", "c", "", "d"]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xef\xbb\xbfa\r\nb")))
    assert list(read_lines("-")) == ["a", "b"]


def test_bytes_that_are_no_utf8_are_named_with_file_line_and_a_way_out(file):
    path = file(b"gut\nsch\xf6n\n")
    with pytest.raises(InputError) as error:
        list(read_lines(path))
    assert f"{path}, line 2: not UTF-8 (byte 4 of the line is 0xF6)" in str(error.value)
    assert "hint: convert it, for example: iconv -f LATIN1 -t UTF-8" in str(error.value)


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_a_file_in_utf16_or_utf32_is_recognised_by_its_mark(file, encoding, order):
    text = "\ufeffhallo\n".encode(f"{encoding}-{order}")
    with pytest.raises(InputError, match=rf"line 1: not UTF-8(.|\n)*iconv -f {encoding} -t"):
        list(read_lines(file(text)))


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
def test_without_a_mark_utf16_and_utf32_are_refused_for_their_nul_characters(file, encoding):
    for text in ("hallo\n", "aĀb\n", "\n"):
        with pytest.raises(InputError, match=rf"a NUL character(.|\n)*-f {encoding} -t"):
            list(read_lines(file(text.encode(encoding))))


def test_standard_input_is_named_in_errors(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff")))
    with pytest.raises(InputError, match="standard input, line 1: not UTF-8"):
        list(read_lines("-"))


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        *((suffix, damage) for suffix in (".gz", ".xz", ".zst") for damage in ("cut", "foreign")),
        (".gz", "tail"),  # what follows a whole .xz is passed over by the standard library
        (".zst", "tail"),
    ],
)
def test_a_damaged_archive_is_refused(file, tmp_path, suffix, damage):
    whole = file(os.urandom(20_000).hex().encode(), suffix).read_bytes()
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(
        {"cut": whole[:-9], "foreign": b"this is plain text", "tail": whole + b"junk junk"}[damage]
    )
    with pytest.raises(InputError, match="cannot be unpacked any further") as error:
        list(read_lines(path))
    assert str(path) in str(error.value)
    assert "the file is cut or damaged: fetch or pack it again" in str(error.value)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_archives_laid_end_to_end_are_one(file, tmp_path, suffix):
    path = tmp_path / f"both{suffix}"
    path.write_bytes(
        file(b"a\nb", suffix, "1").read_bytes() + file(b"c\n", suffix, "2").read_bytes()
    )
    assert list(read_lines(path)) == ["a", "bc"]


@pytest.mark.parametrize("window_log", [28, 31])
def test_a_zst_file_of_any_window_is_read(tmp_path, window_log):
    header = b"\x28\xb5\x2f\xfd\0" + bytes([(window_log - 10) << 3])  # RFC 8878, section 3.1.1
    block = (5 << 3 | 1).to_bytes(3, "little") + b"a\nb\nc"  # the last one, raw, of 5 bytes
    (tmp_path / "a.zst").write_bytes(header + block)
    assert list(read_lines(tmp_path / "a.zst")) == ["a", "b", "c"]


def test_zst_without_its_package_says_what_to_install(file, monkeypatch):
    path = file(b"a\n", ".zst")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError) as error:
        list(read_lines(path))
    assert "reading .zst needs the package zstandard" in str(error.value)
    assert "hint: pip install zstandard" in str(error.value)


def test_closing_an_unpacked_stream_closes_the_file(file):
    packed = file(b"a\n", ".zst").open("rb")
    files.ZstdStream(packed).close()
    assert packed.closed


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none.en: cannot be read .No such file(.|\n)*check"):
        list(read_lines(tmp_path / "none.en"))


def test_a_missing_file_is_answered_with_the_most_similar_beside_it(tmp_path):
    (tmp_path / "train.en").write_bytes(b"")
    with pytest.raises(InputError, match=r"trian.en: cannot be read(.|\n)*did you mean .*train.en"):
        list(read_lines(tmp_path / "trian.en"))


def test_an_address_in_the_place_of_a_file_is_to_be_downloaded():
    with pytest.raises(InputError, match=r"cannot be read(.|\n)*files: download it first"):
        list(read_lines(Path("https://example.org/a.en")))


def test_a_sentence_in_the_place_of_a_file_is_sent_to_standard_input():
    with pytest.raises(
        InputError, match=r"A dog.: cannot be read(.|\n)*a sentence goes to standard input"
    ):
        list(read_lines("A dog."))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_a_folder_is_no_file(tmp_path, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match=r"cannot be read .Is a directory"):
        list(read_lines(folder))


def test_an_unreadable_file_is_named(tmp_path):
    path = tmp_path / ("x" * 300)  # the rights of files do not bind root
    with pytest.raises(InputError, match=r"xxx: cannot be read .File name too long"):
        list(read_lines(path))


def test_a_line_without_end_is_refused(file, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1 << 20)
    assert len(next(read_lines(file(b"x" * ((1 << 20) - 1) + b"\n")))) == (1 << 20) - 1
    with pytest.raises(
        InputError, match=r"line 2: no end of line within 1 MiB(.|\n)*is this a text"
    ):
        list(read_lines(file(b"a\n" + b"x" * (1 << 20))))
    with pytest.raises(InputError, match="line 1: no end of line"):
        list(read_lines(file(codecs.BOM_UTF8 + b"x" * (1 << 20))))


def test_pairs_are_lines_side_by_side(file):
    source, target = file(b"a\nb\n", name="s"), file(b"x\ny", ".gz", name="t")
    assert list(read_pairs(source, target)) == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize(("ours", "theirs"), [(3, 5), (5, 3), (0, 2)])
def test_sides_of_different_length_are_refused_with_both_counts(file, ours, theirs):
    source, target = file(b"a\n" * ours, name="s"), file(b"b\n" * theirs, name="t")
    with pytest.raises(InputError) as error:
        list(read_pairs(source, target))
    assert f"{source} has {ours} lines, but {target} has {theirs}" in str(error.value)
    assert "hint: line i of one file must be the translation of line i" in str(error.value)
    assert "look near" not in str(error.value)


def test_a_side_from_standard_input_is_called_so_where_lengths_differ(file, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a\n")))
    with pytest.raises(InputError, match=r"standard input has 1 lines, but .*/t has 2"):
        list(read_pairs("-", file(b"b\nb\n", name="t")))


def test_where_the_sides_lost_each_other_is_said(file):
    lengths = [(7 * i * i) % 83 + 5 for i in range(600)]
    ours = b"".join(b"x" * n + b"\n" for n in lengths)
    theirs = b"".join(b"y" * n + b"\n" for i, n in enumerate(lengths) if i != 299)
    with pytest.raises(InputError, match=r"600 lines, but .* has 599") as error:
        list(read_pairs(file(ours, name="s"), file(theirs, name="t")))
    named = int(str(error.value).split("look near line ")[1].split(":")[0])
    assert abs(named - 300) <= 5


def test_one_stream_cannot_be_both_sides():
    with pytest.raises(InputError, match=r"both sides cannot come from standard input(.|\n)*a tab"):
        list(read_pairs("-", "-"))


def test_a_tab_parts_the_sides(file):
    assert list(read_pairs_tsv(file(b"a b\tx y\r\n\tz\n"))) == [("a b", "x y"), ("", "z")]


@pytest.mark.parametrize(("line", "found"), [("a", "1 column"), ("a\tb\tc", "3 columns")])
def test_a_line_without_exactly_two_columns_is_refused(file, line, found):
    path = file(f"a\tb\n{line}\n".encode())
    hint = "a line is source, one tab, target$"
    with pytest.raises(InputError, match=rf"text, line 2: {found}, not 2(.|\n)*{hint}"):
        list(read_pairs_tsv(path))


def test_reading_can_stop_anywhere(file):
    lines = read_lines(file(b"a\nb\nc\n", ".gz"))
    assert next(lines) == "a"
    del lines  # an open file left behind would be a warning, and warnings are errors here


def test_a_chunk_of_a_zst_file_is_small_however_much_it_unpacks_to(file):
    path = file(b"x" * (1 << 25), ".zst")
    assert path.stat().st_size < 1 << 12
    with path.open("rb") as packed:
        sizes = [len(chunk) for chunk in files.unpack_frames(packed)]
    assert sum(sizes) == 1 << 25
    assert max(sizes) <= 1 << 24


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_without_end_is_held_in_memory_once(file, monkeypatch, suffix):
    most = 1 << 24
    path = file(b"x" * (most + 5), suffix)
    monkeypatch.setattr(files, "MAX_LINE_BYTES", most)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="line 1: no end of line within 16 MiB"):
            list(read_lines(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most <= peak < {"": 1.5, ".gz": 1.5, ".zst": 2.3}[suffix] * most


@pytest.mark.parametrize("length", [-1, 0, 1])
def test_a_line_about_as_long_as_a_part_is_read_whole(file, monkeypatch, length):
    monkeypatch.setattr(files, "PART", 10)
    line = b"x" * (10 + length)
    assert list(read_lines(file(line + b"\n" + line * 3 + b"\na"))) == [
        line.decode(), line.decode() * 3, "a"
    ]  # fmt: skip


def test_two_of_several_columns_are_chosen(file):
    path = file(b"7\tA dog.\tEin Hund.\n8\tA cat.\tEine Katze.\textra\n")
    assert list(read_pairs_tsv(path, (2, 3))) == [
        ("A dog.", "Ein Hund."),
        ("A cat.", "Eine Katze."),
    ]
    assert next(read_pairs_tsv(path, (3, 1))) == ("Ein Hund.", "7")
    with pytest.raises(InputError, match="line 1: 3 columns, and --columns asks for number 4"):
        next(read_pairs_tsv(path, (4, 1)))
    with pytest.raises(InputError, match=r"line 1: 3 columns, not 2\nhint: .*columns=\(1, 2\)"):
        next(TaskFiles(path, TRANSLATION).read())


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-32"])
def test_the_hint_names_the_encoding_of_wide_text_with_letters_beyond_ascii(file, encoding):
    with pytest.raises(InputError) as error:
        list(read_lines(file("für\n".encode(encoding))))
    assert f"iconv -f {encoding} -t UTF-8" in str(error.value)


@pytest.mark.parametrize("changed", [b"one\n", b"one\ntwo\nthree\nfour\n"])
def test_a_file_that_changes_while_it_is_read_is_refused(file, changed):
    path = file(b"one\ntwo\nthree\n")
    lines = read_lines(path)
    assert next(lines) == "one"
    path.write_bytes(changed)
    with pytest.raises(InputError, match="changed while it was read"):
        list(lines)


def test_a_file_that_is_replaced_while_it_is_read_stays_what_it_was(file, tmp_path):
    path = file(b"one\ntwo\n")
    lines = read_lines(path)
    assert next(lines) == "one"
    (tmp_path / "new").write_bytes(b"three\n")
    (tmp_path / "new").replace(path)
    assert list(lines) == ["two"]


def test_a_blank_line_among_pairs_is_answered_with_the_option_for_labels(tmp_path):
    (tmp_path / "words.tsv").write_text("the\tDET\ndog\tNOUN\n\na\tDET\n")
    with pytest.raises(
        InputError, match=r"line 3: 1 column, not 2\nhint: .*; .* reads tokens with labels"
    ):
        list(TaskFiles(tmp_path / "words.tsv", TRANSLATION).read())


def test_no_folder_and_no_dangling_link_is_suggested_for_a_missing_file(tmp_path):
    (tmp_path / "train.fr").symlink_to("nowhere")
    (tmp_path / "train.fx").mkdir()
    assert find_similar_file(tmp_path / "train.fr") is None
    (tmp_path / "train.fs").touch()
    assert find_similar_file(tmp_path / "train.fr") == tmp_path / "train.fs"
