"""An interrupted build of a store goes on after the segments that it saved."""

import json
import os
import resource

import numpy as np
import pytest

from transduce.corpus import build as building
from transduce.corpus.segment import SavedSegments, encode_block, open_segment, segments_folder
from transduce.durable.folder import open_folder
from transduce.durable.json import add_checksum
from transduce.errors import FolderError

PAIRS = [(f"source {number}", f"target {number}") for number in range(50)]
FILES = ("source.ids", "source.offsets", "target.ids", "target.offsets", "pairs.tsv")


@pytest.fixture(autouse=True)
def encoded(monkeypatch):
    """Blocks of two pairs, segments of two blocks; the pairs that were encoded, as a list."""
    lines = []

    def encode_and_note(block, *rest, **more):
        lines.extend(block)
        return encode_block(block, *rest, **more)

    monkeypatch.setattr(building, "BLOCK_CHARACTERS", 20)
    monkeypatch.setattr(building, "SEGMENT_TOKENS", 60)
    monkeypatch.setattr(building, "encode_block", encode_and_note)
    return lines


def build_until(store_of, last, **options):
    """Build a store `cut` whose progress ends it with Ctrl-C after `last` pairs."""

    def stop(read):
        if read >= last:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_of(PAIRS, "cut", progress=stop, keeps_texts=True, **options)


def contents(store):
    return [(store.folder / name).read_bytes() for name in FILES], store.about


def test_the_second_call_encodes_only_pairs_after_the_last_saved_segment(store_of, encoded):
    whole = store_of(PAIRS, "whole", keeps_texts=True)
    build_until(store_of, 31)
    encoded.clear()
    assert contents(store_of(PAIRS, "cut", keeps_texts=True)) == contents(whole)
    assert encoded == PAIRS[28:]


def test_a_corpus_of_many_segments_needs_few_open_files(store_of):
    build_until(store_of, 49)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208 - of open files, not of paths
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 10, before[1]))
    try:
        assert len(store_of(PAIRS, "cut", keeps_texts=True)) == 50
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("name", ["source.ids", "target.lengths", "pairs.tsv", "manifest.json"])
def test_a_damaged_segment_and_those_after_it_are_encoded_again(store_of, encoded, name):
    whole = store_of(PAIRS, "whole", keeps_texts=True)
    build_until(store_of, 31)
    file = segments_folder(whole.folder.with_name("cut")) / "00000003" / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    encoded.clear()
    assert contents(store_of(PAIRS, "cut", keeps_texts=True)) == contents(whole)
    assert encoded == PAIRS[12:]


def test_segments_of_a_store_of_other_settings_are_not_used(store_of, encoded):
    build_until(store_of, 31, max_length=11)
    encoded.clear()
    assert len(store_of(PAIRS, "cut", keeps_texts=True)) == len(PAIRS)
    assert encoded == PAIRS


def test_progress_counts_the_pairs_of_saved_segments_too(store_of):
    build_until(store_of, 31)
    counts: list[int] = []
    store_of(PAIRS, "cut", progress=counts.append, keeps_texts=True)
    assert counts == [*range(4, 30, 4), *range(30, 51, 2)]


def test_a_segment_whose_counts_do_not_add_up_is_encoded_again(store_of, encoded):
    whole = store_of(PAIRS, "whole", keeps_texts=True)
    build_until(store_of, 31)
    manifest = segments_folder(whole.folder.with_name("cut")) / "00000001" / "manifest.json"
    values = json.loads(manifest.read_text())
    del values["sha256"]
    values["pairs"]["read"] += 10
    manifest.write_bytes(add_checksum(values))
    encoded.clear()
    assert contents(store_of(PAIRS, "cut", keeps_texts=True)) == contents(whole)
    assert encoded == PAIRS[4:]


def test_a_text_of_less_than_a_segment_saves_none(store_of):
    store = store_of(PAIRS[:3], "small")
    assert not segments_folder(store.folder).exists()


def test_the_hint_for_a_segment_speaks_of_no_store(store_of, tmp_path):
    build_until(store_of, 31)
    other = SavedSegments(tmp_path / "cut", "another origin", (258, 258))
    with pytest.raises(FolderError, match=r"a saved segment is .* the same command again"):
        other.open_one(0)
    folder = segments_folder(tmp_path / "cut") / "00000000"
    segment = open_segment(open_folder(folder, "segment"), (258, 258))
    (folder / "source.ids").write_bytes(b"")
    with pytest.raises(
        FolderError, match=r"expected ids of 2 bytes, found 0\nhint: a saved segment"
    ):
        np.asarray(segment.source.ids)
