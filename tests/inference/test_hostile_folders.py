"""Model folders that a stranger made: refused before a model is built or memory is taken."""

import json

import pytest
from tests.inference.random_models import random_translator

import transduce
from transduce.checkpoint.stored_model import save_model
from transduce.durable.folder import atomic_folder
from transduce.durable.json import to_checksummed_json
from transduce.errors import FolderError
from transduce.vocabulary.vocabulary import Vocabularies

MODEL = random_translator()


@pytest.fixture
def files(tmp_path):
    """The files of a sound model folder, by name."""
    weights = MODEL.models[0].named_weights()
    vocabularies = Vocabularies(MODEL.task.source, MODEL.task.target)
    save_model(tmp_path / "sound", weights, MODEL.recipe, vocabularies, "")
    return {path.name: path.read_bytes() for path in (tmp_path / "sound").iterdir()}


def reseal(folder, files, **changes):
    """Write a folder whose checksums are right, with other contents of some files."""
    with atomic_folder(folder, kind="model", about={}) as writer:
        for name, data in {**files, **changes}.items():
            if name != "manifest.json":
                writer.write(name, data)
    return folder


def with_sizes(recipe, **sizes):
    """A recipe.json with other sizes of the model."""
    values = json.loads(recipe)
    values["architecture"] |= sizes
    return json.dumps(values).encode()


def test_a_sound_folder_that_was_written_anew_is_loaded(files, tmp_path):
    assert transduce.load(reseal(tmp_path / "same", files))("a dog") == MODEL("a dog")


@pytest.mark.parametrize(
    "sizes",
    [
        {"layers": 1_000, "d_ff": 65_536},
        {"layers": 1_000, "d_model": 65_536, "d_ff": 65_536, "heads": 1_000, "d_k": 65_536},
        {"layers": 2},
        {"positions": "learned"},
    ],
)
def test_a_recipe_of_a_larger_model_is_refused_before_a_model_is_built(
    files, tmp_path, monkeypatch, sizes
):
    monkeypatch.setattr("transduce.inference.load.Transformer", None)
    recipe = with_sizes(files["recipe.json"], **sizes)
    with pytest.raises(FolderError, match=r"has [\d,]+ weights, and the model of its recipe has"):
        transduce.load(reseal(tmp_path / "large", files, **{"recipe.json": recipe}))


def test_a_sparse_file_of_a_terabyte_is_refused_unread(files, tmp_path):
    folder = reseal(tmp_path / "sparse", files)
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(1 << 40)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["sha256"], manifest["format"]
    manifest["files"]["model.safetensors"]["size"] = 1 << 40
    (folder / "manifest.json").write_bytes(to_checksummed_json(manifest))
    with pytest.raises(FolderError, match="of which the disk holds less than a thousandth"):
        transduce.load(folder)
