"""Run by test_import.py where transformers is: writes a random Marian checkpoint and its outputs.

python marian_checkpoint.py FOLDER NAME: a checkpoint, and answers.json and logits.safetensors.
"""

import io
import json
import sys
from pathlib import Path

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

ENGLISH = [
    "the dog sees a cat in the garden",
    "a woman runs to the old red house",
    "who sleeps now and not today",
    "the children eat an apple under the tree",
    "he said that he would come tomorrow",
]
GERMAN = [
    "der Hund sieht eine Katze im Garten",
    "eine Frau rennt zum alten roten Haus",
    "wer schläft jetzt und nicht heute",
    "die Kinder essen einen Apfel unter dem Baum",
    "er sagte, dass er morgen kommen würde",
]
LINES = [
    *ENGLISH,
    "the ﬁrst “dog” — 3 Katzen, ☃ and ½",
    "an unknown Ж word",
    "the äöü cat, Größärö",
]
SIZES = {"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 48}
SHAPES = {
    "opus": {"activation_function": "swish", "scale_embedding": True},
    "relu-unscaled": {"activation_function": "relu", "scale_embedding": False, "encoder_layers": 3},
    "two-vocabularies": {
        "activation_function": "silu",
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": False,
        "encoder_attention_heads": 2,
    },
    "starts-with-end": {
        "activation_function": "swish",
        "scale_embedding": True,
        "decoder_start_token_id": 0,
    },
}
EXTRA = 8  # symbols that an output may have more than its source


def train_pieces(folder, name, lines, size):
    """Train a unigram model as OPUS-MT does; return its pieces."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3),
        model_writer=written,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / f"{name}.spm").write_bytes(written.getvalue())
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    count = range(model.get_piece_size())
    return [
        model.id_to_piece(n) for n in count if not model.is_control(n) if not model.is_unknown(n)
    ]


def write_vocabulary(file, pieces):
    """Number the symbols as Marian does: the end, the unknown, the pieces, padding last."""
    names = list(dict.fromkeys(["</s>", "<unk>", *pieces, "<pad>"]))
    file.write_text(json.dumps({name: number for number, name in enumerate(names)}))
    return len(names)


def build(folder, shape):
    """Write the files of a tokenizer; return a model with random weights."""
    pieces = [
        train_pieces(folder, "source", ENGLISH, 60),
        train_pieces(folder, "target", GERMAN, 65),
    ]
    shared = shape.get("share_encoder_decoder_embeddings", True)
    count = max(map(len, pieces))  # both lists end with padding at the same number
    lists = [one + [f"unused{n}" for n in range(count - len(one))] for one in pieces]
    sizes = [
        write_vocabulary(folder / "vocab.json", [*pieces[0], *pieces[1]] if shared else lists[0])
    ]
    if not shared:
        sizes.append(write_vocabulary(folder / "target_vocab.json", lists[1]))
    twins = {key.replace("encoder", "decoder"): value for key, value in (SIZES | shape).items()}
    last = sizes[-1] - 1
    given = SIZES | {"pad_token_id": last, "decoder_start_token_id": last} | twins | shape
    config = MarianConfig(
        vocab_size=sizes[0],
        decoder_vocab_size=sizes[-1],
        eos_token_id=0,
        forced_eos_token_id=0,
        max_position_embeddings=128,
        **given,
    )
    torch.manual_seed(3)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" not in name:
                gain = 1.0 if "layer_norm.weight" in name else 0.0
                weight.copy_(gain + torch.randn(weight.shape) * 0.3)
        model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape))
    return model


@torch.no_grad()
def main(folder, name):
    """Write a checkpoint and what transformers computes with it."""
    folder.mkdir(parents=True)
    model = build(folder, SHAPES[name])
    model.save_pretrained(folder)
    separate = (folder / "target_vocab.json").exists()
    files = [str(folder / one) for one in ("source.spm", "target.spm", "vocab.json")]
    more = {"target_vocab_file": str(folder / "target_vocab.json")} if separate else {}
    tokenizer = MarianTokenizer(*files, separate_vocabs=separate, **more)
    answers, logits, pad = [], {}, model.config.pad_token_id
    for number, line in enumerate(LINES):
        ids = tokenizer(line)["input_ids"]
        target = tokenizer(text_target=GERMAN[number % len(GERMAN)])["input_ids"]
        inputs = torch.tensor([ids])
        decoder = torch.tensor([[model.config.decoder_start_token_id, *target[:-1]]])
        logits[str(number)] = model(input_ids=inputs, decoder_input_ids=decoder).logits[0]
        found = {"line": line, "ids": ids, "target": target}
        for beam in (1, 3):
            output = model.generate(
                inputs,
                num_beams=beam,
                do_sample=False,
                length_penalty=0.0,
                max_new_tokens=len(ids) + EXTRA,
                max_length=None,
                bad_words_ids=[[pad]],
                renormalize_logits=True,
            )
            text = tokenizer.decode(output[0], skip_special_tokens=True)
            found[f"beam {beam}"] = {"text": text, "ids": output[0].tolist()}
        answers.append(found)
    save_file(logits, folder.parent / "logits.safetensors")
    source = json.loads((folder / "vocab.json").read_text())
    target = json.loads((folder / ("target_vocab.json" if separate else "vocab.json")).read_text())
    report = {"answers": answers, "source": [*source], "target": target}
    (folder.parent / "answers.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
