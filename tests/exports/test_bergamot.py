"""What is written for Bergamot, read by another reader, computes what the model computes."""

import hashlib
import json
import struct
from dataclasses import replace
from itertools import accumulate, count, takewhile

import numpy as np
import pytest
from tests.exports.plain_transformer import log_probs
from tests.exports.random_members import PIECES, WORDS, random_member, shapes
from tests.exports.test_ctranslate2 import SOURCE, TARGET, our_log_probs
from tests.inference.random_models import SIZES

from transduce.durable.folder import atomic_folder
from transduce.errors import InputError
from transduce.exports import sentencepiece, to_bergamot
from transduce.exports.sentencepiece import list_fallback_pieces
from transduce.exports.to_bergamot import BERGAMOT, CONFIG
from transduce.vocabulary.learn import learn_vocabulary

MARIAN = replace(SIZES, positions="tensor2tensor")
SHAPES = [
    name for name in shapes() if name not in ("pre-norm", "wide heads", "learned", "narrow values")
]


def read_model_file(data):
    """Read model.bin as Marian's own reader does; return tensors and the description."""
    version, number = struct.unpack_from("<QQ", data)
    assert version == 1
    heads = [struct.unpack_from("<QQQQ", data, 16 + 32 * one) for one in range(number)]
    at = 16 + 32 * number
    names = []
    for length, *_ in heads:
        names.append(data[at : at + length - 1].decode())
        assert data[at + length - 1] == 0
        at += length
    sizes = []
    for _, _, rank, _ in heads:
        sizes.append(struct.unpack_from(f"<{rank}i", data, at))
        at += 4 * rank
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    assert at % 256 == 0
    lengths = [length for *_, length in heads]
    starts = list(accumulate(lengths, initial=at))
    assert starts.pop() == len(data)
    assert all(length % 256 == 0 for length in lengths)
    parts = {
        name: (kind, size, data[first : first + length])
        for name, size, (_, kind, _, length), first in zip(names, sizes, heads, starts, strict=True)
    }
    kind, _, text = parts.pop("special:model.yml")
    assert kind == 0x0101
    lines = text.rstrip(b"\0").decode().splitlines()
    about = {name: json.loads(value) for name, value in (line.split(": ", 1) for line in lines)}
    return {name: read_tensor(name, *part) for name, part in parts.items()}, about


def read_tensor(name, kind, size, data):
    amount = int(np.prod(size))
    if kind == 0x0404:
        return np.frombuffer(data, np.float32, amount).reshape(size).astype(np.float64)
    assert kind == 0x4101  # 8 bits, transposed but for embeddings, then the scale
    (scale,) = struct.unpack_from("<f", data, amount)
    is_embedding = name.endswith(("Wemb", "_Wt"))
    numbers = np.frombuffer(data, np.int8, amount).reshape(size if is_embedding else size[::-1])
    return (numbers if is_embedding else numbers.T) / scale


@pytest.fixture
def write(tmp_path, monkeypatch):
    rules = [(1, b"a piece of the tiny model"), (2, b"trainer"), (3, b"rules")]
    monkeypatch.setattr(sentencepiece, "compile_rules", lambda *_, **__: rules)

    def write(member, precision="float32"):
        with atomic_folder(tmp_path / precision, kind="export", about={}) as writer:
            BERGAMOT.write(member, writer, precision)
        return tmp_path / precision

    return write


def rebuild(tensors, about):
    """Return the plain model of Marian's tensors, with Marian's own positions."""
    d_model = about["dim-emb"]
    halves = np.arange(d_model // 2) / (d_model // 2 - 1)
    angles = np.arange(64)[:, None] / 10000**halves
    positions = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

    def matrix(scope, letter):
        return tensors[f"{scope}_W{letter}"].T, tensors[f"{scope}_b{letter}"][0]

    def norm(scope):
        return tensors[f"{scope}_scale"][0], tensors[f"{scope}_bias"][0]

    def layer(at):
        found = {"inner": matrix(f"{at}_ffn", 1), "outer": matrix(f"{at}_ffn", 2)}
        found["ff_norm"] = norm(f"{at}_ffn_ffn_ln")
        for name, scope in (("self", f"{at}_self"), ("cross", f"{at}_context")):
            if f"{scope}_Wq" in tensors:
                found[name] = {letter: matrix(scope, letter) for letter in "qkvo"}
                found[f"{name}_norm"] = norm(f"{scope}_Wo_ln")
        return found

    def stack(side):
        names = (f"{side}_l{number}" for number in count(1))
        layers = [
            layer(name) for name in takewhile(lambda name: f"{name}_self_Wq" in tensors, names)
        ]
        assert len(layers) == about[f"{side[:3]}-depth"]
        embedding = tensors.get(f"{side}_Wemb", tensors.get("Wemb"))
        return {
            "embedding": embedding,
            "positions": positions,
            "layers": layers,
            "final_norm": None,
        }

    decoder = stack("decoder")
    output = tensors.get("decoder_ff_logit_out_Wt", decoder["embedding"])
    return {
        "encoder": stack("encoder"),
        "decoder": decoder,
        "projection": (output, tensors["decoder_ff_logit_out_b"][0]),
        "heads": about["transformer-heads"],
        "activation": about["transformer-ffn-activation"],
        "pre_norm": False,
    }


def compute_its_log_probs(folder, epsilon):
    tensors, about = read_model_file(next(folder.glob("model.*.bin")).read_bytes())
    return log_probs(rebuild(tensors, about) | {"epsilon": epsilon}, SOURCE, TARGET)


def require_equal(found, own, vocabulary):
    """Require equal log P of the symbols that Bergamot may write, and none for the others."""
    own, used = own.copy(), [kind != 5 for _, kind in list_fallback_pieces(vocabulary)]
    used[len(vocabulary) :] = [False] * (len(used) - len(vocabulary))
    assert (found[:, [not one for one in used]] < -1e3).all()
    own = own[:, used[: len(vocabulary)]]
    own -= np.log(np.exp(own).sum(axis=1, keepdims=True))
    assert np.abs(found[:, used] - own).max() < 1e-5


@pytest.mark.parametrize("shape", SHAPES)
def test_marians_formulas_on_the_file_give_the_models_probabilities(shape, write):
    sizes = replace(shapes()[shape], positions="tensor2tensor")
    member = random_member(sizes)
    assert not BERGAMOT.explain_unsupported(member)
    found = compute_its_log_probs(write(member), sizes.norm_epsilon)
    require_equal(found, our_log_probs(member), member.task.target)


def test_two_vocabularies_have_a_file_and_an_embedding_each(write):
    other = learn_vocabulary(["ein Hund", "läuft heute"] * 9, 270)
    sizes = replace(MARIAN, tie_embeddings="target")
    member = random_member(sizes, WORDS, other, shared_vocabulary=False)
    folder = write(member)
    assert {one.name for one in folder.glob("*.spm")} == {"srcvocab.ende.spm", "trgvocab.ende.spm"}
    found = compute_its_log_probs(folder, sizes.norm_epsilon)
    require_equal(found, our_log_probs(member), other)


def test_in_8_bits_no_weight_is_off_by_more_than_half_a_step(write):
    member = random_member(replace(MARIAN, d_model=64, d_ff=64, heads=4, d_k=16, d_v=16))
    exact, rounded = (
        read_model_file((write(member, precision) / name).read_bytes())[0]
        for precision, name in (
            ("float32", "model.ende.float32.bin"),
            ("int8", "model.ende.intgemm8.bin"),
        )
    )
    matrices = [name for name in exact if name == "Wemb" or name[:-1].endswith("_W")]
    assert len(matrices) == 1 + 4 + 2 + 4 + 4 + 2
    for name, value in exact.items():
        step = np.abs(value).max() / 127 if name in matrices else 0
        assert np.abs(rounded[name] - value).max() <= 0.501 * step


def test_8_bits_need_sizes_that_the_engines_products_have(write):
    with pytest.raises(InputError, match="d_model must be a multiple of 64, not 16"):
        write(random_member(MARIAN), "int8")


def test_the_files_name_each_other_and_their_hashes(write):
    folder = write(random_member(MARIAN))
    ((pair, files),) = json.loads((folder / "registry.json").read_text()).items()
    assert pair == "ende"
    assert files.pop("config") == {"gemm-precision": "float32"}
    for part, about in files.items():
        data = (folder / about["name"]).read_bytes()
        assert about["name"].startswith(f"{part}.ende.")
        assert about["size"] == len(data)
        assert about["expectedSha256Hash"] == hashlib.sha256(data).hexdigest()
    assert files["model"]["name"] in (folder / CONFIG).read_text()
    assert "registry.json" in (folder / "index.html").read_text(encoding="utf-8")


def test_pieces_of_whole_characters_keep_their_ids_and_others_are_single_bytes_or_unused():
    vocabulary = learn_vocabulary(["日本語 日曜 über ▁ ü"] * 9, 275)
    pieces = list_fallback_pieces(vocabulary)
    assert len(pieces) % 8 == 0
    assert len({text for text, _ in pieces}) == len(pieces)
    assert {f"<0x{byte:02X}>" for byte in range(256)} <= {
        text for text, kind in pieces if kind == 6
    }
    for number in range(2, len(vocabulary)):
        data, (text, kind) = vocabulary.piece_bytes(number), pieces[number]
        if kind == 1:
            assert "▁".encode() not in data
            assert text.replace("▁", " ").encode() == data
        elif kind == 6:
            assert (text, len(data)) == (f"<0x{data[0]:02X}>", 1)
        else:
            assert kind == 5
            assert "▁".encode() in data or "\ufffd" in data.decode(errors="replace")


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (random_member(), "tensor2tensor's positions, and this model has sinusoidal ones"),
        (random_member(replace(MARIAN, norm="pre")), "architecture.norm is pre"),
        (random_member(MARIAN, PIECES), "this model's vocabulary has other pieces"),
        (random_member(replace(MARIAN, d_k=12)), "d_model / heads = 8 features"),
        (random_member(MARIAN, source_language="deu"), "two languages of two letters"),
        (random_member(MARIAN, source_language="a/"), "two languages of two letters"),
    ],
)
def test_what_bergamot_cannot_compute_is_refused_by_name(member, why):
    assert why in BERGAMOT.explain_unsupported(member)


def test_a_line_with_a_newline_has_one_output(monkeypatch, tmp_path):
    """The program reads a line of input for each output."""
    driver = lambda *_, text="": json.dumps(text.split("\n"))  # noqa: E731
    monkeypatch.setattr(to_bergamot, "run_driver", driver)
    found = BERGAMOT.open_engine(tmp_path, random_member(MARIAN)).translate(["a\nb", "c"], 1, 9)
    assert [one.text for one in found] == ["a b", "c"]


def test_norms_that_add_another_number_to_the_variance_are_a_difference():
    norms = "norms add 1e-06 to the variance and ours 1e-05"
    assert norms in BERGAMOT.list_differences(random_member(replace(MARIAN, norm_epsilon=1e-5)))
    assert norms not in BERGAMOT.list_differences(random_member(replace(MARIAN, norm_epsilon=1e-6)))
