"""Checkpoints of a stranger: refused with a sentence, whatever their files say or are."""

import json
import os
import shutil
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.faults.strangers.watch import outcome, watch
from tests.runs.marian_checkpoints import NAMES, SOURCE, field, spm, varint, write_checkpoint

import transduce

Q = "model.encoder.layers.0.self_attn.q_proj.weight"
POSITIONS = "model.encoder.embed_positions.weight"
NORM = "model.encoder.layers.0.final_layer_norm.weight"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marian") / "checkpoint"
    write_checkpoint(folder)
    transduce.import_model(folder, folder.parent / "model")  # imports all that is ever imported
    return folder


def config(**values):
    def change(folder):
        found = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**found, **values}))

    return change


def twins(name, value):
    return config(**{f"encoder_{name}": value, f"decoder_{name}": value})


def tensors(**values):
    def change(folder):
        found = load_file(folder / "model.safetensors")
        save_file({**found, **values}, folder / "model.safetensors")

    return change


def source(*fields):
    return lambda folder: (folder / "source.spm").write_bytes(spm(SOURCE) + b"".join(fields))


def charsmap(units, replacements=b"x\0", size=None):
    trie = struct.pack(f"<{len(units)}I", *units)
    size = len(trie) if size is None else size
    return source(field(3, field(2, struct.pack("<I", size) + trie + replacements)))


def numbers(change):
    def write(folder):
        found = {name: n for n, name in enumerate(NAMES)}
        (folder / "vocab.json").write_text(json.dumps(change(found)))

    return write


def renamed(old, new):
    return numbers(lambda found: {(new if name == old else name): n for name, n in found.items()})


def replaced(name, make):
    def change(folder):
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return change


CASES = {
    "sizes of 2^23": twins("layers", 1 << 23),
    "a thousand layers": twins("layers", 1_000),
    "a width of 60,000": config(d_model=60_000),
    "another width": config(d_model=24),
    "another width of layers": twins("ffn_dim", 64),
    "an activation that is a list": config(activation_function=["swish"]),
    "an activation that is an object": config(activation_function={"a": "b"}),
    "a type of 900,000 letters": config(model_type="x" * 900_000),
    "a scale that is text": config(scale_embedding="yes"),
    "a length penalty that is a list": config(length_penalty=[1]),
    "a length penalty of 0.6": config(length_penalty=0.6),
    "an id of 2^70": config(pad_token_id=1 << 70),
    "a vocabulary of -1": config(vocab_size=-1),
    "a vocabulary of other rows": config(vocab_size=len(NAMES) + 1),
    "a target vocabulary of other rows": config(decoder_vocab_size=len(NAMES) + 1),
    "another depth": config(num_hidden_layers=7),
    "a beam of 0": config(num_beams=0),
    "a search that samples": config(do_sample=True),
    "a search that forbids words": config(bad_words_ids=[[2]]),
    "quantised weights": config(quantization_config={"bits": 4}),
    "a tensor more": tensors(**{"model.encoder.adapter.weight": torch.zeros(2)}),
    "a layer more": tensors(**{"model.encoder.layers.2.fc1.bias": torch.zeros(10)}),
    "positions that are learned": tensors(**{POSITIONS: torch.zeros(8, 12)}),
    "positions that are a number": tensors(**{POSITIONS: torch.tensor(1.0)}),
    "another output matrix": tensors(**{"lm_head.weight": torch.zeros(len(NAMES), 12)}),
    "another matrix of the decoder": tensors(
        **{"model.decoder.embed_tokens.weight": torch.zeros(len(NAMES), 12)}
    ),
    "a matrix that is a number": tensors(**{Q: torch.tensor(1.0)}),
    "a matrix that is a list": tensors(**{Q: torch.zeros(144)}),
    "a matrix too narrow": tensors(**{Q: torch.zeros(12, 5)}),
    "a matrix of truth values": tensors(**{Q: torch.zeros(12, 12, dtype=torch.bool)}),
    "a matrix of NaN": tensors(**{Q: torch.full((12, 12), torch.nan)}),
    "a norm of two dimensions": tensors(**{NORM: torch.zeros(12, 2)}),
    "a norm too short": tensors(**{NORM: torch.zeros(3)}),
    "embeddings that are a number": tensors(**{"model.shared.weight": torch.tensor(0.0)}),
    "embeddings too narrow": tensors(**{"model.shared.weight": torch.zeros(len(NAMES), 5)}),
    "a bias that is a number": tensors(final_logits_bias=torch.tensor(0.0)),
    "a piece without text": source(field(1, field(3, 1))),
    "a piece that is a number": source(field(1, 1 << 40)),
    "a text that is a number": source(field(1, field(1, 5))),
    "a piece of a million letters": source(field(1, field(1, "q" * 10**6))),
    "a symbol of a million letters": renamed("▁der", "q" * 10**6),
    "a piece twice": source(field(1, field(1, "s")) * 2),
    "a piece that is special": source(field(1, field(1, "</s>"))),
    "a score of 10^38": source(
        field(1, field(1, "q") + varint(2 << 3 | 5) + struct.pack("<f", 1e38))
    ),
    "90 pieces that no list has": source(*(field(1, field(1, f"p{n}")) for n in range(90))),
    "4 million fields": source(b"\x20\x00" * 4_000_000),
    "zeros": lambda folder: (folder / "source.spm").write_bytes(bytes(8_000_000)),
    "a normaliser that is a number": source(field(3, 5)),
    "a charsmap that is a number": source(field(3, field(2, 5))),
    "a charsmap of 3 bytes": source(field(3, field(2, b"abc"))),
    "a charsmap without its trie": charsmap([0], size=1 << 31),
    "a trie that leads far out": charsmap([0x7FFFFFFF] * 512),
    "a list with a gap": numbers(lambda found: {**found, "x": 500}),
    "a piece without a letter": renamed("▁der", ""),
    "a piece that begins": renamed("▁der", "<s>"),
    "a code of a language": renamed("▁der", ">>\x1b[2J<<"),
    **{
        f"{name}: {what}": replaced(name, make)
        for name in ("config.json", "vocab.json", "source.spm", "model.safetensors",
                     "generation_config.json", "tokenizer_config.json")
        for what, make in {
            "a pipe": os.mkfifo,
            "a device": lambda path: path.symlink_to("/dev/zero"),
            "a folder": os.mkdir,
            "a link to itself": lambda path: path.symlink_to(path),
            "a sparse file of a terabyte": lambda path: os.truncate(
                os.open(path, os.O_CREAT | os.O_RDWR), 1 << 40
            ),
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_checkpoint_of_a_stranger_is_refused(sound, tmp_path, case):
    folder = tmp_path / "checkpoint"
    shutil.copytree(sound, folder)
    CASES[case](folder)
    with watch(folder) as notes:
        ended = outcome(lambda: transduce.import_model(folder, tmp_path / "model"))
    assert ended.startswith(("2: ", "3: "))
    assert len(ended) < 1_000
    assert "\x1b" not in ended
    assert not (tmp_path / "model").exists()
    assert not [event for event in notes.forbidden if not event.startswith("writes")]
    assert notes.megabytes < 200


def test_links_as_in_the_cache_of_hugging_face_are_followed(sound, tmp_path):
    for file in sound.iterdir():
        link = tmp_path / "snapshot" / file.name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(file)
    model = transduce.import_model(tmp_path / "snapshot", tmp_path / "model")
    assert transduce.verify(model.folder)[0].is_good


def test_a_compiled_normaliser_that_is_sound_is_used(sound, tmp_path):
    """A trie that replaces "q" by "s": 256 units, the child of q, and its value."""
    units = [0] * 512
    units[0] = 0x100 << 10  # the root's children are at 256 XOR c
    at = 0x100 ^ ord("q")
    below = at ^ 0x1
    units[at] = 0x1 << 10 | 0x100 | ord("q")  # its value is at the index XOR 1
    units[below] = 1 << 31 | 0  # the replacement at byte 0
    folder = tmp_path / "checkpoint"
    shutil.copytree(sound, folder)
    charsmap(units, b"s\0")(folder)
    transduce.import_model(folder, tmp_path / "model")
    vocabulary = transduce.load(tmp_path / "model").task.source
    assert vocabulary.encode("the dogq") == vocabulary.encode("the dogs")
