"""A saved record has everything, in files that other programs read."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import safetensors.numpy
from tests.inference.random_models import random_translator

from transduce.errors import InputError
from transduce.view.attention.attend import record_attention
from transduce.view.attention.record import save_record


@pytest.fixture(scope="module")
def view():
    return record_attention(random_translator(), "the dog sees a cat.")


def test_all_of_a_record_is_saved(view, tmp_path):
    save_record(view, tmp_path / "record")
    values = json.loads((tmp_path / "record/record.json").read_bytes())
    own = asdict(replace(view, weights={}))
    del own["weights"]
    assert values == json.loads(json.dumps(own))
    tensors = safetensors.numpy.load_file(tmp_path / "record/weights.safetensors")
    assert set(tensors) == set(view.weights)
    for kind, weights in view.weights.items():
        assert np.array_equal(tensors[kind], weights)


def test_the_same_record_gives_the_same_bytes(view, tmp_path):
    for name in ("one", "two"):
        save_record(view, tmp_path / name)
    files = ("manifest.json", "record.json", "weights.safetensors")
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_folder_that_exists_is_not_overwritten(view, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        save_record(view, tmp_path)
