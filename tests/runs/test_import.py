"""Checkpoints of Marian become models that translate, are scored and are adapted."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.runs.marian_checkpoints import (
    NAMES,
    PAD,
    SOURCE,
    TARGET,
    compile_charsmap,
    marian_logits,
    spm,
    write_checkpoint,
)

import transduce
from transduce.checkpoint.run_file import read_run
from transduce.checkpoint.stored_model import load_model
from transduce.errors import FolderError, InputError
from transduce.packed import Packed
from transduce.runs.import_model import read_config
from transduce.vocabulary import Vocabulary

SOURCE_IDS = [NAMES.index(name) for name in ("▁the", "▁dog", "▁runs", "s")] + [1, 0]
LINE = "the dog runss%"  # the last character is unknown


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The weights of a checkpoint, and the model that was made of it."""
    folder = tmp_path_factory.mktemp("marian")
    weights = write_checkpoint(folder / "checkpoint")
    model = transduce.import_model(folder / "checkpoint", folder / "model")
    return weights, model.folder


def compare_logits(weights, folder, line=LINE, source_ids=SOURCE_IDS, **how):
    """Compare the logits of a target with Marian's, symbol by symbol; all but the padding's."""
    translator = transduce.load(folder)
    (model,), symbols = translator.models, translator.task.target.symbols
    ours = [number for number, name in enumerate(symbols) if name != "<s>"]
    theirs = [NAMES.index(symbols[number]) for number in ours]
    inputs = [NAMES.index(name) for name in ("▁der", "▁Hund", "s", "<unk>", "▁the")]
    known = [1, *(symbols.index(NAMES[one]) for one in inputs)]
    ids = [*translator.task.source.encode(line), 0]
    with torch.no_grad():
        memory = model.encode(Packed.from_sentences([ids]))
        found = model.logits(model.decode(Packed.from_sentences([known]), memory))
    expected = marian_logits(weights, torch.tensor(source_ids), torch.tensor([PAD, *inputs]), **how)
    torch.testing.assert_close(found[:, ours], expected[:, theirs], rtol=0, atol=1e-5)
    assert float(found.softmax(-1)[:, 1].max()) < 1e-30


def test_logits_are_those_of_marian(imported):
    compare_logits(*imported)


def test_a_piece_that_the_list_of_symbols_lacks_is_the_unknown_to_the_model(imported):
    weights, folder = imported
    compare_logits(weights, folder, "the dog run", [*SOURCE_IDS[:2], 1, 0])


def test_text_is_normalised_by_the_rules_of_the_checkpoint(tmp_path):
    rules = compile_charsmap({"A": "", "ß": "s", "ﬁ": "runs"})
    write_checkpoint(tmp_path / "checkpoint", charsmap=rules)
    transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    task = transduce.load(tmp_path / "model").task
    for vocabulary in (task.source, task.target):
        for text, same in (("the ﬁß", "the runss"), ("AtheA doAg", "the dog"), ("ẞ", "ẞ")):
            assert vocabulary.encode(text) == vocabulary.encode(same)


def test_relu_and_embeddings_without_a_scale(tmp_path):
    weights = write_checkpoint(
        tmp_path / "checkpoint", scale_embedding=False, activation_function="relu"
    )
    transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    compare_logits(weights, tmp_path / "model", activation=torch.relu, scale=1.0)


def test_stacks_of_unequal_depth(tmp_path):
    weights = write_checkpoint(tmp_path / "checkpoint", encoder_layers=3, decoder_layers=1)
    transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    compare_logits(weights, tmp_path / "model")


@pytest.mark.parametrize("depths", [(2, 2), (3, 1)])
def test_an_imported_model_leaves_with_the_tensors_it_came_with(tmp_path, depths):
    both = dict(zip(("encoder_layers", "decoder_layers"), depths, strict=True))
    weights = write_checkpoint(tmp_path / "checkpoint", **both)
    transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    transduce.export(tmp_path / "model", to="huggingface", output=tmp_path / "out")
    written = load_file(tmp_path / "out/model.safetensors")
    layers = {name for name in weights if ".layers." in name}
    assert layers == {name for name in written if ".layers." in name}
    assert all(torch.equal(written[name], weights[name]) for name in layers)
    symbols = transduce.load(tmp_path / "model").task.target.symbols
    ours = [number for number, name in enumerate(symbols) if name != "<s>"]
    theirs = [NAMES.index(symbols[number]) for number in ours]
    embedding = written["model.decoder.embed_tokens.weight"]
    assert torch.equal(embedding[ours], weights["model.shared.weight"][theirs])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_that_repeat_positions_or_embeddings_are_no_others(imported, tmp_path, dtype):
    weights = write_checkpoint(tmp_path / "checkpoint", num_hidden_layers=2)
    angles = torch.arange(90)[:, None] / 10_000 ** (torch.arange(6) * 2 / 12)
    table = torch.cat([angles.sin(), angles.cos()], dim=1).to(dtype)
    again = {
        f"model.{side}.embed_positions.weight": table.clone() for side in ("encoder", "decoder")
    }
    again |= {"lm_head.weight": weights["model.shared.weight"].clone()}
    save_file(weights | again, tmp_path / "checkpoint" / "model.safetensors")
    found = transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    names = ("model.safetensors", "recipe.json", "vocabulary.json")
    for name in {one.name for one in imported[1].iterdir()} & set(names):
        assert (found.folder / name).read_bytes() == (imported[1] / name).read_bytes()


def test_an_imported_model_translates_and_its_card_says_where_it_is_from(imported):
    _, folder = imported
    model = transduce.load(folder)
    text = model("the dog")
    assert set(text.replace(" ", "")) <= set("".join([*TARGET, *NAMES[2:]]))
    assert (model.recipe.search.beam, model.recipe.search.penalty) == (2, "average")
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "Another program trained this model" in card
    assert load_model(folder).about["imported"] in card


def test_an_imported_model_is_adapted(imported, tmp_path):
    pairs = [("the dog runs", "der Hund läuft"), ("the dog", "der Hund")] * 20
    settings = {
        "training.steps": 20,
        "training.threads": 1,
        "training.warmup": 10,
        "training.learning_rate_factor": 0.3,
        "data.source_tokens": 256,
        "data.target_tokens": 256,
        "data.drop_duplicates": False,
    }
    run = transduce.train(tmp_path / "run", pairs, pairs[:2], parent=imported[1], settings=settings)
    before = transduce.load(imported[1]).likelihood(pairs[:2])
    nats = -sum(output.log_prob for output in before) / 7  # symbols of both targets
    validation = run.progress.last_validation
    assert validation is not None
    assert validation.nats < nats / 2
    assert load_model(imported[1]).hash == read_run(run.folder).fingerprints["parent"]
    for program in ("huggingface", "ctranslate2"):
        transduce.export(run.folder, to=program, output=tmp_path / program)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"model_type": "bart"}, "model_type is 'bart', not 'marian'"),
        ({"decoder_ffn_dim": 9}, "ffn_dim of encoder and decoder differ: 10 and 9"),
        ({"activation_function": "gelu"}, "activation_function is 'gelu'"),
        ({"normalize_before": True}, "normalize_before is True, not False"),
        ({"d_model": None}, "d_model is None, not a size"),
        ({"d_model": 16, "encoder_attention_heads": 3}, "d_model is 16, of 3 heads"),
        ({"eos_token_id": -1}, "eos_token_id is -1, not an id"),
        ({"pad_token_id": 99, "decoder_start_token_id": 99}, "symbol 99, and the weights have"),
        ({"encoder_ffn_dim": 11, "decoder_ffn_dim": 11}, "has the shape"),
    ],
)
def test_a_configuration_that_cannot_be_expressed_is_refused(tmp_path, change, fact):
    write_checkpoint(tmp_path / "checkpoint", **change)
    with pytest.raises((InputError, FolderError)) as refused:
        transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    assert fact in refused.value.fact
    assert refused.value.hint
    assert not (tmp_path / "model").exists()


def write_bytes(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def pickle_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (pickle_weights, "is not there.*may hold code and is not opened"),
        (write_bytes("model.safetensors", b"\x80\x04."), "is no safetensors file"),
        (write_bytes("source.spm", b"\x0a\x7fcut"), "is no SentencePiece model"),
        (write_bytes("target.spm", spm(TARGET, kind=2)), "is no unigram SentencePiece model"),
        (write_bytes("vocab.json", b'{"</s>": 0, "<unk>": 2}'), "does not number its symbols"),
        (write_bytes("vocab.json", b'{"</s>": 0, ">>fra<<": 1}'), "codes of target languages"),
        (write_bytes("vocab.json", b'{"</s>": 0, "a": 1}'), "has no symbol <unk>"),
        (lambda folder: (folder / "config.json").unlink(), "cannot be read"),
        (write_bytes("config.json", b"{}"), "names no model_type.*is it a checkpoint"),
        (
            write_bytes("config.json", b'{"model_type": "marian"}'),
            "encoder_attention_heads is missing.*take the checkpoint from its source again",
        ),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, spoil, message):
    folder = tmp_path / "checkpoint"
    write_checkpoint(folder)
    spoil(folder)
    with pytest.raises((InputError, FolderError)) as refused:
        transduce.import_model(folder, tmp_path / "model")
    first, *rest = message.split(".*")
    assert first in refused.value.fact
    assert all(one in refused.value.hint for one in rest)
    assert not (tmp_path / "model").exists()


def test_a_target_list_without_the_unknown_symbol_is_named(tmp_path):
    write_checkpoint(tmp_path / "checkpoint", share_encoder_decoder_embeddings=False)
    write_bytes("target_vocab.json", b'{"</s>": 0, "a": 1}')(tmp_path / "checkpoint")
    with pytest.raises(FolderError, match=r"/target_vocab\.json: has no symbol <unk>"):
        transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")


@pytest.mark.parametrize("kind", [4, 6])  # a user-defined symbol, a byte
def test_sound_models_with_pieces_of_other_kinds_are_not_called_damaged(tmp_path, kind):
    write_checkpoint(tmp_path / "checkpoint")
    pieces = spm(SOURCE | {"<0x41>": 0.0}, types=[("<0x41>", kind)])
    (tmp_path / "checkpoint/source.spm").write_bytes(pieces)
    with pytest.raises(InputError, match="has pieces that are single bytes or symbols of its own"):
        transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")


def test_a_vocabulary_file_that_was_edited_is_refused(imported):
    vocabulary = (imported[1] / "source.vocabulary.json").read_bytes()
    again = Vocabulary.from_bytes(vocabulary)
    assert again.encode(LINE) == transduce.load(imported[1]).task.source.encode(LINE)
    values = json.loads(vocabulary)
    values["model"]["vocab"][5][0] = "<s>"
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(json.dumps(values).encode())


def test_literal_special_symbols_in_a_text_are_text(imported):
    source = transduce.load(imported[1]).task.source
    assert not {0, 1} & set(source.encode("the </s> <s> dog <unk>"))


def test_a_sentencepiece_vocabulary_is_not_learned(tmp_path):
    with pytest.raises(InputError, match="is imported with its model, and not learned"):
        transduce.prepare(tmp_path / "store", [("a", "b")] * 9, recipe="history/marian")


def test_a_folder_of_ctranslate2_is_named_as_such(tmp_path):
    (tmp_path / "config.json").write_text('{"bos_token": "<s>"}')
    (tmp_path / "model.bin").write_bytes(b"")
    with pytest.raises(InputError, match="is a model of CTranslate2, whose weights"):
        read_config(tmp_path)
