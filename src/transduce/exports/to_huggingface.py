"""Export to Hugging Face: a MarianMTModel and a fast tokenizer, for `transformers`."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
import safetensors.numpy

from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.target import EngineOutput, Target, describe_penalty, raise_import_errors
from transduce.exports.tokenizer import build_tokenizer_json, name_tokenizers
from transduce.exports.weights import (
    POSITIONS,
    Array,
    Arrays,
    Weights,
    bias_or_zeros,
    collect_weights,
)
from transduce.inference.load import TaskModel
from transduce.vocabulary import BEGIN, END, Vocabulary
from transduce.vocabulary.symbols import SPECIALS
from transduce.vocabulary.vocabulary import special_token_json

PADDING = "<pad>"
TOKENIZER, TARGET_TOKENIZER = "tokenizer.json", "target.tokenizer.json"
EPSILON = 1e-5  # what Marian's norms add to the variance
FEATURE_COLUMNS = tuple(  # suffixes of arrays that have a column for each of d_model features
    f"{name}.weight"
    for name in ("shared", "embed_tokens", "lm_head", "q_proj", "k_proj", "v_proj", "fc1")
)
FEATURE_ROWS = tuple(  # suffixes of arrays that have a row for each of d_model features
    f"{name}.{part}" for name in ("out_proj", "fc2", "norm") for part in ("weight", "bias")
)
NAMES = {  # our matrices and norms of a layer -> MarianMTModel's
    **{f"self_attention.{one}": f"self_attn.{one[0]}_proj" for one in ("query", "key", "value")},
    "self_attention.output": "self_attn.out_proj",
    "add_self.norm": "self_attn_layer_norm",
    **{
        f"cross_attention.{one}": f"encoder_attn.{one[0]}_proj" for one in ("query", "key", "value")
    },
    "cross_attention.output": "encoder_attn.out_proj",
    "add_cross.norm": "encoder_attn_layer_norm",
    "feed_forward.inner": "fc1",
    "feed_forward.outer": "fc2",
    "add_feed_forward.norm": "final_layer_norm",
}
MOST_OUTPUT_SYMBOLS = 512  # the most symbols of an output, in the exported generation_config.json


def write_huggingface(model: TaskModel, writer: FolderWriter, _precision: str) -> None:
    """Write all files of a model for Hugging Face's `transformers` with `writer`."""
    sizes = model.recipe.architecture
    weights = name_marian_weights(collect_weights(model.transformer, sizes.d_model // sizes.heads))
    writer.write("model.safetensors", safetensors.numpy.save(weights, {"format": "pt"}))
    writer.write("config.json", to_json(build_config(model)))
    writer.write("generation_config.json", to_json(build_generation_config(model)))
    writer.write(TOKENIZER, build_fast_tokenizer(model.task.source))
    if has_two_vocabularies(model):
        writer.write(TARGET_TOKENIZER, build_fast_tokenizer(model.task.target))
    writer.write("tokenizer_config.json", to_json(build_tokenizer_config(model)))


def name_marian_weights(weights: Weights) -> dict[str, Array]:
    """Return a post-norm model's arrays by MarianMTModel's names; a tied matrix has one name.

    Marian's norms add EPSILON to the variance, and ours add ε. Normalising c·x with c²·ε gives the
    same result as normalising x with ε. So the states between sub-layers are multiplied by
    c = √(EPSILON / ε), but not embeddings and the outputs of encoder and decoder. The first norm
    of each stack is not compensated, because its inputs contain positions, whose scale is fixed.
    """
    arrays, scale = weights.arrays, np.float32(math.sqrt(EPSILON / weights.sizes.norm_epsilon))
    source, target, output = (arrays[f"{one}.weight"] for one in ("source", "target", "output"))
    bias = np.zeros((1, len(output) + 1), dtype=np.float32)
    bias[0, :-1] = arrays.get("output.bias", 0)
    bias[0, -1] = -np.inf  # so that padding is never written
    found: dict[str, Array] = {"final_logits_bias": bias}
    tables = {"model.shared": source}
    if source is not target:
        tables = {"model.encoder.embed_tokens": source, "model.decoder.embed_tokens": target}
    if output is not target:
        tables["lm_head"] = output
    for name, table in tables.items():
        # zeros for padding, whose id may lie beyond the symbols of a source vocabulary
        rows = max(1, len(output) + 1 - len(table))
        found[f"{name}.weight"] = np.pad(table, ((0, rows), (0, 0)))
    last = {"encoder": weights.sizes.encoder_depth - 1, "decoder": weights.sizes.decoder_depth - 1}
    for side, number, layer in weights.list_layers():
        before = scale if number > 0 else np.float32(1)
        after = scale if number < last[side] else np.float32(1)
        for name, array in name_layer(layer, before, scale, after):
            found[f"model.{side}.layers.{number}.{name}"] = array
    return {name: order_features(name, value) for name, value in found.items()}


def name_layer(
    layer: Arrays, before: np.float32, inside: np.float32, after: np.float32
) -> Iterator[tuple[str, Array]]:
    """Yield a layer's weights as (Marian's name, array), rescaled by the three factors.

    Marian's states are ours times `before` at the input, `inside` between sub-layers, and `after`
    at the output. The encoder's output equals ours, so the cross-attention matrices for keys and
    values are not rescaled. A bias that our attention lacks is written as zeros.
    """
    reads = dict.fromkeys((f"self_attention.{one}" for one in ("query", "key", "value")), before)
    reads |= {"cross_attention.query": inside, "feed_forward.inner": inside}
    writes = {
        "self_attention.output": before,
        "add_self.norm": inside,
        "cross_attention.output": inside,
        "add_cross.norm": inside,
        "feed_forward.outer": inside,
        "add_feed_forward.norm": after,
    }
    one = np.float32(1)
    for ours, theirs in NAMES.items():
        if f"{ours}.weight" in layer:  # an encoder layer has no cross-attention
            scale = writes.get(ours, one)
            yield f"{theirs}.weight", layer[f"{ours}.weight"] / reads.get(ours, one) * scale
            yield f"{theirs}.bias", bias_or_zeros(layer, ours) * scale


def order_features(name: str, value: Array) -> Array:
    """Return an array with its d_model features reordered: sines before cosines, as in Marian."""
    if name.endswith(FEATURE_COLUMNS):
        value = np.concatenate([value[:, ::2], value[:, 1::2]], axis=1)
    elif name.endswith(FEATURE_ROWS):
        value = np.concatenate([value[::2], value[1::2]])
    return np.ascontiguousarray(value, dtype=np.float32)


def build_config(model: TaskModel) -> dict[str, Any]:
    """Return the entries of config.json; its vocabularies have one symbol more, for padding."""
    sizes, symbols = model.recipe.architecture, len(model.task.target)
    both = {"attention_heads": sizes.heads, "ffn_dim": sizes.d_ff}
    stacks = {f"{side}_{k}": v for side in ("encoder", "decoder") for k, v in both.items()}
    stacks |= {"encoder_layers": sizes.encoder_depth, "decoder_layers": sizes.decoder_depth}
    return stacks | {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "activation_function": sizes.activation,
        "d_model": sizes.d_model,
        "dropout": sizes.dropout,
        "attention_dropout": sizes.attention_dropout,
        "activation_dropout": sizes.feed_forward_dropout,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "max_position_embeddings": POSITIONS,
        "vocab_size": max(symbols, len(model.task.source)) + 1,
        "decoder_vocab_size": symbols + 1,
        "share_encoder_decoder_embeddings": sizes.tie_embeddings == "all",
        "tie_word_embeddings": sizes.tie_embeddings != "none",
        "is_encoder_decoder": True,
        "dtype": "float32",
        **name_special_ids(model),
        "forced_eos_token_id": None,
    }


def name_special_ids(model: TaskModel) -> dict[str, int]:
    """Return the ids of END, BEGIN and padding by the names of Hugging Face's settings."""
    return {
        "eos_token_id": END,
        "bos_token_id": BEGIN,
        "decoder_start_token_id": BEGIN,
        "pad_token_id": len(model.task.target),
    }


def build_generation_config(model: TaskModel) -> dict[str, Any]:
    """Return the entries of generation_config.json; |Y|^alpha stands in for our length penalty."""
    search = model.recipe.search
    penalties = {"gnmt": search.alpha, "average": 1.0}
    return {
        **name_special_ids(model),
        "num_beams": search.beam,
        "length_penalty": penalties.get(search.penalty, 0.0),
        "max_length": MOST_OUTPUT_SYMBOLS,
    }


def build_fast_tokenizer(vocabulary: Vocabulary) -> bytes:
    """Return a tokenizer.json that appends END to every text, with a padding symbol added."""
    padding = special_token_json(len(vocabulary), PADDING)
    specials = [special_token_json(number, name) for number, name in enumerate(SPECIALS)]
    end = {"SpecialToken": {"id": SPECIALS[END], "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, end],
        "pair": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 0}},
            end,
        ],
        "special_tokens": {
            SPECIALS[END]: {"id": SPECIALS[END], "ids": [END], "tokens": [SPECIALS[END]]}
        },
    }
    changes = {"post_processor": template, "added_tokens": [*specials, padding]}
    return build_tokenizer_json(vocabulary, **changes)


def build_tokenizer_config(model: TaskModel) -> dict[str, Any]:
    """Return the entries of tokenizer_config.json: class, special symbols, longest source."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": SPECIALS[END],
        "bos_token": SPECIALS[BEGIN],
        "pad_token": PADDING,
        "split_special_tokens": True,  # "</s>" in a text stays text
        "clean_up_tokenization_spaces": False,
        "model_max_length": model.recipe.data.max_length,
        "model_input_names": ["input_ids", "attention_mask"],
    }


def describe_use(model: TaskModel) -> str:
    """Return how to translate with an exported folder, as Markdown."""
    is_two = has_two_vocabularies(model)
    name, more = ("target", ", PreTrainedTokenizerFast") if is_two else ("tokenizer", "")
    load = f'target = PreTrainedTokenizerFast(tokenizer_file="FOLDER/{TARGET_TOKENIZER}")\n'
    return f"""```python
from transformers import AutoTokenizer, MarianMTModel{more}

tokenizer = AutoTokenizer.from_pretrained("FOLDER")  # this folder
{load if is_two else ""}model = MarianMTModel.from_pretrained("FOLDER")
inputs = tokenizer(["…"], return_tensors="pt", padding=True)
print({name}.batch_decode(model.generate(**inputs), skip_special_tokens=True))
```"""


def has_two_vocabularies(model: TaskModel) -> bool:
    """Return whether source and target of a model have different vocabularies."""
    return len(name_tokenizers(model)) > 1


def explain_unsupported(model: TaskModel) -> str:
    """Return why MarianMTModel cannot compute a model, or an empty string."""
    sizes = model.recipe.architecture
    width, rest = divmod(sizes.d_model, sizes.heads)
    facts = {
        "MarianMTModel normalises after each sub-layer, and architecture.norm is pre": (
            sizes.norm == "pre"
        ),
        "MarianMTModel forgets learned positions when it is saved, and this model has them": (
            sizes.positions == "learned"
        ),
        "MarianMTModel computes sinusoids of other lengths than tensor2tensor's positions, which "
        "this model has": sizes.positions == "tensor2tensor",
        f"MarianMTModel's heads have d_model / heads = {sizes.d_model / sizes.heads:g} features, "
        f"and this model's have d_k = {sizes.d_k}, d_v = {sizes.d_v}": (
            bool(rest) or max(sizes.d_k, sizes.d_v) > width
        ),
    }
    return next((fact for fact, holds in facts.items() if holds), "")


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what `transformers` does differently from a model's own search."""
    search, epsilon = model.recipe.search, model.recipe.architecture.norm_epsilon
    norms = (
        f"norms add {EPSILON:g} to the variance and ours {epsilon:g}: scaled states make up for "
        "it, except at the first norm of each stack"
    )
    return [
        *describe_penalty(search, "num_beams=1"),
        *([norms] if epsilon != EPSILON else []),
        f"its outputs have at most {MOST_OUTPUT_SYMBOLS} symbols (generation_config.json); here "
        f"the source's length + {search.extra_length}",
        "a hypothesis ends there only if its end symbol is among the W best continuations (W is "
        "the beam's width); here among the 2 W best",
        "long lines are not split into sentences there",
    ]


@final
class HuggingFaceEngine:
    """Hugging Face's `transformers` with an exported folder loaded."""

    limits_length = ends_in_best_beam = True
    is_greedy = False

    def __init__(self, folder: Path, _model: TaskModel) -> None:
        import torch

        with raise_import_errors("transformers"):
            import transformers
        transformers.utils.logging.disable_progress_bar()
        self.name = f"transformers {transformers.__version__}"
        self.inference_mode = torch.inference_mode
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(str(folder))
        self.target, other = self.tokenizer, folder / TARGET_TOKENIZER
        if other.exists():
            self.target = transformers.PreTrainedTokenizerFast(tokenizer_file=str(other))
        self.model: Any = transformers.MarianMTModel.from_pretrained(str(folder)).eval()
        # compute_transition_scores reads the width of an output's scores from vocab_size
        self.model.config.vocab_size = self.model.config.decoder_vocab_size

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by a beam of width `beam`, without length penalty."""
        inputs = self.tokenizer(list(lines), return_tensors="pt", padding=True)
        with self.inference_mode():
            found = self.model.generate(
                **inputs,
                num_beams=beam,
                length_penalty=0.0 if beam > 1 else 1.0,  # greedy search warns unless it is 1
                early_stopping=False,
                do_sample=False,
                max_new_tokens=max_length,
                max_length=None,
                output_scores=True,
                return_dict_in_generate=True,
            )
            indices = found.beam_indices if beam > 1 else None
            steps = self.model.compute_transition_scores(
                found.sequences, found.scores, indices, normalize_logits=beam == 1
            )
        texts = self.target.batch_decode(found.sequences, skip_special_tokens=True)
        ends = (found.sequences == END).any(dim=1).tolist()
        return [
            EngineOutput(text, sum(one for one in row if math.isfinite(one)), is_cut=not ended)
            for text, row, ended in zip(texts, steps.tolist(), ends, strict=True)
        ]


HUGGINGFACE = Target(
    name="huggingface",
    precisions=("float32",),
    write=write_huggingface,
    explain_unsupported=explain_unsupported,
    list_differences=list_differences,
    open_engine=HuggingFaceEngine,
    install="pip install transformers",
    library="transformers",
    describe_use=describe_use,
)
