"""Files that are given as text and are something else."""

import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from transduce.errors import InputError
from transduce.text.files import name_markup, read_bytes, read_lines


def pack_zip(member="a.txt"):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(member, "A dog runs.\n")
    return data.getvalue()


def pack_tar():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.zip", pack_zip(), "is a zip archive"),
        ("text", pack_zip(), "is a zip archive"),
        ("a.docx", pack_zip("word/document.xml"), "is a Word document (DOCX)"),
        ("a.txt", b"%PDF-1.7\n%\xe2\xe3", "is a PDF"),
        ("a.txt", gzip.compress(b"A dog runs.\n", mtime=0), "is packed by gzip"),
        ("a.txt", lzma.compress(b"A dog runs.\n"), "is packed by xz"),
        ("a.tar", pack_tar(), "is a tar archive"),
        ("a.tar.gz", gzip.compress(pack_tar(), mtime=0), "is a tar archive"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0", "is a picture (PNG)"),
        (
            "a.en",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
            "is a pointer of Git",
        ),
        ("a.tsv.Z", b"\x1f\x9d\x90a\n", "is packed by compress"),
        ("a.parquet", b"PAR1\x15\0\n", "is a table (Parquet)"),
        ("a.rtf", rb"{\rtf1\ansi A dog runs.}", "is a document in rich text format"),
    ],
)
@pytest.mark.parametrize(
    "read", [lambda file: list(read_lines(file)), lambda file: read_bytes(file, 9999)]
)
def test_a_file_that_is_no_text_is_called_what_it_is(tmp_path, name, data, kind, read):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as refusal:
        read(tmp_path / name)
    assert f"{tmp_path / name}: {kind}" in refusal.value.fact
    assert "LATIN1" not in refusal.value.hint


@pytest.mark.parametrize("data", [b"PK is no zip.\n", b"7z\n", b"BZh is a name.\n", b"x" * 600])
def test_text_that_begins_alike_is_read(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    assert list(read_lines(tmp_path / "a")) == [data.decode().rstrip("\n")]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (r"\documentclass{article}", "LaTeX"),
        (r"  \subsection{Dogs}", "LaTeX"),
        ("<!DOCTYPE html>", "HTML"),
        ("  <html lang=en>", "HTML"),
        ("<b>A dog.</b>", ""),
        ("## Dogs", "Markdown"),
        ("A [dog](https://example.org) runs.", "Markdown"),
        ("```python", "Markdown"),
        ("A dog runs (fast).", ""),
        ("#1 of the [list]", ""),
        (r"C:\begins", ""),
    ],
)
def test_markup_is_recognised_by_a_line(line, kind):
    assert name_markup(line) == kind
