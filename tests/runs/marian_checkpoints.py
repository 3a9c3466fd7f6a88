"""Marian checkpoints written by hand, and Marian's forward pass in plain torch, one sentence each.

The names of tensors, the order of ids and the positions are those that transformers writes; nothing
of ours is used.
"""

import json
import struct

import torch
from safetensors.torch import save_file

SOURCE = {"▁the": -2.0, "▁dog": -3.0, "▁": -4.0, "s": -4.5, "e": -4.6, "▁run": -5.0, "▁runs": -5.5}
TARGET = {"▁der": -2.0, "▁Hund": -3.0, "▁": -4.0, "s": -4.4, "▁läuft": -5.0, "n": -6.0}
NAMES = ["</s>", "<unk>", *dict.fromkeys([*SOURCE, *TARGET])]
NAMES = [*[name for name in NAMES if name != "▁run"], "<pad>"]  # a piece that the list lacks
PAD = len(NAMES) - 1
CONFIG = {
    "model_type": "marian",
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 10,
    "decoder_ffn_dim": 10,
    "activation_function": "swish",
    "scale_embedding": True,
    "vocab_size": len(NAMES),
    "pad_token_id": PAD,
    "decoder_start_token_id": PAD,
    "eos_token_id": 0,
    "num_beams": 2,
}


def field(number, content):
    """A field of a protocol buffer: bytes or text with their length, or a whole number."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def compile_charsmap(rules):
    """SentencePiece's compiled normaliser: a double array of the sources, then the replacements.

    A node of the trie has 256 units, one for each next byte: label, offset to the child's units,
    and bit 8 if a rule ends there, whose replacement's place is then the child's unit 0.
    """
    texts = b"".join(value.encode() + b"\0" for value in rules.values())
    nodes, units = {b"": 1}, {0: 256 << 10}
    for rule, value in rules.items():
        key, node, at = rule.encode(), 1, 0
        for end in range(1, len(key) + 1):
            node = nodes.setdefault(key[:end], len(nodes) + 1)
            at = 256 * nodes[key[: end - 1]] + key[end - 1]
            units.setdefault(at, (at ^ 256 * node) << 10 | key[end - 1])
        units[at] |= 1 << 8
        units[256 * node] = 1 << 31 | texts.index(value.encode() + b"\0")
    size = 256 * (len(nodes) + 1)
    trie = struct.pack(f"<{size}I", *(units.get(at, 0) for at in range(size)))
    return struct.pack("<I", len(trie)) + trie + texts


def spm(pieces, *, kind=1, charsmap=b"", types=()):
    """The bytes of a SentencePiece model: the unknown, a control symbol, pieces, a normaliser.

    `types` has pairs of a piece and its type, which is 1 for ordinary pieces.
    """
    score = {"<unk>": 0.0, "<s>": 0.0} | pieces
    types = {"<unk>": 2, "<s>": 3} | dict(types)
    rows = [
        field(1, piece)
        + varint(2 << 3 | 5)
        + struct.pack("<f", value)
        + field(3, types.get(piece, 1))
        for piece, value in score.items()
    ]
    normaliser = field(3, field(2, charsmap)) if charsmap else b""
    return b"".join([*(field(1, row) for row in rows), field(2, field(3, kind)), normaliser])


def write_checkpoint(folder, *, charsmap=b"", **changes):
    """Write a checkpoint with random weights, perhaps with a normaliser; return the weights."""
    folder.mkdir()
    config = CONFIG | changes
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps({name: n for n, name in enumerate(NAMES)}))
    (folder / "source.spm").write_bytes(spm(SOURCE, charsmap=charsmap))
    (folder / "target.spm").write_bytes(spm(TARGET, charsmap=charsmap))
    torch.manual_seed(1)
    shapes: dict[str, tuple[int, ...]] = {
        "model.shared.weight": (len(NAMES), 12),
        "final_logits_bias": (1, len(NAMES)),
    }
    for side in ("encoder", "decoder"):
        blocks = ["self_attn"] + ["encoder_attn"] * (side == "decoder")
        for layer in range(changes.get(f"{side}_layers", 2)):
            start = f"model.{side}.layers.{layer}"
            for block in blocks:
                shapes |= {
                    f"{start}.{block}.{p}_proj.weight": (12, 12) for p in ("q", "k", "v", "out")
                }
                shapes |= {f"{start}.{block}.{p}_proj.bias": (12,) for p in ("q", "k", "v", "out")}
            for norm in [*(f"{block}_layer_norm" for block in blocks), "final_layer_norm"]:
                shapes |= {f"{start}.{norm}.{kind}": (12,) for kind in ("weight", "bias")}
            shapes |= {f"{start}.fc1.weight": (10, 12), f"{start}.fc1.bias": (10,)}
            shapes |= {f"{start}.fc2.weight": (12, 10), f"{start}.fc2.bias": (12,)}
    weights = {name: 0.5 * torch.randn(shape) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return weights


def marian_logits(weights, source, inputs, *, activation=torch.nn.functional.silu, scale=12**0.5):
    """The logits of every position of `inputs`, for one source; both are Marian's ids."""

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def attend(x, z, name, mask):
        q, k, v = (
            linear(y, f"{name}.{p}_proj").view(len(y), 3, 4).transpose(0, 1)
            for p, y in (("q", x), ("k", z), ("v", z))
        )
        scores = (q @ k.transpose(1, 2) / 2 + mask).softmax(-1)
        return linear((scores @ v).transpose(0, 1).flatten(1), f"{name}.out_proj")

    def embed(ids):
        at = torch.arange(len(ids))[:, None] / 10_000 ** (torch.arange(6) * 2 / 12)
        return weights["model.shared.weight"][ids] * scale + torch.cat([at.sin(), at.cos()], dim=1)

    x, y = embed(source), embed(inputs)
    past = torch.full((len(inputs), len(inputs)), -torch.inf).triu(1)
    for side, states in (("encoder", x), ("decoder", y)):
        for layer in range(sum(f"model.{side}.layers.{n}.fc1.bias" in weights for n in range(9))):
            start = f"model.{side}.layers.{layer}"
            mask = past if side == "decoder" else 0.0
            states = norm(
                states + attend(states, states, f"{start}.self_attn", mask),
                f"{start}.self_attn_layer_norm",
            )
            if side == "decoder":
                states = norm(
                    states + attend(states, x, f"{start}.encoder_attn", 0.0),
                    f"{start}.encoder_attn_layer_norm",
                )
            inner = linear(activation(linear(states, f"{start}.fc1")), f"{start}.fc2")
            states = norm(states + inner, f"{start}.final_layer_norm")
        x = states if side == "encoder" else x
        y = states if side == "decoder" else y
    return y @ weights["model.shared.weight"].T + weights["final_logits_bias"][0]
