"""What is written for CTranslate2, read by another reader, computes what the model computes."""

import json
import struct
from dataclasses import replace
from io import BytesIO
from itertools import count, takewhile

import numpy as np
import pytest
import torch
from tests.exports.plain_transformer import log_probs
from tests.exports.random_members import PIECES, WORDS, random_member, shapes

from transduce.durable.folder import atomic_folder
from transduce.exports.to_ctranslate2 import CTRANSLATE2
from transduce.packed import Packed

SOURCE, TARGET = [35, 40, 260, 7, 0], [50, 261, 9]
TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)


def read_model_file(data):
    """Read model.bin as CTranslate2's own reader does: 8, 16 and 32-bit fields, then bytes."""
    stream = BytesIO(data)

    def number(form):
        return struct.unpack(form, stream.read(struct.calcsize(form)))[0]

    def string():
        return stream.read(number("<H")).rstrip(b"\0").decode()

    head = (number("<I"), string(), number("<I"))
    found = {}
    for _ in range(number("<I")):
        name, sizes = string(), [number("<I") for _ in range(number("<B"))]
        kind, size = TYPES[number("<B")], number("<I")
        found[name] = np.frombuffer(stream.read(size), dtype=kind).reshape(sizes)
    for _ in range(number("<I")):
        name, original = string(), string()
        found[name] = found[original]
        if f"{original}_scale" in found:
            found[f"{name}_scale"] = found[f"{original}_scale"]
    assert stream.read() == b""
    return head, found


def write(member, folder, precision="float32"):
    with atomic_folder(folder, kind="export", about={}) as writer:
        CTRANSLATE2.write(member, writer, precision)
    return read_model_file((folder / "model.bin").read_bytes())


def rebuild(variables, epsilon):
    """Return the plain model of CTranslate2's variables."""

    def matrix(name):
        scale = variables.get(f"{name}/weight_scale")
        weight = variables[f"{name}/weight"].astype(np.float64)
        weight = weight if scale is None else weight / scale[:, None]
        return weight, variables.get(f"{name}/bias", np.zeros(len(weight)))

    def norm(name):
        found = variables.get(f"{name}/gamma"), variables.get(f"{name}/beta")
        return None if found[0] is None else found

    def split(name, parts):
        return list(zip(*(np.split(one, parts) for one in matrix(name)), strict=True))

    def layer(at):
        q, k, v = split(f"{at}/self_attention/linear_0", 3)
        own = {"q": q, "k": k, "v": v, "o": matrix(f"{at}/self_attention/linear_1")}
        found = {"self": own, "self_norm": norm(f"{at}/self_attention/layer_norm")}
        if f"{at}/attention/linear_0/weight" in variables:
            k, v = split(f"{at}/attention/linear_1", 2)
            q, o = matrix(f"{at}/attention/linear_0"), matrix(f"{at}/attention/linear_2")
            found |= {"cross": {"q": q, "k": k, "v": v, "o": o}}
            found |= {"cross_norm": norm(f"{at}/attention/layer_norm")}
        inner, outer = matrix(f"{at}/ffn/linear_0"), matrix(f"{at}/ffn/linear_1")
        return found | {"inner": inner, "outer": outer, "ff_norm": norm(f"{at}/ffn/layer_norm")}

    def stack(name, embedding):
        numbers = takewhile(lambda n: f"{name}/layer_{n}/ffn/linear_0/weight" in variables, count())
        return {
            "embedding": matrix(f"{name}/{embedding}")[0],
            "positions": variables[f"{name}/position_encodings/encodings"],
            "layers": [layer(f"{name}/layer_{number}") for number in numbers],
            "final_norm": norm(f"{name}/layer_norm"),
        }

    return {
        "encoder": stack("encoder", "embeddings_0"),
        "decoder": stack("decoder", "embeddings"),
        "projection": matrix("decoder/projection"),
        "heads": int(variables["encoder/num_heads"]),
        "pre_norm": bool(variables["decoder/pre_norm"]),
        "epsilon": epsilon,
        "activation": {0: "relu", 2: "swish"}[int(variables["encoder/activation"])],
    }


def our_log_probs(member):
    with torch.no_grad():
        memory = member.transformer.encode(Packed.from_sentences([SOURCE]))
        states = member.transformer.decode(Packed.from_sentences([[1, *TARGET]]), memory)
        return torch.log_softmax(member.transformer.logits(states).double(), -1).numpy()


@pytest.mark.parametrize("name", shapes())
def test_the_written_weights_compute_the_models_log_probabilities(tmp_path, name):
    member = random_member(shapes()[name])
    head, variables = write(member, tmp_path / "out")
    assert head == (6, "TransformerSpec", 7)
    config = json.loads((tmp_path / "out/config.json").read_text())
    found = log_probs(rebuild(variables, config["layer_norm_epsilon"]), SOURCE, TARGET)
    np.testing.assert_allclose(found, our_log_probs(member), rtol=2e-6, atol=2e-5)


def test_a_matrix_that_is_tied_is_stored_once(tmp_path):
    untied, tied = shapes()["untied"], replace(shapes()["untied"], tie_embeddings="all")
    for name, sizes in (("tied", tied), ("untied", untied)):
        write(random_member(sizes), tmp_path / name)
    one, three = ((tmp_path / name / "model.bin").stat().st_size for name in ("tied", "untied"))
    assert three - one == pytest.approx(2 * len(WORDS) * tied.d_model * 4, abs=200)


def test_in_8_bits_no_weight_is_off_by_more_than_half_a_step(tmp_path):
    member = random_member()
    _, exact = write(member, tmp_path / "a")
    _, rounded = write(member, tmp_path / "b", "int8")
    matrices = [name for name in exact if name.endswith("/weight")]
    assert len(matrices) == 3 + 2 + 2 + 2 + 2 + 3
    for name in matrices:
        scale = rounded[f"{name}_scale"][:, None]
        assert rounded[name].dtype == np.int8
        assert np.abs(rounded[name] / scale - exact[name]).max() <= 0.501 / scale.min()
        assert (np.abs(rounded[name]).max(axis=1) == 127).all()
    tables = {f"{stack}/position_encodings/encodings" for stack in ("encoder", "decoder")}
    assert all(np.abs(exact[name] - rounded[name]).max() < 2**-11 for name in tables)
    others = exact.keys() - {*matrices} - tables
    assert all((exact[name] == rounded[name]).all() for name in others)


def test_the_sinusoids_are_stored_once_in_half_as_many_bytes_in_8_bits(tmp_path):
    member = random_member(replace(shapes()["untied"], tie_embeddings="all"))
    write(member, tmp_path / "out", "int8")
    size = (tmp_path / "out/model.bin").stat().st_size
    weights = sum(one.numel() for one in member.transformer.parameters())
    table = 1_024 * member.recipe.architecture.d_model * 2
    assert table < size - weights < 1.5 * table


def test_symbols_stand_in_the_order_of_their_ids(tmp_path):
    member = random_member(shapes()["untied"], WORDS, PIECES, shared_vocabulary=False)
    write(member, tmp_path / "out")
    source, target = (
        json.loads((tmp_path / f"out/{side}_vocabulary.json").read_text(encoding="utf-8"))
        for side in ("source", "target")
    )
    assert source == list(WORDS.symbols)
    assert target == list(PIECES.symbols)
    assert not (tmp_path / "out/shared_vocabulary.json").exists()
