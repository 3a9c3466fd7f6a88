"""A saved record is the same after reading, and damage is found."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import safetensors.numpy
from tests.inference.random_models import random_translator

from transduce.durable.folder import atomic_folder
from transduce.errors import FolderError, InputError
from transduce.view.attention.record import load_record, save_record
from transduce.view.attention.recorder import record_attention


@pytest.fixture(scope="module")
def view():
    return record_attention(random_translator(), "the dog sees a cat.")


def test_what_was_saved_is_read_again(view, tmp_path):
    save_record(view, tmp_path / "record")
    found = load_record(tmp_path / "record")
    assert asdict(replace(found, weights={})) == asdict(replace(view, weights={}))
    assert set(found.weights) == set(view.weights)
    for kind, weights in view.weights.items():
        assert np.array_equal(found.weights[kind], weights)


def test_weights_can_be_read_by_the_safetensors_library_alone(view, tmp_path):
    save_record(view, tmp_path / "record")
    tensors = safetensors.numpy.load_file(tmp_path / "record/weights.safetensors")
    assert np.array_equal(tensors["cross"][0, 1], view.head("cross", 1, 2))


def test_the_same_record_gives_the_same_bytes(view, tmp_path):
    for name in ("one", "two"):
        save_record(view, tmp_path / name)
    files = ("manifest.json", "record.json", "weights.safetensors")
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_folder_that_exists_is_not_overwritten(view, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        save_record(view, tmp_path)


def test_a_changed_byte_is_found(view, tmp_path):
    save_record(view, tmp_path / "record")
    path = tmp_path / "record/weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(FolderError, match="is not as it was written"):
        load_record(tmp_path / "record")


def test_a_record_without_its_parts_is_refused(tmp_path):
    with atomic_folder(tmp_path / "record", kind="attention", about={}) as writer:
        writer.write("record.json", b'{"model": {}}')
        writer.write("weights.safetensors", safetensors.numpy.save({}))
    with pytest.raises(FolderError, match="is no attention record"):
        load_record(tmp_path / "record")
