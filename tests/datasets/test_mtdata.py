"""Corpora by the names of mtdata's index: every file format that it lists."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from transduce.datasets.fetch import fetch_corpus, find_split_files
from transduce.datasets.languages import SHORT_CODES
from transduce.datasets.mtdata import parse_corpus_name, read_entries, resolve_splits
from transduce.errors import InputError

DE, EN = b"Ein Hund.\nEine Katze.\n", b"A dog.\nA cat.\n"
TABBED = b"7\tEin Hund.\tA dog.\n8\tEine Katze.\tA cat.\n"
NAME = "Group-corpus-1-deu-eng"


def silent(*_):
    """Tell nobody."""


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Write an index of one corpus, and some that are near it."""
    monkeypatch.setenv("MTDATA", str(tmp_path / "mtdata"))
    (tmp_path / "mtdata").mkdir()

    def write(**entry):
        lines = [{"did": NAME, "filename": "a", **entry}]
        lines += [lines[0] | {"did": f"Group-other-1-{pair}"} for pair in ("deu-eng", "fra-eng")]
        path = tmp_path / "mtdata/mtdata.index.0.5.1.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def packed(members):
    """An archive, with a folder that is called by its version."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"data-1.7/{name}", content)
    return stream.getvalue()


def unit(**texts):
    """A unit of a translation memory."""
    variants = [
        f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>' for language, text in texts.items()
    ]
    return f"<tu>{''.join(variants)}</tu>"


def memory(*units):
    """A whole one."""
    start = '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4">'
    return f"{start}<header/><body>\n{chr(10).join(units)}\n</body></tmx>".encode()


MEMORY = memory(
    unit(
        DE="Ein <bpt i='1'>&lt;b&gt;</bpt><hi>Hund</hi><ept i='1'/>.",
        EN="A\n  dog.",
        FR="Un chien.",
    ),
    unit(FR="Rien.", EN="Nothing."),
    unit(DE="", EN="Something."),
    unit(DE="Eine Katze.", EN="A cat."),
)
SGM = [
    b"".join(b"<seg id='1'>" + line + b"</seg>\n" for line in side.splitlines())
    for side in (DE, EN)
]
KEPT: dict[str, tuple[dict[str, bytes], dict[str, Any]]] = {
    "two files": ({"a.de": DE, "a.en": EN}, {"ext": "txt"}),
    "two packed files": (
        {"a.de.xz": lzma.compress(DE), "a.en.xz": lzma.compress(EN)},
        {"ext": "txt.xz", "in_ext": "txt"},
    ),
    "a column of two files": (
        {"de.txt": b"1\tEin Hund.\n2\tEine Katze.\n", "en.txt": b"1\tA dog.\n2\tA cat.\n"},
        {"ext": "txt", "in_ext": "tsv", "cols": [1]},
    ),
    "two columns": ({"a.tsv": TABBED}, {"ext": "tsv", "cols": [1, 2]}),
    "the first two columns": (
        {"a.bz2": bz2.compress(b"Ein Hund.\tA dog.\t1\nEine Katze.\tA cat.\t1\n")},
        {"ext": "tsv.bz2"},
    ),
    "members": (
        {"a.zip": packed({"x.de": DE, "x.en": EN})},
        {"ext": "zip", "in_ext": "txt", "in_paths": ["*/x.de", "data-*/x.en"]},
    ),
    "members of an archive that its address does not show": (
        {"download/13": packed({"x.de": DE, "x.en": EN})},
        {"ext": "zip", "in_ext": "txt", "in_paths": ["*/x.de", "*/x.en"], "filename": "a.zip"},
    ),
    "sgm": (
        {"a.zip": packed({"x.de": SGM[0], "x.en": SGM[1]})},
        {"ext": "zip", "in_ext": "sgm", "in_paths": ["*/x.de", "*/x.en"]},
    ),
    "columns of several members": (
        {"a.zip": packed({"1": b"Ein Hund.\tA dog.\n", "2": b"Eine Katze.\tA cat.\n"})},
        {"ext": "zip", "in_ext": "tsv", "in_paths": ["*/1", "*/2"], "cols": [0, 1]},
    ),
    "a translation memory": ({"a.tmx.gz": gzip.compress(MEMORY)}, {"ext": "tmx.gz"}),
    "a translation memory in another encoding": (
        {"a.tmx": codecs.BOM_UTF16_BE + (MEMORY.decode() + "\n").encode("utf-16-be")},
        {"ext": "tmx"},
    ),
    "a translation memory in one line": (
        {"a.tmx": MEMORY.replace(b"\n", b" ")},
        {"ext": "tmx"},
    ),
}


@pytest.mark.parametrize("kept", KEPT)
def test_what_the_index_says_becomes_both_sides(kept, index, site, settings, tmp_path, monkeypatch):
    monkeypatch.setattr("transduce.text.files.MAX_LINE_BYTES", 100)
    files, entry = KEPT[kept]
    addresses = [site.put(name, content) for name, content in files.items()]
    index(url=addresses if len(addresses) > 1 else addresses[0], **entry)
    found = fetch_corpus(parse_corpus_name(f"mtdata/{NAME}"), tmp_path, settings, silent)
    assert (found.read("all.de"), found.read("all.en")) == (DE, EN)
    part = found.about["splits"]["all"]["parts"][0]
    assert part["name"] == f"{NAME} of mtdata.index.0.5.1.jsonl"
    assert set(part["from"]) == set(addresses)


def test_it_serves_for_training_and_as_a_test_and_needs_the_index_no_more(
    index, site, settings, tmp_path
):
    path = index(url=site.put("a.tsv", TABBED), ext="tsv", cols=[1, 2])
    name, languages = f"mtdata/{NAME}", ("en", "de")
    with pytest.raises(InputError, match=f"hint: transduce fetch {name}"):
        find_split_files(name, "train", languages, tmp_path)
    fetch_corpus(parse_corpus_name(name), tmp_path, settings, silent)
    path.unlink()
    fetch_corpus(parse_corpus_name(name), tmp_path, replace(settings, network=None), silent)
    for split in ("train", "test"):
        texts = find_split_files(name, split, languages, tmp_path) or ()
        assert [text.read_bytes() for text in texts] == [EN, DE]
    assert find_split_files(name, "dev", languages, tmp_path) is None
    assert find_split_files(name, "tset", languages, tmp_path) is None
    with pytest.raises(InputError, match=f"{name} is de-en, not en-fr"):
        find_split_files(name, "train", ("en", "fr"), tmp_path)


def test_what_is_not_in_the_index_has_a_sentence(index, tmp_path):
    name = "mtdata/Group-korpus-1-deu-eng"
    (tmp_path / "mtdata").rmdir()
    with pytest.raises(InputError, match=r"index is not here: .*\nhint: `uvx mtdata index`"):
        resolve_splits(parse_corpus_name(name))
    (tmp_path / "mtdata").mkdir()
    path = index(url="http://host/a.xlsx", ext="xlsx")
    with pytest.raises(InputError) as caught:
        resolve_splits(parse_corpus_name(name))
    assert caught.value.fact == "mtdata.index.0.5.1.jsonl has no Group-korpus-1-deu-eng"
    assert f"mtdata/{NAME}" in caught.value.hint
    assert "fra-eng" not in caught.value.hint
    with pytest.raises(InputError, match="is kept as xlsx, which is not read here"):
        resolve_splits(parse_corpus_name(f"mtdata/{NAME}"))
    with path.open("a") as file:
        file.write('["-deu-eng"]\n')
    with pytest.raises(InputError, match=r"jsonl, line 4: is no line of mtdata's index"):
        resolve_splits(parse_corpus_name(name))


def test_a_name_of_one_language_twice_is_refused_before_anything_is_fetched():
    with pytest.raises(InputError, match="both sides of mtdata/OPUS-gnome-v1-cat-cat are ca"):
        parse_corpus_name("mtdata/OPUS-gnome-v1-cat-cat")


def test_an_index_that_names_one_file_for_both_sides_is_not_believed(index):
    index(url="http://host/a.zip", ext="zip", in_ext="txt", in_paths=["x.dev", "x.dev"])
    with pytest.raises(InputError, match=f"the same file for both sides of {NAME}"):
        resolve_splits(parse_corpus_name(f"mtdata/{NAME}"))


def test_variants_of_one_language_are_refused_in_a_memory_and_taken_from_columns(index):
    name = "Group-corpus-1-zho_Hans-zho_Hant"
    index(did=name, url="http://host/a.tmx", ext="tmx")
    with pytest.raises(InputError, match="has zh_Hans and zh_Hant, which a TMX file does not"):
        resolve_splits(parse_corpus_name(f"mtdata/{name}"))
    index(did=name, url="http://host/a.tsv", ext="tsv")
    assert resolve_splits(parse_corpus_name(f"mtdata/{name}")).parts


def test_two_files_of_a_folder_keep_their_own_names(index, tmp_path, settings):
    index(url=["http://host/train.de", "http://host/train.en"], ext="txt", filename="a.txt")
    for name, text in (("train.de", DE), ("train.en", EN)):
        (tmp_path / name).write_bytes(text)
    own = replace(settings, copies=tmp_path, network=None)
    found = fetch_corpus(parse_corpus_name(f"mtdata/{NAME}"), tmp_path, own, silent)
    assert (found.read("all.de"), found.read("all.en")) == (DE, EN)


def test_one_file_of_the_user_s_is_not_taken_for_both_sides(index, tmp_path, settings):
    index(url=["http://host/de/all.txt", "http://host/en/all.txt"], ext="txt")
    (tmp_path / "all.txt").write_bytes(DE)
    own = replace(settings, copies=tmp_path, network=None)
    with pytest.raises(InputError, match="two downloads have one name"):
        fetch_corpus(parse_corpus_name(f"mtdata/{NAME}"), tmp_path, own, silent)
    assert not (tmp_path / "mtdata" / NAME).exists()


def test_a_memory_of_other_languages_is_not_fetched_again_and_again(
    index, site, settings, tmp_path
):
    index(url=site.put("a.tmx", memory(unit(FR="Rien.", EN="Nothing."))), ext="tmx")
    for _ in range(2):
        with pytest.raises(InputError, match="hint: its languages may go by other names"):
            fetch_corpus(parse_corpus_name(f"mtdata/{NAME}"), tmp_path, settings, silent)
    assert len(site.asked) == 1


@pytest.mark.parametrize("name", ["mtdata/", "mtdata/Group-corpus-1-deu", "mtdata/a-b-c-d-e-f"])
def test_a_name_without_two_languages_is_refused(name):
    with pytest.raises(InputError, match="names no corpus of two languages"):
        parse_corpus_name(name)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (memory(unit(FR="Rien.", EN="Nothing.")), "no unit of it is in de and in en"),
        (MEMORY[:-20], "cannot be unpacked"),
        (b"", "is empty"),
        (b'<?xml version="1.0" encoding="gb2312"?><tmx/>', "cannot be unpacked"),
        (b'<?xml version="1.0" encoding="unicode"?><tmx/>', "cannot be unpacked"),
    ],
)
def test_a_translation_memory_that_cannot_serve_has_a_sentence(
    content, answer, index, site, settings, tmp_path
):
    index(url=site.put("a.tmx", content), ext="tmx")
    with pytest.raises(InputError, match=answer):
        fetch_corpus(parse_corpus_name(f"mtdata/{NAME}"), tmp_path, settings, silent)
    assert not (tmp_path / "mtdata" / NAME / "de-en").exists()


def test_languages_have_the_two_letters_of_the_standard():
    known = pytest.importorskip("mtdata.iso.iso639_1", reason="skipped: mtdata is not installed")
    assert {three: two for two, three in known.ISO693_1_to_3.items()} == SHORT_CODES


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("KECL-paracrawl-2-eng-jpn", ("en", "ja")),
        ("Flores-flores200_dev-1-srp_Cyrl-ast", ("sr_Cyrl", "ast")),
    ],
)
def test_a_name_says_its_languages(name, languages):
    assert parse_corpus_name(f"mtdata/{name}").languages == languages


@pytest.mark.parametrize(
    "name",
    [
        *("mtdata/../../x-a-b-deu-eng", "mtdata/..-a-b-deu-eng", "mtdata/a/b-c-d-deu-eng"),
        *("mtdata/a-b-c-deu-../../x", "mtdata/a-b-c-deu-eng\n", "mtdata/a-b-c-\x00-eng"),
        *("mtdata/" + "a" * 300 + "-b-c-deu-eng", "mtdata/a-b-c-deu-.", "mtdata//-b-c-deu-eng"),
    ],
)
def test_a_name_that_could_leave_the_cache_is_refused(name):
    with pytest.raises(InputError, match="names no corpus of two languages"):
        parse_corpus_name(name)


GOOD_LINE = {
    "did": "G-n-1-deu-eng",
    "url": "http://127.0.0.1/a.zip",
    "ext": "zip",
    "filename": "a.zip",
}


@pytest.mark.parametrize(
    "change",
    [
        *({"url": []}, {"url": 5}, {"url": [5, 6]}, {"url": None}, {"ext": None}, {"ext": 7}),
        *({"url": "http://x/y", "filename": "../../x"}, {"cols": ["a"]}, {"cols": [-1, 0]}),
        *({"in_paths": [5]}, {"in_paths": 5}, {"in_ext": 5}, {"url": "http://x/a\0.zip"}),
        *({"cols": [10**30, 0]}, {"did": 5}, {"did": ["x-deu-eng"]}),
    ],
)
def test_a_malformed_entry_of_the_index_has_a_sentence(tmp_path, change):
    file = tmp_path / "mtdata.index.0.jsonl"
    line = json.dumps(GOOD_LINE | change | {"pair": "x-deu-eng"})
    file.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="is no line of mtdata's index"):
        list(read_entries(file, "deu-eng"))


def test_an_index_line_of_deep_nesting_has_a_sentence(tmp_path):
    file = tmp_path / "mtdata.index.0.jsonl"
    file.write_text('{"pair": "x-deu-eng", "x": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="is no line of mtdata's index"):
        list(read_entries(file, "deu-eng"))
