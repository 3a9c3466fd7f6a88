"""What holds for any text at all."""

import tempfile
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from transduce.settings import Data
from transduce.text.clean import Cleaner, normalise
from transduce.text.files import read_lines
from transduce.text.sentences import split_clauses, split_sentences

anything = st.text(st.characters())
odd = st.text(st.sampled_from('aÄ.?!…"»()1 \t\r\u2028\u0301\u0316\u0344\u200d\u1100\u1161\ud800'))
lines = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))


@given(anything | odd)
def test_regular_text_stays_as_it_is(text):
    regular = normalise(text)
    assert normalise(regular) == regular
    assert unicodedata.is_normalized("NFC", regular)
    assert regular == " ".join(regular.split())


@given(st.lists(st.sampled_from(["a", "\u0344" * 20, "\u0316" * 29, "\u0301" * 31, "\u1100"])))
def test_storms_become_regular_at_once(parts):
    regular = normalise("".join(parts))
    assert normalise(regular) == regular
    assert unicodedata.is_normalized("NFC", regular)


@given(anything | odd | st.text(st.sampled_from("a ,;:-–()[].")))
def test_sentences_and_clauses_joined_are_the_text(text):
    regular = normalise(text)
    for parts in (split_sentences(regular), split_clauses(regular)):
        assert " ".join(parts) == regular
        assert all(parts)


@given(lines)
def test_lines_written_are_lines_read(written):
    written = [line.replace("\0", "").removesuffix("\r") for line in written]
    if written:
        written[0] = written[0].removeprefix("\ufeff")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lines")
        path.write_bytes("".join(f"{line}\n" for line in written).encode())
        assert list(read_lines(path)) == written


@given(st.lists(st.tuples(odd, odd)))
def test_every_pair_read_is_kept_or_counted(pairs):
    cleaner = Cleaner(Data())
    kept = list(cleaner.clean(pairs))
    report = cleaner.report
    assert report.read == len(pairs)
    assert report.kept == len(kept) == len(set(kept))
    assert report.read == report.kept + sum(part.count for part in report.dropped.values())
