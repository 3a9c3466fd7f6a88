"""The text in a download; an archive never decides where anything is written."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import pytest

from transduce.datasets import unpack
from transduce.datasets.readers import (
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    read_sgml_segments,
)
from transduce.datasets.unpack import read_text_lines
from transduce.datasets.values import Download, Text
from transduce.errors import InputError

LINES = [b"One line.", b"", "zwölf\u2028halb\r".encode(), b"last"]
CONTENT = b"\n".join(LINES)


def text(name, member="", **reading):
    return Text(Download((f"http://host/{name}",)), member, **reading)


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.mark.parametrize("name", ["a.en", "a.en.gz", "a.tgz", "a.tar", "a.zip"])
def test_a_line_ends_at_a_newline_and_nowhere_else(tmp_path, name):
    path = tmp_path / "kept"
    member = "in/side.en" if name in ("a.tgz", "a.tar", "a.zip") else ""
    match name:
        case "a.en":
            path.write_bytes(CONTENT)
        case "a.en.gz":
            path.write_bytes(gzip.compress(CONTENT))
        case "a.zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("other", b"x")
                archive.writestr("./in/side.en", CONTENT)
        case _:
            tar(path, {"other": b"x", "./in/side.en": CONTENT}, "w:gz" if "tgz" in name else "w")
    assert list(read_text_lines(text(name, member), path)) == LINES


@pytest.mark.parametrize("member", ["side.fr.gz", "SIDE.FR.GZ"])
def test_a_packed_member_of_an_archive_is_unpacked(tmp_path, member):
    tar(tmp_path / "a", {member: gzip.compress(CONTENT)}, "w")
    assert list(read_text_lines(text("a.tar", member), tmp_path / "a")) == LINES


def test_a_member_that_is_not_there_is_named(tmp_path):
    tar(tmp_path / "a", {"x": b""})
    with pytest.raises(InputError, match=r"a: has no in/side\.en\n"):
        list(read_text_lines(text("a.tgz", "in/side.en"), tmp_path / "a"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_member_that_leads_elsewhere_is_refused(tmp_path, kind):
    (tmp_path / "secret").write_bytes(CONTENT)
    with tarfile.open(tmp_path / "a", "w") as archive:
        entry = tarfile.TarInfo("side.en")
        entry.type, entry.linkname = kind, str(tmp_path / "secret")
        archive.addfile(entry)
    with pytest.raises(InputError, match=r"side\.en is no regular file in it"):
        list(read_text_lines(text("a.tar", "side.en"), tmp_path / "a"))


def test_an_archive_with_names_outside_writes_nothing_there(tmp_path):
    (tmp_path / "in").mkdir()
    tar(tmp_path / "in/a", {"../evil": b"x", "/tmp/evil": b"x", "side.en": CONTENT})
    before = sorted(os.walk(tmp_path))
    assert list(read_text_lines(text("a.tgz", "side.en"), tmp_path / "in/a")) == LINES
    assert sorted(os.walk(tmp_path)) == before


@pytest.mark.parametrize("name", ["a.tgz", "a.zip", "a.en.gz"])
@pytest.mark.parametrize("content", [b"<html>log in</html>", gzip.compress(CONTENT, mtime=0)[:-9]])
def test_what_is_no_archive_or_cut_is_refused_by_its_path(tmp_path, name, content):
    (tmp_path / "kept").write_bytes(content)
    with pytest.raises(InputError, match=r"kept: (cannot be unpacked \(.+\)|has no side\.en)\n"):
        list(read_text_lines(text(name, "" if name == "a.en.gz" else "side.en"), tmp_path / "kept"))


def test_segments_are_found_in_the_sgml_of_the_wmt(tmp_path):
    (tmp_path / "kept").write_bytes(
        b'<refset>\n<doc docid="1">\n<p>\n<seg id="1"> A  b\tc &amp; d </seg>\n</p></doc>\n'
    )
    read = read_text_lines(text("a.sgm", reader=read_sgml_segments), tmp_path / "kept")
    assert list(read) == [b"A b c &amp; d"]


def test_talks_keep_titles_and_descriptions_but_no_other_tags():
    lines = [
        b"<url>http://x</url>",
        b"<title>A title</title>",
        b"A line. ",
        b"<reviewer></reviewer>",
    ]
    assert list(read_iwslt_training(iter(lines))) == [b"A title", b"A line."]
    assert list(read_iwslt_segments(iter([b'<seg id="1"> R &amp; B </seg>', b"<doc>"]))) == [
        b"R & B"
    ]


def test_a_line_without_the_column_is_named_by_its_number():
    with pytest.raises(InputError, match="line 2 has no column 2"):
        list(read_column(1)(iter([b"a\tb\tc", b"a"])))


def bomb(kind, size):
    """Zeros, packed: a file of its own, or a member that comes before the wanted one."""
    match kind:
        case "a.en.gz":
            return gzip.compress(bytes(size))
        case "a.en.xz":
            return lzma.compress(bytes(size))
        case "a.en.bz2":
            return bz2.compress(bytes(size))
    stream = io.BytesIO()
    members = {"first": bytes(size), "side.en": bytes(size)}
    if kind == "a.zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["a.en.gz", "a.en.xz", "a.en.bz2", "a.zip", "a.tgz"])
def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(unpack, "ALWAYS_ALLOWED", 100_000)
    monkeypatch.setattr(unpack, "MOST_TIMES", 10)
    path = tmp_path / "kept"
    path.write_bytes(bomb(kind, 2_000_000))
    with pytest.raises(InputError, match=r"kept: unpacks to more than 100,000 bytes\n"):
        list(read_text_lines(text(kind, "side.en" if kind in ("a.zip", "a.tgz") else ""), path))
    monkeypatch.setattr(unpack, "ALWAYS_ALLOWED", 10_000_000)
    found = list(read_text_lines(text(kind, "side.en" if kind in ("a.zip", "a.tgz") else ""), path))
    assert sum(map(len, found)) == 2_000_000
