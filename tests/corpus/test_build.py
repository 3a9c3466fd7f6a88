import json

import pytest

from transduce.corpus import build as building
from transduce.corpus.store import Store
from transduce.errors import InputError

PAIRS = [("a dog", "ein Hund"), ("", "leer"), ("zwölf", "twelve"), ("x", "")]


def manifest_of(store):
    return json.loads((store.folder / "manifest.json").read_text(encoding="utf-8"))


def test_a_pair_of_just_the_longest_is_kept_and_one_piece_more_is_left_out(store_of):
    pairs = [("a" * 11, "b"), ("a" * 12, "b"), ("a", "b" * 11), ("a", "b" * 12), ("a", "ü" * 6)]
    store = store_of(pairs, max_length=12)
    assert store.source_lengths.tolist() == [12, 2]
    assert store.target_lengths.tolist() == [2, 12]
    assert manifest_of(store)["pairs"] == {
        "read": 5,
        "too_long": 3,
        "unknown_label": 0,
        "kept": 2,
    }


def test_the_manifest_says_what_the_store_was_made_from(store_of):
    store = store_of(PAIRS)
    manifest = manifest_of(store)
    assert manifest["inputs"] == {"source": "1a2b", "target": "3c4d"}
    assert manifest["data"]["max_length"] == 12
    assert manifest["pieces"] == {
        "source": store.source_lengths.sum(),
        "target": store.target_lengths.sum(),
    }
    assert set(manifest["versions"]) == {"transduce", "numpy", "tokenizers"}
    assert set(manifest["vocabularies"]) == {"source", "target"}


def test_only_too_long_pairs_are_refused_with_their_number(store_of, tmp_path):
    with pytest.raises(InputError) as error:
        store_of([("a" * 20, "b"), ("a", "b" * 20)])
    assert "nothing is left to train on: all 2 have more than 12 pieces" in str(error.value)
    assert "hint: raise data.max_length" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_no_pair_at_all_is_refused(store_of, tmp_path):
    with pytest.raises(InputError) as error:
        store_of([])
    assert "nothing is left to train on: none came in" in str(error.value)
    assert "hint: look at the input, and at what the cleaning left out" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_size_of_a_block_changes_nothing_that_is_stored(store_of, monkeypatch):
    pairs = PAIRS + [("a" * 20, "too long")] * 5 + PAIRS[::-1]
    whole = store_of(pairs, "whole")
    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 9)
    parts = store_of(pairs, "parts")
    for name in ("source.ids", "source.offsets", "target.ids", "target.offsets"):
        assert (whole.folder / name).read_bytes() == (parts.folder / name).read_bytes()
    assert manifest_of(whole)["pairs"] == manifest_of(parts)["pairs"]


def test_progress_counts_the_pairs_read_up_to_the_last(store_of, monkeypatch):
    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 9)
    counts: list[int] = []
    store_of(PAIRS, progress=counts.append)
    assert counts == [1, 3, 4]


def test_lines_are_taken_a_block_at_a_time_even_empty_ones(monkeypatch):
    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 99)
    lines = iter([("", "")] * 1_000)
    assert len(next(building.group_into_blocks(lines))) == 100
    assert len(list(lines)) == 900


def test_an_interruption_leaves_nothing_and_the_same_again_starts_anew(
    store_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 9)

    def interrupted():
        yield from PAIRS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_of(interrupted())
    assert list(tmp_path.iterdir()) == []
    assert len(store_of(PAIRS)) == len(PAIRS)


def test_a_store_that_stands_is_refused_before_a_line_is_read(store_of):
    stands = store_of(PAIRS)
    unread = iter(PAIRS)
    with pytest.raises(InputError, match="exists already"):
        store_of(unread)
    assert next(unread) == PAIRS[0]
    assert Store.open(stands.folder).fingerprint == stands.fingerprint


def test_the_cleaning_is_asked_after_the_last_pair(store_of):
    """Its report is complete only then."""
    cleaned = []

    def cleaning():
        for pair in PAIRS:
            cleaned.append(pair)
            yield pair

    store = store_of(cleaning(), cleaning=lambda: {"kept": len(cleaned)})
    assert manifest_of(store)["cleaning"] == {"kept": 4}
