"""transduce translate --format: a document for a document."""

import gzip
import shlex

import pytest

FAST = ("--beam=1", "--extra-length=1")
PAGE = b"<h1>A dog</h1>\n<p>The <b>dog</b> runs. It sees a cat.</p><code>now</code>\r\n"


def test_the_structure_of_a_page_stays(call, babbler):
    ended = call("translate", babbler, "--format=html", *FAST, stdin=PAGE)
    assert (ended.code, ended.stderr) == (0, "3 sentences translated\n")
    assert ended.stdout.startswith("<h1>")
    assert ended.stdout.endswith("</p><code>now</code>\r\n")
    assert "<b>" in ended.stdout
    assert "dog" not in ended.stdout


def test_a_document_may_be_written_to_a_file(call, babbler, tmp_path):
    (tmp_path / "in.html").write_bytes(PAGE)
    wanted = call("translate", babbler, "--format=html", *FAST, stdin=PAGE).stdout
    ended = call(
        "translate", babbler, tmp_path / "in.html", "--format=html", *FAST, "-o", tmp_path / "out"
    )
    assert (ended.code, ended.stdout) == (0, "")
    assert (tmp_path / "out").read_bytes().decode() == wanted


def test_quiet_leaves_out_notes_and_counts(call, babbler, tmp_path):
    (tmp_path / "in.html").write_bytes(PAGE)
    for form in ((), ("--format=html",)):
        ended = call("translate", babbler, tmp_path / "in.html", *form, *FAST, "--quiet")
        assert (ended.code, ended.stderr) == (0, "")
        assert ended.stdout != ""


@pytest.mark.parametrize("name", ["in.html", "in.HTM.gz"])
def test_a_document_is_not_translated_line_by_line_unless_it_comes_without_its_name(
    call, babbler, tmp_path, name
):
    page = b"<!doctype html>" + PAGE
    (tmp_path / name).write_bytes(gzip.compress(page) if name.endswith("gz") else page)
    ended = call("translate", babbler, tmp_path / name, *FAST)
    assert (ended.code, ended.stdout) == (2, "")
    assert (
        "is a document (html), whose structure is lost line by line\nhint: --format html"
        in ended.stderr
    )
    assert call("translate", babbler, *FAST, stdin=page).stdout.count("\n") == 2


def test_a_file_that_is_only_named_as_a_document_is_translated_with_a_note(call, babbler, tmp_path):
    (tmp_path / "in.html").write_bytes(PAGE)
    ended = call("translate", babbler, tmp_path / "in.html", *FAST)
    assert (ended.code, ended.stdout.count("\n")) == (0, 2)
    assert ended.stderr == (
        f"note: {tmp_path}/in.html is translated line by line; --format html keeps its structure\n"
    )


def test_a_plain_text_named_after_a_page_gets_no_note(call, babbler, tmp_path):
    (tmp_path / "in.html.txt").write_bytes(b"A dog.\n")
    assert call("translate", babbler, tmp_path / "in.html.txt", *FAST).stderr == ""


@pytest.mark.parametrize("name", ["memory.tmx", "memory.TMX.gz", "my job.sdlxliff"])
def test_a_translation_memory_is_refused_with_a_way_to_its_sources(call, babbler, tmp_path, name):
    ended = call("translate", babbler, tmp_path / name)
    assert (ended.code, ended.stdout) == (2, "")
    assert "is a translation memory, which holds both sides\nhint: " in ended.stderr
    path = shlex.quote(str(tmp_path / name))
    assert f"`transduce clean --pairs {path} -o CLEAN`, then" in ended.stderr


def test_a_sentence_for_review_is_not_said_to_be_marked_where_no_mark_is_written(call, babbler):
    ended = call("translate", babbler, "--format=html", *FAST, stdin=b"<p>A dog.\n<p>77 dogs")
    assert ended.stderr == (
        "warning: line 2: the translation lacks the number 77\n"
        "2 sentences translated; 1 is named above for review\n"
    )


@pytest.mark.parametrize(
    "option", ["--nbest=2", "--json", "--align", "--prefix=x", "--line-buffered", "--on=ray"]
)
def test_options_about_lines_are_refused(call, babbler, option):
    ended = call("translate", babbler, "--format=text", option, *FAST, stdin=b"a")
    assert ended.code == 2
    name = option.split("=")[0]
    assert f"error: {name} is for lines, and --format for documents\n" in ended.stderr


def test_a_failure_leaves_an_older_output_unchanged(call, babbler, tmp_path):
    (tmp_path / "out").write_text("precious")
    ended = call("translate", babbler, "--format=text", "-o", tmp_path / "out", stdin=b"a\xff")
    assert ended.code == 2
    assert "standard input, line 1: not UTF-8" in ended.stderr
    assert (tmp_path / "out").read_text() == "precious"


def test_entries_for_review_are_named_and_counted(call, babbler):
    file = b'msgid "77 dogs"\nmsgstr ""\n\nmsgid "a"\nmsgstr "b"\n\nmsgid "cat"\nmsgstr ""\n'
    ended = call("translate", babbler, "--format=po", *FAST, stdin=file)
    assert ended.code == 0
    assert ended.stderr == (
        "warning: line 1: msgstr lacks the number 77\n"
        "2 sentences translated; 1 entry was translated before; 1 is marked for review\n"
    )
    assert ended.stdout.startswith('#, fuzzy\nmsgid "77 dogs"\nmsgstr "')
    assert 'msgid "a"\nmsgstr "b"\n' in ended.stdout


XLIFF = b"""<xliff version="1.2"><file source-language="fr-CA" target-language="ja"><body>
<trans-unit id="1"><source>dog</source></trans-unit></body></file></xliff>"""


@pytest.mark.parametrize(
    ("form", "data", "said"),
    [
        (
            "xliff",
            XLIFF,
            ["source language is 'fr-CA', the model's is 'en'", "target language is 'ja'"],
        ),
        ("xliff", XLIFF.replace(b"fr-CA", b"en-GB").replace(b"ja", b"DE"), []),
        (
            "po",
            b'msgid ""\nmsgstr "Language: ja\\n"\n',
            ["target language is 'ja', the model's is 'de'"],
        ),
        ("po", b'msgid ""\nmsgstr "Language: de_CH\\n"\n', []),
        ("html", b"<html lang='fr'>A dog", ["source language is 'fr', the model's is 'en'"]),
        ("html", b"<html lang='en-US'>A dog", []),
    ],
)
def test_a_document_of_other_languages_is_a_warning(call, babbler, form, data, said):
    ended = call("translate", babbler, f"--format={form}", *FAST, stdin=data)
    assert ended.code == 0
    warnings = [one for one in ended.stderr.splitlines() if one.startswith("warning: the doc")]
    assert len(warnings) == len(said)
    assert all(part in one for part, one in zip(said, warnings, strict=True))


@pytest.mark.parametrize(
    ("form", "data", "fact"),
    [
        ("po", b"Hello", "line 1: neither a comment nor a field"),
        ("xliff", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "line 1: has a document type"),
        ("srt", b"Hello", "line 1: neither the number nor the times"),
        ("html", b'# a\n\nmsgid "a"\n', "is po by its first lines, and is to be read as html"),
        ("text", b"\n1\n00:00:01,0 --> 00:00:02,0\na", "is srt by its first lines, and is to"),
        ("html", b"<?xml version='1.0'?>\n<xliff>", "is xliff by its first lines, and is to be"),
        (
            "xliff",
            b"<!DOCTYPE html>\n<p>",
            "is html by its first lines, and is to be read as xliff",
        ),
        ("po", b"<?xml version='1.0'?>\n<html>", "is html by its first lines, and is to be read"),
        ("text", b"<!DOCTYPE HTML><p>", "is html by its first lines, and is to be read as text"),
    ],
)
def test_what_is_no_document_of_that_format_ends_in_a_sentence(call, babbler, form, data, fact):
    ended = call("translate", babbler, f"--format={form}", stdin=data)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: standard input")
    assert fact in ended.stderr.partition("\n")[0]
    assert "\nhint: " in ended.stderr


def test_markup_of_no_known_format_is_named(call, babbler, tmp_path):
    (tmp_path / "a.md").write_text("# Dogs\n\nA dog.\n", encoding="utf-8")
    for options in ((), ("--format", "text")):
        said = call("translate", babbler, tmp_path / "a.md", *options).stderr
        assert said.count("line 1: this is Markdown, and its markup is translated like text") == 1
    (tmp_path / "a.csv").write_text("dog,Hund\n", encoding="utf-8")
    assert "line 1: this is CSV, and" in call("translate", babbler, tmp_path / "a.csv").stderr
    said = call("translate", babbler, stdin=b"A dog.\n\\begin{itemize}\n").stderr
    assert "note: standard input, line 2: this is LaTeX" in said
    said = call("translate", babbler, stdin=b"<!doctype html>\n<p>A dog.\n").stderr
    assert said.startswith("note: standard input, line 1: this is HTML")
    assert "; --format html keeps it\n" in said


def test_markup_in_a_document_is_named_with_its_line_and_not_its_sentence(call, babbler):
    text = b"A dog. A cat. A cow.\n\n\\begin{itemize}\n"
    said = call("translate", babbler, "--format", "text", stdin=text).stderr
    assert "note: standard input, line 3: this is LaTeX" in said


def test_an_output_may_be_thrown_away(call, babbler):
    assert call("translate", babbler, "-o", "/dev/null", stdin=b"a dog\n").code == 0
