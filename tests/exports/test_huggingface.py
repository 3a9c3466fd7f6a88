"""What is written for Hugging Face computes, in Marian's terms, what the model computes."""

import json
from dataclasses import replace
from itertools import count, takewhile

import numpy as np
import pytest
import safetensors.numpy
from tests.exports.plain_transformer import log_probs
from tests.exports.random_members import PIECES, WORDS, random_member, shapes
from tests.exports.test_ctranslate2 import SOURCE, TARGET, our_log_probs
from tokenizers import Tokenizer

from transduce.durable.folder import atomic_folder
from transduce.exports.to_huggingface import HUGGINGFACE, explain_unsupported
from transduce.text.clean import normalise

POSSIBLE = ("post-norm", "narrow keys", "narrow values", "tied target", "untied", "imported")
PAD = len(WORDS)


def write(member, folder):
    with atomic_folder(folder, kind="export", about={}) as writer:
        HUGGINGFACE.write(member, writer, "float32")
    weights = safetensors.numpy.load_file(folder / "model.safetensors")
    return weights, json.loads((folder / "config.json").read_text(encoding="utf-8"))


def marian_positions(length, d_model):
    """The table as Marian defines it: all sines, then all cosines."""
    angles = [
        [at / 10_000 ** (2 * i / d_model) for i in range(d_model // 2)] for at in range(length)
    ]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def rebuild(weights, config):
    """Return the plain model of a MarianMTModel's weights and configuration."""

    def pair(name):
        return weights[f"{name}.weight"].astype(np.float64), weights[f"{name}.bias"]

    def attention(name):
        parts = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
        return {letter: pair(f"{name}.{part}") for letter, part in parts.items()}

    def layer(at):
        found = {
            "self": attention(f"{at}.self_attn"),
            "self_norm": pair(f"{at}.self_attn_layer_norm"),
        }
        if "decoder" in at:
            found["cross"] = attention(f"{at}.encoder_attn")
            found["cross_norm"] = pair(f"{at}.encoder_attn_layer_norm")
        found |= {"inner": pair(f"{at}.fc1"), "outer": pair(f"{at}.fc2")}
        return found | {"ff_norm": pair(f"{at}.final_layer_norm")}

    def stack(side):
        numbers = takewhile(lambda n: f"model.{side}.layers.{n}.fc1.weight" in weights, count())
        layers = [layer(f"model.{side}.layers.{number}") for number in numbers]
        assert len(layers) == config[f"{side}_layers"]
        shared = config["share_encoder_decoder_embeddings"]
        name = "model.shared.weight" if shared else f"model.{side}.embed_tokens.weight"
        table = marian_positions(20, config["d_model"])
        return {
            "embedding": weights[name],
            "positions": table,
            "layers": layers,
            "final_norm": None,
        }

    decoder = stack("decoder")
    tied = config["tie_word_embeddings"]
    projection = decoder["embedding"] if tied else weights["lm_head.weight"]
    return {
        "encoder": stack("encoder"),
        "decoder": decoder,
        "projection": (projection, weights["final_logits_bias"][0]),
        "heads": config["decoder_attention_heads"],
        "pre_norm": False,
        "epsilon": 1e-5,
        "activation": config["activation_function"],
    }


@pytest.mark.parametrize("name", POSSIBLE)
def test_the_written_weights_compute_the_models_log_probabilities(tmp_path, name):
    member = random_member(shapes()[name])
    weights, config = write(member, tmp_path / "out")
    found = log_probs(rebuild(weights, config), SOURCE, TARGET)
    np.testing.assert_allclose(found[:, :-1], our_log_probs(member), atol=1e-4)
    assert (found[:, -1] == -np.inf).all()  # padding is never produced
    assert config["pad_token_id"] == PAD == found.shape[1] - 1


@pytest.mark.parametrize(
    ("name", "why"),
    [("pre-norm", "norm is pre"), ("learned", "learned positions"), ("wide heads", "d_k = 12")],
)
def test_what_marian_cannot_compute_is_refused(name, why):
    assert why in explain_unsupported(random_member(shapes()[name]))
    other = replace(shapes()["post-norm"], positions="tensor2tensor")
    assert "tensor2tensor's positions" in explain_unsupported(random_member(other))
    assert not any(explain_unsupported(random_member(shapes()[one])) for one in POSSIBLE)


@pytest.mark.parametrize("sides", [(WORDS, PIECES), (PIECES, WORDS)])
def test_a_model_with_two_vocabularies_has_two_tokenizers(tmp_path, sides):
    member = random_member(shapes()["untied"], *sides, shared_vocabulary=False)
    weights, config = write(member, tmp_path / "out")
    assert config["vocab_size"] == len(weights["model.encoder.embed_tokens.weight"])
    assert config["decoder_vocab_size"] == len(sides[1]) + 1
    found = log_probs(rebuild(weights, config), SOURCE, TARGET)
    np.testing.assert_allclose(found[:, :-1], our_log_probs(member), atol=1e-4)
    for file, vocabulary in zip(("tokenizer", "target.tokenizer"), sides, strict=True):
        tokenizer = Tokenizer.from_file(str(tmp_path / f"out/{file}.json"))
        assert tokenizer.encode("the dog").ids == [*vocabulary.encode("the dog"), 0]
        assert tokenizer.token_to_id("<pad>") == len(vocabulary)


def test_the_fast_tokenizer_gives_the_models_ids_with_end_and_padding(tmp_path):
    write(random_member(), tmp_path / "out")
    tokenizer = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json"))
    text = " the\u00a0 dog sees </s> a cat. "
    tokenizer.encode_special_tokens = True
    assert tokenizer.encode(text).ids == [*WORDS.encode(normalise(text)), 0]
    assert tokenizer.token_to_id("<pad>") == PAD
    settings = json.loads((tmp_path / "out/tokenizer_config.json").read_text(encoding="utf-8"))
    assert settings["split_special_tokens"] is True
