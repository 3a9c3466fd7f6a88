"""PO files, compared with polib and, where it is installed, with gettext's own msgfmt."""

import shutil
import subprocess

import polib  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.documents.mock_translators import repeat

from transduce.errors import InputError
from transduce.text.documents.document import ParseOptions
from transduce.text.documents.po import parse_po, unescape, write_field

HEADER = r"""# A program's messages.
msgid ""
msgstr ""
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"""
FILE = (
    HEADER
    + r"""
#. for translators
#: main.c:10
msgid "Open the file."
msgstr ""

#, c-format
msgctxt "menu"
msgid "Open %s. It is \"new\"."
msgstr ""

msgid "Close"
msgstr "Schließen"

#, fuzzy
#| msgid "Old"
msgid "New"
msgstr "Alt"

#: a.c:1
msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] ""
msgstr[1] ""

msgid ""
"\n"
"Two lines.\n"
"   And a second.\n"
msgstr ""

msgid "%s: %d"
msgstr ""

#, fuzzy
#~ msgid "gone"
#~ msgstr "weg"

# the end"""
)
IMPOSSIBLE = "the header's Plural-Forms is impossible; each entry keeps the number that it has"
TEMPLATE = "Plural-Forms is still a template's; write the target language's rule into it"
SENTENCES = [
    "Open the file.", "Open %s.", 'It is "new".', "%d dog", "%d dogs", "Two lines.",
    "And a second.",
]  # fmt: skip


def parse(text):
    return parse_po(text, ParseOptions(name="de.po"))


def untouched(text):
    """Return the lines of a PO file that hold no translation and no flags."""
    return [line for line in text.split("\n") if not line.startswith(("msgstr", '"', "#,"))]


def translate(text, change):
    document = parse(text)
    return document.join([change(one) for one in document.sentences], [])


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_missing_translations_are_added_and_all_other_lines_stay(line_end):
    file = FILE.replace("\n", line_end)
    document = parse(file)
    assert list(document.sentences) == SENTENCES
    assert document.kept == 1
    assert document.warnings == ["fuzzy entries, left as they are: 1, the first at line 23"]
    joined = repeat(document)
    assert joined.for_review == ()
    assert untouched(joined.text) == untouched(file)
    assert joined.text.count("\r") == (joined.text.count("\n") if line_end == "\r\n" else 0)
    theirs, before = polib.pofile("\n" + joined.text), polib.pofile("\n" + file)
    assert [(one.msgid, one.flags, one.occurrences) for one in theirs] == [
        (one.msgid, one.flags, one.occurrences) for one in before
    ]
    assert {
        one.msgid: one.msgstr for one in theirs if not one.msgid_plural and not one.obsolete
    } == {
        **{one.msgid: one.msgid for one in before if not one.msgid_plural and not one.obsolete},
        "Close": "Schließen",
        "New": "Alt",
    }
    (plural,) = [one for one in theirs if one.msgid_plural]
    assert plural.msgstr_plural == {0: "%d dog", 1: "%d dogs"}


def test_a_file_with_all_translations_comes_back_byte_for_byte():
    done = repeat(parse(FILE)).text
    assert parse(done).sentences == ()
    assert repeat(parse(done)).text == done


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="skipped: gettext is not installed")
def test_gettext_takes_the_result(tmp_path):
    (tmp_path / "de.po").write_text(translate(FILE, str.upper).text, encoding="utf-8")
    check = ["msgfmt", "--check-format", "--check-domain", "-o", "/dev/null", "de.po"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("source", "translation", "doubt"),
    [
        ("Open %s now", "Öffne jetzt %s", ""),
        ("Open %s now", "Öffne jetzt", "lacks %s"),
        ("%(name)s has 100%%", "%(Name)s hat 100%%", "lacks %(name)s and adds %(Name)s"),
        ("{0} of {count:,}", "{0} von {count:,}", ""),
        ("{0} of {1}", "{0} von {0}", "lacks {1} and adds {0}"),
        ("a <b>bold</b> <br/>", "ein <b>fetter", "lacks </b>, <br/>"),
        ("you &amp; I, %1 and ${x}", "ich", "lacks %1, ${x}, &amp;"),
        ("%1$s of %2$d", "%2$d von %1$s", ""),
        ("%1$s of %2$d", "%1$s von", "lacks %2$d"),
        ("50% of it", "50% davon", ""),
        ("no", "%s", "adds %s"),
        ("write to a@b.org", "schreib an ein@b.org", "lacks a@b.org and adds ein@b.org"),
        ("1 of 1", "eins von eins", "lacks the number 1 (2 times)"),
        ("{0}{0} of {1}", "nichts", "lacks {0}{0}, {1}"),
        ("1,250 of 9", "1.250 von 8", "lacks the number 9"),
    ],
)
def test_an_entry_whose_placeholders_are_lost_is_marked_fuzzy(source, translation, doubt):
    file = f'msgid "{source}"\nmsgstr ""\n'
    joined = parse(file).join([translation], [])
    assert joined.for_review == ((f"line 1: msgstr {doubt}",) if doubt else ())
    assert joined.text == f'{"#, fuzzy" + chr(10) if doubt else ""}msgid "{source}"\nmsgstr ' + (
        f'"{translation}"\n'
    )


def test_flags_stay_beside_fuzzy():
    text = translate(FILE, lambda text: text.replace("%", "")).text
    assert "\n#, fuzzy, c-format\nmsgctxt" in text
    assert "\n#: a.c:1\n#, fuzzy\nmsgid" in text
    gone = '#, fuzzy\n#~ msgid "x"\n#~ msgstr "y"\nmsgid "a %s"\nmsgstr ""'
    assert '"y"\n#, fuzzy\nmsgid "a' in translate(gone, lambda _: "b").text
    old = '#| msgid "o"\nmsgid "a %s"\nmsgstr ""'
    assert translate(old, lambda _: "b").text.startswith("#, fuzzy\n#|")


@pytest.mark.parametrize(
    ("plural", "wanted", "doubts"),
    [
        ("nplurals=1; plural=0;", ["MANY"], 0),
        ("nplurals=2; plural=(n > 1);", ["ONE", "MANY"], 0),
        ("nplurals=3; plural=(n%10==1 ? 0 : n != 0 ? 1 : 2);", ["ONE", "MANY", "MANY"], 1),
        ("nplurals=2; plural=n == 1;", ["MANY", "ONE"], 0),
        ("nplurals=INTEGER; plural=EXPRESSION;", ["ONE", "MANY"], 0),
        ("nplurals=2; plural=n/0;", ["ONE", "MANY"], 0),
        ("nplurals=2; plural=__import__('os');", ["ONE", "MANY"], 0),
        ("nplurals=2; plural=" + "(" * 500 + ";", ["ONE", "MANY"], 0),
    ],
)  # fmt: skip
def test_each_plural_form_of_the_language_is_filled(plural, wanted, doubts):
    file = HEADER.replace("nplurals=2; plural=(n != 1);", plural)
    file += (
        '\nmsgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\nmsgstr[1] ""\n\nmsgid "x"\nmsgstr "y"'
    )
    if plural.startswith("nplurals=1"):
        file = file.replace('msgstr[1] ""\n', "")
    joined = translate(file, str.upper)
    for number, text in enumerate(wanted):
        assert f'msgstr[{number}] "{text}"\n' in joined.text
    assert len(joined.for_review) == doubts
    assert ("fuzzy" in joined.text) == bool(doubts)


@pytest.mark.parametrize("present", [(0,), (0, 2), (0, 3), (0, 2, 10)])
def test_plural_forms_that_an_entry_lacks_are_written_in_their_order(present):
    count = max(4, *(number + 1 for number in present))
    file = HEADER.replace("nplurals=2; plural=(n != 1)", f"nplurals={count}; plural=n")
    file += '\nmsgid "a dog"\nmsgid_plural "dogs"\n'
    file += "".join(f'msgstr[{number}] ""\n' for number in present)
    forms = [f"form {number}" for number in range(count)]
    written = parse(file).join(forms, []).text.split('"dogs"\n')[1]
    assert written.splitlines() == [
        f'msgstr[{number}] "{form}"' for number, form in enumerate(forms)
    ]


def test_the_rule_for_plurals_ends_with_its_line_if_no_semicolon_ends_it():
    file = HEADER.replace("(n != 1);", "n == 1;") + r'"X-Generator: a\n"' + "\n"
    file += '\nmsgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    without = file.replace("n == 1;", "n == 1")
    assert parse(without).warnings == []
    assert translate(without, str.upper).text == translate(file, str.upper).text.replace("1;", "1")


@pytest.mark.parametrize(
    ("plural", "warning"),
    [
        ("nplurals=2; plural=n!=1;", []),
        ("nplurals=INTEGER; plural=EXPRESSION;", [TEMPLATE]),
        ("nplurals=0; plural=0;", [IMPOSSIBLE]),
        ("nplurals=999999999; plural=0;", [IMPOSSIBLE]),
        ("nplurals=1; plural=0;", ["line 8: 2 plural forms, and the header's nplurals is 1"]),
    ],
)
def test_a_header_of_impossible_plural_forms_is_a_warning(plural, warning):
    file = HEADER.replace("nplurals=2; plural=(n != 1);", plural)
    file += '\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    assert list(parse(file).warnings) == warning


def test_a_language_that_a_header_leaves_empty_is_not_read_from_its_next_line():
    file = HEADER.replace("Language: de", "Language: ")
    options = ParseOptions(name="de.po", language="de")
    assert parse_po(file, options).warnings == []
    assert parse_po(file.replace("Language: ", "Language: fr"), options).warnings != []


@pytest.mark.parametrize("charset", ["CHARSET", "ASCII", "us-ascii"])
def test_a_charset_into_which_a_translation_may_not_fit_becomes_utf_8(charset):
    entry = '\nmsgid "a"\nmsgstr ""\n'
    done = translate(HEADER.replace("UTF-8", charset) + entry, lambda _: "ä").text
    assert done == translate(HEADER + entry, lambda _: "ä").text


@pytest.mark.parametrize(
    ("file", "fact"),
    [
        ("Hello\n", "line 1: neither a comment nor a field"),
        ('msgid "a" b\n', "line 1: neither a comment nor a field"),
        ('msgid "a""\n', "line 1: neither a comment nor a field"),
        ('msgid "a"\nmsgid "b"\nmsgstr ""', "line 1: an entry without msgstr"),
        ('msgid "a"\nmsgstr ""\nmsgstr ""', "line 3: a second msgstr"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr ""', r"line 1: an entry without msgstr\[0\]"),
        ('msgctxt "a"\nmsgstr ""', "line 1: an entry without msgid"),
        ('\n\n"a"', "line 3: neither a comment nor a field"),
        (HEADER.replace("UTF-8", "ISO-8859-1"), "says that its charset is ISO-8859-1"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(file, fact):
    with pytest.raises(InputError, match=f"de.po.*{fact}"):
        parse(file)


def test_escaped_bytes_are_those_of_utf8():
    assert unescape(r"Caf\303\251 \xe2\x82\xac\n\x\\303") == "Café €\nx\\303"
    assert unescape(r"\351t") == "\ufffdt"


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(' "\\\n\t\r\x01ab%'), max_size=300))
def test_any_text_is_written_as_polib_reads_it(text):
    lines = list(write_field("msgstr", text, ""))
    assert unescape("".join(line[line.index('"') + 1 : -1] for line in lines)) == text
    is_plain = text.isascii() and all(c.isprintable() or c in "\n\t" for c in text)
    plain = text if is_plain else "plain"  # polib reads no octal escapes, such as that of DEL
    lines = list(write_field("msgstr", plain, ""))
    (entry,) = polib.pofile("\n".join(['\nmsgid "a"', *lines]))
    assert entry.msgstr == plain
