"""Tensors to bytes and back."""

import io
import json
import math
import warnings
from pathlib import Path

import pytest
import torch

from transduce.checkpoint.weights import (
    find_first_not_finite,
    read_tensors,
    require_finite,
    require_matching_tensors,
    to_bytes,
)
from transduce.durable.folder import HashingReader
from transduce.errors import FolderError, NotFiniteError

FILE = Path("some/model.safetensors")


def from_bytes(data, file, count=None):
    return read_tensors(HashingReader(io.BytesIO(data), len(data)), file, count)


def test_a_file_that_ends_while_it_is_read_is_refused():
    data = to_bytes({"matrix": torch.ones(300, 5)})
    with pytest.raises(FolderError, match=r"some/model\.safetensors: was cut while it was read"):
        read_tensors(HashingReader(io.BytesIO(data[:-4]), len(data)), FILE)


def refused(data):
    with pytest.raises(FolderError) as error:
        from_bytes(data, FILE)
    assert error.value.fact.startswith("some/model.safetensors: ")
    assert error.value.hint
    return error.value.fact


def file_of(header, data=b""):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_every_bit_comes_back():
    weights = {
        "matrix": torch.randn(3, 5),
        "turned": torch.randn(4, 6).T,
        "number": torch.tensor(2.5),
        "none": torch.zeros(0, 3),
        "half": torch.randn(7).bfloat16(),
        "double": torch.randn(7, dtype=torch.float64),
        "odd": torch.tensor([-0.0, 1e-45, 3.4e38]),
    }
    found = from_bytes(to_bytes(weights), FILE)
    assert found.keys() == weights.keys()
    for name, tensor in weights.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        bits = (torch.signbit(found[name]), torch.signbit(tensor))
        assert torch.equal(found[name], tensor)
        assert torch.equal(*bits)


def test_the_same_weights_give_the_same_bytes_in_any_order():
    weights = {name: torch.randn(3) for name in "cab"}
    assert to_bytes(weights) == to_bytes(dict(sorted(weights.items())))


def test_what_was_read_can_be_trained():
    found = from_bytes(to_bytes({"w": torch.ones(3)}), FILE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found["w"] += 1
    assert found["w"].tolist() == [2, 2, 2]


def test_a_file_that_is_cut_is_refused_everywhere():
    data = to_bytes({"w": torch.ones(3), "v": torch.ones(2, 2)})
    for size in range(len(data)):
        refused(data[:size])


def test_a_large_header_is_refused_before_it_is_parsed():
    data = (2_000_000).to_bytes(8, "little") + b"x" * 2_000_000
    assert "has a header of 2,000,000 bytes, and 1,048,576 are the limit" in refused(data)


def test_a_header_longer_than_the_file_is_refused():
    assert "its header is cut" in refused(b"\xff" * 8 + b"{}")


def test_too_many_tensors_are_refused():
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    data = file_of({f"{n:x}": entry for n in range(10_001)})
    assert "has 10,001 tensors, and 10,000 are the limit" in refused(data)


def test_a_tensor_named_twice_is_refused():
    text = to_bytes({"w": torch.ones(1), "v": torch.ones(1)})
    assert "key 'w' stands twice" in refused(text.replace(b'"v"', b'"w"'))


@pytest.mark.parametrize("kind", ["F8_E4M3", "C64", "BOOL", "F31", "", 3, None, ["F32"]])
def test_a_kind_of_number_that_no_model_has_is_refused(kind):
    data = file_of({"w": {"dtype": kind, "shape": [1], "data_offsets": [0, 8]}}, bytes(8))
    assert "tensor 'w' is of no kind we know" in refused(data)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 4]},
        {"dtype": "F32"},
    ],
)
def test_sizes_that_lie_are_refused(entry):
    assert "is no safetensors file: " in refused(file_of({"w": entry}, bytes(4)))


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(number):
    weights = {"good": torch.ones(3), "bad": torch.tensor([1.0, number])}
    assert find_first_not_finite(weights) == "bad"
    assert "tensor 'bad' holds numbers that are not finite" in refused(to_bytes(weights))
    with pytest.raises(NotFiniteError) as error:
        require_finite(weights, "step 12")
    message = "step 12: bad holds numbers that are not finite, so nothing is saved"
    assert error.value.fact == message
    assert error.value.exit_code == 5


def test_weights_that_match_are_given_back():
    weights = {"w": torch.ones(2, 3)}
    assert require_matching_tensors(weights, {"w": torch.zeros(2, 3)}) is weights


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"w": (3, 2)}, "tensor 'w' has shape (2, 3), and the model has (3, 2)"),
        ({"w": (2, 3), "v": (1,)}, "tensor 'v' is missing"),
        ({}, "tensor 'w' belongs to no such model"),
    ],
)
def test_weights_of_another_model_are_refused_by_name(expected, message):
    tensors = {name: torch.zeros(shape) for name, shape in expected.items()}
    with pytest.raises(FolderError) as error:
        require_matching_tensors({"w": torch.ones(2, 3)}, tensors, file=FILE)
    assert error.value.fact == f"some/model.safetensors: {message}"


def test_doubles_that_float32_cannot_hold_and_whole_numbers_are_refused():
    assert "'w' holds numbers that are not finite" in refused(
        to_bytes({"w": torch.tensor([1e39], dtype=torch.float64)})
    )
    assert "'w' is of no kind we know" in refused(to_bytes({"w": torch.tensor([3])}))


def test_the_name_of_a_tensor_is_cut():
    assert len(refused(to_bytes({"w" * 100_000: torch.tensor([math.nan])}))) < 300
