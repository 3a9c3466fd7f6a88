"""Header and blocks of a page: what they hold, how exactly, and in how many bytes."""

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from tests.view.attention.samples import make_view

from transduce.errors import InputError
from transduce.view.attention.page import (
    WeightEncoding,
    build_levels,
    encode_view,
)


def read_block(encoded, kind: str, layer: int, dtype="u1"):
    """Return the numbers of one block as a page finds them, from the description of the format."""
    found = next(one for one in encoded[0]["kinds"] if one["kind"] == kind)
    start, length = found["blocks"][found["layers"].index(layer)]
    content = base64.b64decode(encoded[1][start : start + length], validate=True)
    if encoded[0]["compression"] == "zlib":
        content = zlib.decompress(content)
    return np.frombuffer(content, dtype).reshape(found["heads"], found["rows"], found["columns"])


def read_weights(encoded, kind: str, layer: int):
    """Return the weights of one block: the number of a step stands for the sum of those before."""
    numbers = read_block(encoded, kind, layer)
    return list_steps(numbers.shape[-1])[numbers]


def list_steps(keys):
    """Return the weight that each byte stands for, from the description of the format."""
    smallest, step = 0.02 / keys, np.zeros(256)
    for index in range(255):
        size = min(0.008, max(smallest, 0.08 * step[index]))
        step[index + 1] = min(1, step[index] + size)
    return step


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("compression", ["zlib", "none"])
def test_a_byte_holds_a_weight_with_an_error_of_at_most_four_thousandths(kind, compression):
    view = make_view()
    encoded = encode_view(view, WeightEncoding(compression=compression))
    for layer in (1, 4, 6):
        read = read_weights(encoded, kind, layer)
        assert np.abs(read - view.weights[kind][layer - 1]).max() <= 0.004


def test_small_weights_are_held_more_exactly():
    view = make_view()
    exact = view.weights["encoder"][0]
    read = read_weights(encode_view(view, WeightEncoding()), "encoder", 1)
    assert (np.abs(read - exact) <= np.maximum(0.0401 * exact, 0.01 / exact.shape[-1])).all()


@pytest.mark.parametrize(("number", "most"), [("step8", 0.004), ("float16", 0.0005)])
@pytest.mark.parametrize("keys", [2, 27, 512])
def test_no_weight_is_further_off_than_row_v15_allows(number, most, keys):
    """100,000 weights from 0 to 1 at equal distances, the worst of them among them."""
    weights = np.resize(np.linspace(0, 1, 100_001, dtype=np.float32), (1, 100_002 // keys, keys))
    block = WeightEncoding(numbers=number).encode_block(weights)
    content = zlib.decompress(base64.b64decode(block, validate=True))
    read = list_steps(keys)[[*content]] if number == "step8" else np.frombuffer(content, "<f2")
    assert np.abs(read.astype(np.float64) - weights.flatten()).max() <= most


@pytest.mark.parametrize("keys", [1, 27, 512, 100_000])
def test_a_byte_is_enough_for_the_steps_of_any_length(keys):
    steps = build_levels(keys)
    assert len(steps) <= 256
    assert (steps[0], steps[-1]) == (0, 1)
    assert np.diff(steps).max() <= 0.008001


def test_weights_of_nothing_and_of_all_are_held_exactly():
    view = make_view()
    weights = {"encoder": np.zeros_like(view.weights["encoder"])}
    weights["encoder"][..., 3] = 1
    read = read_weights(encode_view(replace(view, weights=weights), WeightEncoding()), "encoder", 2)
    assert (read == weights["encoder"][1]).all()


def test_the_exact_form_has_an_error_of_at_most_half_a_thousandth():
    view = make_view()
    encoded = encode_view(view, WeightEncoding(numbers="float16"))
    read = read_block(encoded, "cross", 6, "<f2").astype(np.float64)
    assert np.abs(read - view.weights["cross"][5]).max() <= 0.0005


def test_weights_below_the_minimum_are_written_as_zero_and_others_are_kept():
    view = make_view()
    read = read_block(encode_view(view, WeightEncoding(minimum=0.05)), "encoder", 2)
    assert ((read > 0) == (view.weights["encoder"][1] >= 0.05)).all()


def test_a_page_without_the_decoders_kinds_has_none_of_them():
    encoded = encode_view(make_view(kinds=["encoder"]), WeightEncoding())
    assert [one["kind"] for one in encoded[0]["kinds"]] == ["encoder"]


def test_begin_and_end_are_the_marks():
    header = encode_view(make_view(["a", "</s>", "b"], ["c"]), WeightEncoding())[0]
    assert header["source"]["marks"] == [3]
    assert header["input"]["marks"] == [0]
    assert header["output"]["marks"] == [1]


def test_the_header_is_json_and_equal_views_give_equal_headers():
    first, second = (encode_view(make_view(), WeightEncoding()) for _ in range(2))
    assert json.dumps(first[0]) == json.dumps(second[0])
    assert first[1] == second[1]


def test_probabilities_have_four_digits():
    header = encode_view(make_view(), WeightEncoding())[0]
    assert header["steps"][0]["alternatives"] == [["Das", 0.7], ["other", 0.1235]]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"numbers": "float8"}, "unknown numbers 'float8'"),
        ({"compression": "gzip"}, "unknown compression 'gzip'"),
        ({"minimum": 1.0}, r"the smallest weight that is written is 1.0, not in \[0, 1\)"),
    ],
)
def test_an_encoding_that_no_page_reads_is_refused(named, message):
    with pytest.raises(InputError, match=message):
        WeightEncoding(**named)
