"""Preparations that are interrupted, and texts that change meanwhile: what stays of them."""

import dataclasses

import pytest
from tests.runs.corpora import TOY

from transduce.corpus import build as building
from transduce.errors import InputError
from transduce.runs.prepared_corpus import prepare_corpus
from transduce.runs.texts import FilePair, InMemoryPairs

LINES = [f"a dog sees {number} cats" for number in range(60)]


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_text_that_changes_while_it_is_read_is_noticed_at_the_end(tmp_path, side):
    for name in ("source", "target"):
        text = "".join(f"{line} {name}\n" for line in LINES)
        (tmp_path / name).write_text(text, encoding="utf-8")
    pair = FilePair(tmp_path / "source", tmp_path / "target")
    reported: list[str] = []

    def append(what, _):
        if what == "encoding train" and not reported:
            reported.append(what)
            with (tmp_path / side).open("a", encoding="utf-8") as file:
                file.write("one more\n")

    with pytest.raises(InputError, match="the text changed while it was read: train"):
        prepare_corpus(tmp_path / "store", TOY.data, pair, None, append)
    assert [path.name for path in (tmp_path / "store").iterdir()] == []


def interrupt_while_encoding(folder, monkeypatch):
    """Prepare a text up to Ctrl-C in its encoding, after segments were saved."""
    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 100)
    monkeypatch.setattr(building, "SEGMENT_TOKENS", 200)
    pairs = InMemoryPairs(tuple((line, line.upper()) for line in LINES))

    def stop(what, read):
        if what == "encoding train" and read >= 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_corpus(folder, TOY.data, pairs, None, stop)
    assert any((folder / "train.segments").iterdir())
    return pairs


@pytest.mark.parametrize("max_length", [TOY.data.max_length, TOY.data.max_length - 1])
def test_no_segments_stay_after_a_second_preparation(tmp_path, monkeypatch, max_length):
    pairs = interrupt_while_encoding(tmp_path / "cut", monkeypatch)
    data = dataclasses.replace(TOY.data, max_length=max_length)
    prepared = prepare_corpus(tmp_path / "cut", data, pairs, None, lambda *_: None)
    whole = prepare_corpus(tmp_path / "whole", data, pairs, None, lambda *_: None)
    assert prepared.train.fingerprint == whole.train.fingerprint
    assert {path.name for path in prepared.folder.iterdir()} == {
        path.name for path in whole.folder.iterdir()
    }
