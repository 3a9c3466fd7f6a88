import faulthandler
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from transduce.corpus.store import Store, build_provenance, id_type, parse_data_facts
from transduce.durable.folder import atomic_folder, open_folder
from transduce.errors import FolderError
from transduce.settings import Data
from transduce.vocabulary import END
from transduce.vocabulary.learn import learn_vocabulary

PAIRS = [("a dog", "ein Hund"), ("", "leer"), ("two äpfel", "zwei Äpfel"), ("x", "")]
FILES = ("source.ids", "source.offsets", "target.ids", "target.offsets")


def ids_of(line):
    """By definition: an id is a byte and two, and END closes the line."""
    return [2 + byte for byte in line.encode()] + [END]


def with_manifest(store, change):
    """The same files under a manifest that says something else, and is whole."""
    verified = open_folder(store.folder, "store")
    about = json.loads(json.dumps(verified.about))
    change(about)
    other = store.folder.with_name("other")
    with atomic_folder(other, kind="store", about=about) as writer:
        for name in FILES:
            writer.write(name, verified.read(name))
    return other


def test_what_goes_in_comes_out_with_its_end(store_of):
    store = Store.open(store_of(PAIRS).folder)
    assert len(store) == 4
    for number, (source, target) in enumerate(PAIRS):
        found = [side.tolist() for side in store.pair(number)]
        assert found == [ids_of(source), ids_of(target)]


def test_an_empty_line_is_one_piece_long(store_of):
    store = store_of(PAIRS)
    assert store.source_lengths.tolist() == [6, 1, 11, 2]
    assert store.target_lengths.tolist() == [9, 5, 12, 1]


def test_gathering_many_sentences_is_gathering_each(store_of):
    store = store_of(PAIRS)
    numbers = np.array([2, 0, 0, 3, 1])
    one_by_one = [store.pair(number)[0] for number in numbers.tolist()]
    np.testing.assert_array_equal(store.source.gather(numbers), np.concatenate(one_by_one))
    assert len(store.source.gather(numbers[:0])) == 0


def test_no_file_of_a_store_is_mapped_as_a_cut_would_end_its_reader_by_a_signal(store_of):
    store = store_of(PAIRS * 3_000)
    store.pair(11_999)
    assert str(store.folder) not in Path("/proc/self/maps").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("symbols", "bytes_each"), [(1, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)]
)
def test_an_id_is_as_wide_as_the_vocabulary_needs(symbols, bytes_each):
    assert id_type(symbols).itemsize == bytes_each


def test_258_symbols_take_two_bytes_each_on_the_disk(store_of):
    store = store_of(PAIRS)
    ids = (store.folder / "source.ids").read_bytes()
    assert ids == np.array([i for s, _ in PAIRS for i in ids_of(s)], "<u2").tobytes()


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_is_named_with_both_sizes(store_of, name):
    store = store_of(PAIRS)
    file = store.folder / name
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:-2])
    with pytest.raises(FolderError) as error:
        Store.open(store.folder)
    assert f"{file}: is not as it was written: expected {size} bytes" in str(error.value)
    assert f"found {size - 2}" in str(error.value)


@pytest.mark.parametrize("name", FILES)
def test_an_edited_byte_is_noticed(store_of, name):
    store = store_of(PAIRS)
    file = store.folder / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(FolderError) as error:
        Store.open(store.folder)
    assert f"{file}: is not as it was written: expected sha256" in str(error.value)


def test_a_folder_of_another_kind_is_refused(tmp_path):
    with pytest.raises(FolderError, match="is no store folder"):
        Store.open(tmp_path)


def test_an_edited_manifest_is_noticed(store_of):
    store = store_of(PAIRS)
    file = store.folder / "manifest.json"
    file.write_text(file.read_text(encoding="utf-8").replace("1a2b", "ffff"), encoding="utf-8")
    with pytest.raises(FolderError, match=r"manifest\.json: is not as it was written"):
        Store.open(store.folder)


def test_a_manifest_with_another_number_of_pairs_is_refused(store_of):
    store = store_of(PAIRS)
    other = with_manifest(store, lambda values: values["pairs"].update(kept=3))
    with pytest.raises(FolderError) as error:
        Store.open(other)
    assert "source.offsets: expected 4 offsets, found 5" in str(error.value)
    assert "hint: the store is damaged or was edited: delete it" in str(error.value)


def test_a_manifest_with_another_vocabulary_size_is_refused(store_of):
    store = store_of(PAIRS)
    other = with_manifest(store, lambda values: values["symbols"].update(source=256))
    with pytest.raises(FolderError) as error:
        Store.open(other)
    assert "source.offsets: expected 40 ids, found 20" in str(error.value)


@pytest.mark.parametrize("entry", ["symbols", "pairs"])
def test_a_manifest_without_its_counts_is_refused(store_of, entry):
    store = store_of(PAIRS)
    other = with_manifest(store, lambda values: values.pop(entry))
    with pytest.raises(FolderError, match="no usable counts of symbols and pairs"):
        Store.open(other)


def count_cleaned():
    """The account of a cleaning that dropped two of nine pairs."""
    return {"read": 9, "dropped": {"empty": {"count": 2, "samples": []}}}


def facts_with(store, unknown):
    """The facts of a store, whose manifest counts pairs with a label that training lacks."""
    other = with_manifest(store, lambda values: values["pairs"].update(unknown_label=unknown))
    return parse_data_facts(Store.open(other).about, other)


def test_pairs_with_a_label_that_training_lacks_are_counted_among_those_left_out(store_of):
    store = store_of(PAIRS, cleaning=count_cleaned)
    facts = facts_with(store, 3)
    assert facts.read - sum(facts.left_out.values()) == len(store)
    without = parse_data_facts(store.about, store.folder)
    assert (without.left_out.items() < facts.left_out.items(), without.read) == (True, facts.read)


@pytest.mark.parametrize("unknown", [-1, 8, "3", True, 1.0])
def test_an_impossible_count_of_unknown_labels_is_refused(store_of, unknown):
    store = store_of(PAIRS, cleaning=count_cleaned)
    with pytest.raises(FolderError, match="no usable account of its pairs"):
        facts_with(store, unknown)


def origin_of(**changes):
    """What `store_of` makes a store from, or what it would be after changes."""
    vocabulary = changes.pop("vocabulary", learn_vocabulary(["a line"], 258))
    inputs = changes.pop("inputs", {"source": "1a2b", "target": "3c4d"})
    settings = {"vocabulary_size": 258, "max_length": 12, "source_tokens": 40, "target_tokens": 40}
    return build_provenance(inputs, (vocabulary, vocabulary), Data(**(settings | changes)))


def test_a_store_made_from_the_same_is_fresh(store_of):
    store = store_of(PAIRS)
    store.require_provenance(origin_of())


def test_the_size_of_an_update_does_not_make_a_store_stale(store_of):
    store = store_of(PAIRS)
    store.require_provenance(origin_of(source_tokens=99, target_tokens=98))


def test_a_store_made_with_another_setting_is_stale(store_of):
    store = store_of(PAIRS)
    with pytest.raises(FolderError) as error:
        store.require_provenance(origin_of(max_length_ratio=3.0))
    assert (
        "manifest.json: the store is stale: data.max_length_ratio: expected 3.0, found 9.0"
        in str(error.value)
    )
    assert "hint: delete the store and prepare it again" in str(error.value)


def test_a_store_made_from_another_file_is_stale(store_of):
    store = store_of(PAIRS)
    with pytest.raises(FolderError, match=r"inputs\.target: expected 'ffff', found '3c4d'"):
        store.require_provenance(origin_of(inputs={"source": "1a2b", "target": "ffff"}))


def test_a_store_made_from_one_more_file_is_stale(store_of):
    store = store_of(PAIRS)
    with pytest.raises(FolderError, match=r"inputs\.target: expected None, found '3c4d'"):
        store.require_provenance(origin_of(inputs={"source": "1a2b"}))


def test_a_store_made_with_another_vocabulary_is_stale(store_of):
    store = store_of(PAIRS)
    other = learn_vocabulary(["other other other"], 259)
    with pytest.raises(FolderError, match=f"vocabularies.source: expected '{other.hash}', found"):
        store.require_provenance(origin_of(vocabulary=other))


def test_the_fingerprint_tells_the_content_whatever_made_it(store_of):
    one, same = store_of(PAIRS), store_of(PAIRS, "same", max_length_ratio=3.0)
    turned = store_of(PAIRS[::-1], "turned")
    assert one.fingerprint == same.fingerprint == Store.open(one.folder).fingerprint
    assert turned.fingerprint != one.fingerprint


def test_the_fingerprint_tells_the_vocabulary(store_of):
    store = store_of(PAIRS)
    other = with_manifest(store, lambda values: values["vocabularies"].update(target="other"))
    assert Store.open(other).fingerprint != store.fingerprint


def resealed(store, **changes):
    """The same store, its checksums right, with other numbers in some files."""
    verified = open_folder(store.folder, "store")
    other = store.folder.with_name("resealed")
    with atomic_folder(other, kind="store", about=verified.about) as writer:
        for name in FILES:
            kind = "<u2" if name.endswith("ids") else "<u8"
            values = np.frombuffer(verified.read(name), kind).copy()
            changes.get(name, lambda _: None)(values)
            writer.write(name, values.tobytes())
    return other


def set_value(index, value):
    return lambda values: values.__setitem__(index, value)


@pytest.mark.parametrize(
    ("name", "change", "fact"),
    [
        ("source.ids", set_value(0, 258), "source.ids: expected ids below 258, found 258"),
        ("target.ids", set_value(3, 65_535), "target.ids: expected ids below 258, found 65,535"),
        ("source.ids", set_value(-1, 7), "source.ids: expected 0 at the end of every sentence"),
        ("source.ids", set_value(0, 0), "source.ids: expected 0 only there, and no 1"),
        ("target.ids", set_value(0, 1), "target.ids: expected 0 only there, and no 1"),
        ("source.offsets", set_value(0, 1), "source.offsets: expected offsets that rise from 0"),
        ("target.offsets", set_value(1, 2**63), "expected offsets that rise from 0"),
        ("target.offsets", set_value(2, 9), "expected offsets that rise from 0"),
    ],
)
def test_resealed_ids_beyond_the_vocabulary_and_broken_offsets_are_refused(
    store_of, name, change, fact
):
    other = resealed(store_of(PAIRS), **{name: change})
    with pytest.raises(FolderError, match=fact):
        Store.open(other)


@pytest.mark.parametrize("size", [0, -5, 2**40])
def test_a_manifest_with_an_impossible_vocabulary_is_refused(store_of, size):
    other = with_manifest(store_of(PAIRS), lambda values: values["symbols"].update(source=size))
    with pytest.raises(FolderError, match="no usable counts of symbols and pairs"):
        Store.open(other)


@pytest.mark.parametrize("text", [b"a\tb\n", 3 * b"a\tb\n" + b"no tab\n", 4 * b"a\tb\tc\n"])
def test_resealed_texts_that_are_no_pairs_are_refused(store_of, text):
    store = store_of(PAIRS, keeps_texts=True)
    verified = open_folder(store.folder, "store")
    with atomic_folder(store.folder.with_name("o"), kind="store", about=verified.about) as writer:
        for name in FILES:
            writer.write(name, verified.read(name))
        writer.write("pairs.tsv", text)
    with pytest.raises(FolderError, match=r"pairs\.tsv: expected "):
        Store.open(store.folder.with_name("o")).read_texts()


@pytest.mark.parametrize("name", FILES[::2])
def test_ids_that_are_cut_while_they_are_read_are_a_sentence_and_no_signal(store_of, name):
    store = store_of(PAIRS * 3_000)
    os.truncate(store.folder / name, 8)
    with pytest.raises(FolderError, match=f"{name}: was cut while it was used"):
        store.pair(11_999)


def test_offsets_that_are_cut_later_change_nothing(store_of):
    store = store_of(PAIRS)
    os.truncate(store.folder / "source.offsets", 8)
    assert store.pair(0)[0].tolist() == ids_of("a dog")


def test_the_control_that_maps_the_file_is_killed(store_of, record):
    store = store_of(PAIRS * 3_000)
    mapped = np.memmap(store.folder / FILES[0], np.uint16, "r")
    os.truncate(store.folder / FILES[0], 8)
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        with suppress(BaseException):
            mapped.sum()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    record(exit_code=code)
    assert code == -signal.SIGBUS
