"""The model folder: what was saved is what is loaded, or the file that differs is named."""

import hashlib
import json

import pytest
import torch

from transduce.checkpoint.model_files import is_model
from transduce.checkpoint.run_file import create_run, is_run
from transduce.checkpoint.stored_model import load_model, save_model
from transduce.durable.folder import atomic_folder, open_folder
from transduce.errors import FolderError, InputError, NotFiniteError
from transduce.settings import Recipe
from transduce.settings.counts import count_parameters
from transduce.settings.recipe import with_changes
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

RECIPE = Recipe(name="tiny", about="für Tests")
TWO = with_changes(
    RECIPE, {"data.shared_vocabulary": False, "architecture.tie_embeddings": "target"}
)
ENGLISH = learn_vocabulary(["a dog runs", "a cat runs"] * 3, 260)
GERMAN = learn_vocabulary(["ein Hund rennt", "eine Katze rennt"] * 3, 262)
WEIGHTS = {"w": torch.arange(6.0).view(2, 3) / 7, "v": torch.tensor([-0.0, 1e-40])}
ORIGIN = {"run": "0123456789abcdef", "averaged": [1, 2]}
CARD = "# tiny\n"


@pytest.fixture
def model(tmp_path):
    save_model(
        tmp_path / "m",
        WEIGHTS,
        RECIPE,
        Vocabularies(ENGLISH, ENGLISH),
        CARD,
        about=ORIGIN,
    )
    return tmp_path / "m"


def test_a_model_comes_back_to_the_bit(model):
    found = load_model(model)
    assert found.weights.keys() == WEIGHTS.keys()
    assert all(torch.equal(found.weights[name], WEIGHTS[name]) for name in WEIGHTS)
    assert torch.signbit(found.weights["v"]).tolist() == [True, False]
    assert found.recipe == RECIPE
    assert found.about == ORIGIN
    assert found.vocabularies.source is found.vocabularies.target
    assert found.vocabularies.source.hash == ENGLISH.hash
    assert found.hash == hashlib.sha256((model / "manifest.json").read_bytes()).hexdigest()


def test_its_files_are_those_that_people_expect(model):
    names = {file.name for file in model.iterdir()}
    assert names == {
        "model.safetensors", "recipe.json", "vocabulary.json", "manifest.json", "README.md",
        "figure1.svg",
    }  # fmt: skip
    symbols = len(ENGLISH)
    count = count_parameters(RECIPE.architecture, symbols, symbols)
    assert f"= {count:,} parameters" in (model / "figure1.svg").read_text(encoding="utf-8")
    assert (model / "README.md").read_text(encoding="utf-8") == CARD
    assert json.loads((model / "recipe.json").read_bytes()) == RECIPE.as_json()
    assert (model / "vocabulary.json").read_bytes() == ENGLISH.to_bytes()


def test_two_vocabularies_have_a_file_each(tmp_path):
    save_model(tmp_path / "m", WEIGHTS, TWO, Vocabularies(ENGLISH, GERMAN), CARD)
    found = load_model(tmp_path / "m")
    assert [vocabulary.hash for vocabulary in found.vocabularies] == [ENGLISH.hash, GERMAN.hash]
    assert (tmp_path / "m" / "source.vocabulary.json").read_bytes() == ENGLISH.to_bytes()
    assert (tmp_path / "m" / "target.vocabulary.json").read_bytes() == GERMAN.to_bytes()


def test_the_same_model_gives_the_same_bytes(model, tmp_path):
    save_model(
        tmp_path / "n",
        WEIGHTS,
        RECIPE,
        Vocabularies(ENGLISH, ENGLISH),
        CARD,
        about=ORIGIN,
    )
    assert load_model(tmp_path / "n").hash == load_model(model).hash


def test_a_model_is_not_written_over(model):
    with pytest.raises(InputError, match="exists already"):
        save_model(model, WEIGHTS, RECIPE, Vocabularies(ENGLISH, ENGLISH), CARD)


def test_a_model_that_is_not_finite_is_never_saved(tmp_path):
    with pytest.raises(NotFiniteError, match="the model: w holds numbers that are not finite"):
        save_model(
            tmp_path / "m",
            {"w": torch.tensor(torch.inf)},
            RECIPE,
            Vocabularies(ENGLISH, ENGLISH),
            CARD,
        )
    assert not (tmp_path / "m").exists()


def test_runs_and_models_are_distinguished(model, tmp_path):
    create_run(tmp_path / "run", RECIPE, {})
    assert (is_model(model), is_run(model)) == (True, False)
    assert (is_model(tmp_path / "run"), is_run(tmp_path / "run")) == (False, True)
    assert (is_model(tmp_path), is_run(tmp_path)) == (False, False)
    assert (is_model(tmp_path / "no"), is_run(tmp_path / "no")) == (False, False)


@pytest.mark.parametrize("name", ["model.safetensors", "recipe.json", "vocabulary.json"])
def test_damage_of_any_kind_is_named(model, name):
    whole = (model / name).read_bytes()
    offsets = {0, 7, 8, len(whole) // 3, len(whole) // 2, len(whole) - 2, len(whole) - 1}
    for offset in offsets:
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << offset % 8
        (model / name).write_bytes(damaged)
        expected = hashlib.sha256(whole).hexdigest()
        found = hashlib.sha256(damaged).hexdigest()
        with pytest.raises(FolderError, match=f"/{name}: .*sha256 {expected}, found {found}"):
            load_model(model)
        (model / name).write_bytes(whole[:offset])
        with pytest.raises(FolderError, match=f"/{name}: "):
            load_model(model)
    (model / name).unlink()
    with pytest.raises(FolderError, match=f"/{name}: is missing"):
        load_model(model)


def test_a_card_that_was_edited_is_no_reason_not_to_translate_but_shows(model):
    (model / "README.md").write_text("my own words", encoding="utf-8")
    assert load_model(model).recipe == RECIPE
    with pytest.raises(FolderError, match=r"README\.md: is not as it was written"):
        open_folder(model, "model").verify()


def foreign(path, **changes):
    """A folder as a stranger could make it: its sums are right, its content is not."""
    files = {
        "model.safetensors": b"\0" * 8,
        "recipe.json": json.dumps(RECIPE.as_json()).encode(),
        "vocabulary.json": ENGLISH.to_bytes(),
        "README.md": b"",
    }
    with atomic_folder(path, kind="model", about={}) as writer:
        for name, data in {**files, **changes}.items():
            if data is not None:
                writer.write(name, data)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, r"model\.safetensors: is no JSON that can be used"),
        ({"model.safetensors": b"PK\x03\x04" * 50}, r"model\.safetensors: is no safetensors file"),
        ({"recipe.json": b'{"name": "x", "import": "os"}'}, r"recipe\.json: .* setting 'import'"),
        ({"recipe.json": b'{"name": "x"}'}, r"recipe\.json: the recipe lacks about"),
        ({"recipe.json": b'{"name": "x", "name": "y"}'}, r"recipe\.json: .*'name' stands twice"),
        ({"recipe.json": b" " * 2_000_000}, r"recipe\.json: has 2,000,000 bytes, over 1,048,576"),
        ({"vocabulary.json": None}, r"has no source\.vocabulary\.json"),
        ({"recipe.json": None}, r"has no recipe\.json"),
    ],
)
def test_a_strangers_folder_is_data_that_is_refused_with_its_file(tmp_path, changes, message):
    with pytest.raises(FolderError, match=message):
        load_model(foreign(tmp_path / "m", **changes))


def test_a_strangers_vocabulary_is_refused_with_its_file(tmp_path):
    safe = torch.zeros(1)
    save_model(tmp_path / "good", {"w": safe}, RECIPE, Vocabularies(ENGLISH, ENGLISH), CARD)
    weights = (tmp_path / "good" / "model.safetensors").read_bytes()
    path = foreign(
        tmp_path / "m", **{"model.safetensors": weights, "vocabulary.json": b'{"model": {}}'}
    )
    with pytest.raises(FolderError, match=r"m/vocabulary\.json: .*no vocabulary of transduce"):
        load_model(path)
