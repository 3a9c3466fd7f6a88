"""The same pairs in TSV, CSV, TMX and XLIFF; what is left out, and what is refused."""

import csv
import gzip
import io
from html import escape

import pytest

from transduce.errors import InputError
from transduce.runs.texts import FilePair
from transduce.text.languages import LANGUAGE_NAMES
from transduce.text.pair_files import detect_languages, parse_units, read_pair_file

PAIRS = [
    (f"a <b> & {n}; dog, \u201cäö\u201d", f"ein Hund\t{n}".replace("\t", " ")) for n in range(300)
]


def as_csv(delimiter, head=()):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([*head, *PAIRS])
    return text.getvalue()


def tmx(units, header='srclang="en"', doctype=""):
    return (
        f"<?xml version='1.0'?>{doctype}<tmx><header {header}/><body>{''.join(units)}</body></tmx>"
    )


def unit(**texts):
    variants = (
        f'<tuv xml:lang="{code.replace("_", "-")}"><seg>{text}</seg></tuv>'
        for code, text in texts.items()
    )
    return f"<tu><note>n</note>{''.join(variants)}</tu>"


def xliff(units, attributes='source-language="en-US" target-language="de"'):
    body = "".join(f'<trans-unit id="1"{one}</trans-unit>' for one in units)
    return (
        f'<xliff xmlns="urn:x"><file {attributes}><body><group>{body}</group></body></file></xliff>'
    )


UNITS = [unit(EN_us=escape(source), de=escape(target)) for source, target in PAIRS]
SEGMENTS = [
    f"><source>{escape(source)}</source><target>{escape(target)}</target>"
    for source, target in PAIRS
]
SPELLINGS = {
    "a.tsv": "".join("{}\t{}\n".format(*pair) for pair in PAIRS).encode(),
    "a.csv": as_csv(",").encode("utf-8-sig"),
    "b.csv": as_csv(";", [("en", "de-DE")]).encode(),
    "c.csv": as_csv("\t", [("Source", "Target")]).encode("utf-16"),
    "d.csv": as_csv(",").encode("utf-32"),
    "a.tmx": tmx(UNITS, doctype='<!DOCTYPE tmx SYSTEM "tmx14.dtd">').encode(),
    "b.tmx": tmx(UNITS).encode("utf-16"),
    "c.tmx.gz": gzip.compress(tmx(UNITS, 'srclang="EN-GB"').encode()),
    "a.xlf": xliff(SEGMENTS).encode(),
    "b.xliff": (
        '<xliff version="2.0" srcLang="en" trgLang="de"><file><unit>'
        + "".join(f"<segment{one}</segment>" for one in SEGMENTS)
        + "</unit></file></xliff>"
    ).encode(),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_format_gives_the_same_pairs(tmp_path, name):
    (tmp_path / name).write_bytes(SPELLINGS[name])
    assert list(read_pair_file(tmp_path / name)) == PAIRS
    if "tmx" in name or "xl" in name:
        assert detect_languages(tmp_path / name) == ("en", "de")
        swapped = [(target, source) for source, target in PAIRS]
        assert list(read_pair_file(tmp_path / name, ("de", "en"))) == swapped


def read(tmp_path, name, text, columns=None):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return list(read_pair_file(tmp_path / name, columns))


def test_codes_of_formats_go_and_words_between_them_stay(tmp_path):
    source = "a <ph>&lt;x&gt;</ph><hi>big <it>1</it>dog</hi>"
    assert read(tmp_path, "a.tmx", tmx([unit(en=source, de="x")])) == [("a big dog", "x")]
    source = '<g id="1">a <mrk>big</mrk></g> dog<x id="2"/><bpt id="3">b</bpt>'
    segment = f"><source>{source}</source><target>x</target>"
    assert read(tmp_path, "a.xlf", xliff([segment])) == [("a big dog", "x")]


def test_a_unit_without_a_finished_translation_says_why(tmp_path):
    units = [
        "><source>a</source><target state='new'>b</target>"
        "<alt-trans><target>z</target></alt-trans>",
        " approved='yes'><source>a</source><target state='needs-review-translation'>c</target>",
        "><source>a</source><target state='final'>d</target>",
        "><source>a</source>",
    ]
    assert read(tmp_path, "a.xlf", xliff(units)) == [
        ("", "state new: b"),
        ("a", "c"),
        ("a", "d"),
        ("", "unit 1: no text in both languages, but in en-us: a"),
    ]
    named = unit(en="e", de="").replace("<tu", '<tu tuid="7"', 1)
    units = [unit(en="a", de="b"), unit(en="c", fr="d"), named]
    assert read(tmp_path, "a.tmx", tmx(units)) == [
        ("a", "b"),
        ("", "no text in both languages, but in en: c; fr: d"),
        ("", "unit 7: no text in both languages, but in en: e"),
    ]


@pytest.mark.parametrize(
    ("first", "is_pair"),
    [
        (("source", "target"), False),
        (("Source ", "TGT"), False),
        (("English", "Deutsch"), False),
        (("Français", "german"), False),
        (("German", "Deutsch"), True),  # of a dictionary
        (("English", "Hund"), True),
        (("source", "Quelle"), True),
    ],
)
def test_a_first_line_that_names_both_sides_is_no_pair(tmp_path, first, is_pair):
    for name, mark in (("a.tsv", "\t"), ("a.csv", ",")):
        text = f"{mark.join(first)}\na{mark}b\n"
        counted = [("", f"headings: {', '.join(first)}")] if name == "a.tsv" else []
        assert read(tmp_path, name, text) == ([first] if is_pair else counted) + [("a", "b")]
    assert read(tmp_path, "b.tsv", "a\tb\nsource\ttarget\n")[1] == ("source", "target")


def test_a_long_cell_of_csv_is_read_as_one_of_a_table_is(tmp_path):
    long = "a" * 200_000
    assert read(tmp_path, "a.csv", f"{long},b\nc,d\n") == [(long, "b"), ("c", "d")]


def test_byte_order_marks_before_a_heading_are_no_part_of_it(tmp_path):
    text = 2 * "\ufeff" + '"English",German,n\na,b,1\n'
    assert read(tmp_path, "a.csv", text, ("English", "German")) == [("a", "b")]


def test_a_first_pair_of_short_words_is_a_pair(tmp_path):
    assert read(tmp_path, "a.csv", "cat,kat\ndog,hund\n") == [("cat", "kat"), ("dog", "hund")]


def test_a_first_line_without_the_columns_that_are_read_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"a\.csv, line 1: 1 column, and --columns asks for number 2"
    ):
        read(tmp_path, "a.csv", "x\n1,a,b\n", (2, 3))


def test_columns_have_numbers_and_names_and_a_memory_languages(tmp_path):
    text = 'id,English,German\n1,"a\nb",c\n'
    assert read(tmp_path, "a.csv", text, ("german", "English")) == [("c", "a\nb")]
    assert read(tmp_path, "a.csv", text, (2, 3)) == [("a\nb", "c")]
    units = [unit(en_GB="colour", en_US="color", de="Farbe")]
    memory = tmx(units, 'srclang="*all*"')
    assert read(tmp_path, "a.tmx", memory, ("de", "en_US")) == [("Farbe", "color")]
    assert read(tmp_path, "a.tmx", memory, ("en", "de")) == [("colour", "Farbe")]


def xliff_of_files(*units):
    """An XLIFF with a <file> for each (source, target, source language, target language)."""
    files = [
        xliff(
            [f"><source>{source}</source><target>{target}</target>"],
            f'source-language="{ours}" target-language="{theirs}"',
        )
        for source, target, ours, theirs in units
    ]
    parts = [file.partition("<file")[2].partition("</xliff>")[0] for file in files]
    return f"<xliff xmlns='urn:x'>{''.join(f'<file{part}' for part in parts)}</xliff>"


def test_units_of_other_languages_than_the_first_ones_are_no_pairs(tmp_path):
    text = xliff_of_files(
        ("a dog", "ein Hund", "en-GB", "de"),
        ("un chien", "un cane", "fr", "it"),
        ("eine Katze", "a cat", "de", "en-GB"),
        ("a", "b", "en-GB", ""),
    )
    assert read(tmp_path, "a.xlf", text) == [
        ("a dog", "ein Hund"),
        ("", "unit 1: no text in both languages, but in fr: un chien; it: un cane"),
        ("a cat", "eine Katze"),
        ("", "unit 1: no text in both languages, but in en-gb: a"),
    ]


def test_files_of_other_variants_of_the_same_languages_are_pairs(tmp_path):
    text = xliff_of_files(
        ("a dog", "ein Hund", "en-US", "de-DE"),
        ("a cat", "eine Katze", "en-GB", "de-AT"),
        ("eine Kuh", "a cow", "de", "en"),
    )
    found = [("a dog", "ein Hund"), ("a cat", "eine Katze"), ("a cow", "eine Kuh")]
    assert read(tmp_path, "a.xlf", text) == found
    text = xliff_of_files(("color", "colour", "en-US", "en-GB"), ("grey", "gray", "en-GB", "en-US"))
    assert read(tmp_path, "a.xlf", text) == [("color", "colour"), ("gray", "grey")]
    assert detect_languages(tmp_path / "a.xlf") == ("en-us", "en-gb")


def test_a_memory_is_not_read_as_the_text_of_one_side(tmp_path):
    for name in ("a.tmx", "a.xlf.gz"):
        with pytest.raises(InputError, match=rf"holds both sides\nhint: train .*{name}"):
            FilePair(tmp_path / "a.en", tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "columns", "fact"),
    [
        ("a.tmx", tmx(UNITS)[:-30], None, "is no XML that can be read"),
        ("a.tmx", tmx([unit(en="R & D", de="FuE")]), None, "a lone & is written &amp;"),
        (
            "a.tmx",
            tmx(UNITS[:1]),
            ("fr", "en"),
            "none of its 1 units .* in fr and en\nhint: .*: en-us, de",
        ),
        ("a.tmx", tmx(UNITS[:1], 'srclang="*all*"'), None, "its source language is \\*all\\*"),
        ("a.tmx", tmx(UNITS[:1]), (1, 2), "has no numbered columns"),
        (
            "a.tmx",
            tmx([unit(en_US="a", en_GB="b")], 'srclang="en-US"'),
            None,
            'source language is en-us\nhint: columns=\\("en-us", "en-gb"\\) names',
        ),
        (
            "a.tmx",
            tmx([unit(en="a")]),
            None,
            "has a finished text for source and target\nhint: .* one language, en$",
        ),
        ("a.tmx", tmx(["<tu><tuv><seg>a</seg></tuv></tu>"]), None, "hint: .* have no language$"),
        ("a.tmx", tmx([], doctype='<!DOCTYPE t [<!ENTITY a "x">]>'), None, "declares the entity a"),
        ("a.tmx", tmx(["<tu>" * 200]), None, "over 100 nested elements"),
        ("a.csv", "a,A,b\n1,2,3\n", ("a", "b"), "several columns are called a"),
        (
            "a.csv",
            "\n\na,b,c\n1,2,3\n",
            None,
            "line 3: no column is called source\nhint: .*: a, b, c",
        ),
        ("a.csv", "a,b\nc\n", None, "line 2: 1 column, and number 2 is read"),
        ("a.csv", "a,b\nc, d,e\n", None, "line 2: 3 columns, and the first row has 2"),
        ("a.csv", "a,b\nc\0,d\n", None, "line 2: a NUL character"),
        ("a.csv", 'a,"b\nc\n', None, "is no CSV: unexpected end of data"),
        ("a.tsv", "a\tb\n", ("en", "de"), "these columns have no names"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, text, columns, fact):
    with pytest.raises(InputError, match=fact):
        read(tmp_path, name, text, columns)


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_a_comma_in_a_text_is_no_delimiter_beside_another(tmp_path, delimiter):
    assert read(tmp_path, "a.csv", f"Hello, world{delimiter}Hallo\n") == [("Hello, world", "Hallo")]


def test_delimiters_in_a_quoted_text_of_two_lines_do_not_count(tmp_path):
    text = '"Hello; my; friend\nhow are you","Hallo"\n"a; b; c",d\n'
    expected = [("Hello; my; friend\nhow are you", "Hallo"), ("a; b; c", "d")]
    assert read(tmp_path, "a.csv", text) == expected


@pytest.mark.parametrize("number", [1, 100, 2_000])
def test_an_encoding_that_was_not_named_is_refused_with_its_line(tmp_path, number):
    lines = ["a dog,ein Hund\n"] * (number - 1)
    (tmp_path / "a.csv").write_bytes("".join([*lines, "ä,b\n", *lines]).encode("latin-1"))
    with pytest.raises(InputError, match=f"line {number}: not UTF-8"):
        list(read_pair_file(tmp_path / "a.csv"))


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "LATIN1"])
def test_the_hint_names_the_encoding_of_a_csv_file(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes("source,target\r\nä,b\r\n".encode(encoding))
    with pytest.raises(InputError, match=f"iconv -f {encoding} -t UTF-8"):
        list(read_pair_file(tmp_path / "a.csv"))


def test_what_is_read_of_a_memory_does_not_stay_in_memory():
    parts = [tmx(UNITS[:1]).partition("</body>")[0], *UNITS * 3, "</body></tmx>"]
    found = parse_units((part.encode() for part in parts), {"tu"}, "a.tmx")
    assert max(len(one) for _, above in found for one in above) == 1


@pytest.mark.parametrize("name", ["a.tmx", "a.xlf"])
def test_a_file_without_units_is_no_empty_memory(tmp_path, name):
    with pytest.raises(InputError, match="has no unit with a text and its translation"):
        read(tmp_path, name, "<html><body>a page</body></html>")


def test_headings_are_known_in_every_language_that_the_server_names(tmp_path):
    for name in LANGUAGE_NAMES.values():
        assert read(tmp_path, "a.tsv", f"source\t{name}\na\tb\n")[1] == ("a", "b")
        assert read(tmp_path, "a.csv", f"source,{name}\na,b\n") == [("a", "b")]


def test_a_quote_within_a_text_opens_no_cell(tmp_path):
    text = '5" pipe;Rohr\na 6" x, y, z;Rohr\n'
    assert read(tmp_path, "a.csv", text) == [('5" pipe', "Rohr"), ('a 6" x, y, z', "Rohr")]
