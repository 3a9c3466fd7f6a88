"""The run folder's first file."""

import json
import random
from pathlib import Path

import pytest

from transduce.checkpoint import create_run, is_run, read_run
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.durable import to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

FILE = Path("recipe.json")
RECIPE = with_changes(
    Recipe(name="tiny", about="für Tests"),
    {"training.steps": 7, "training.learning_rate_factor": 0.1},
)


def test_what_a_run_is_comes_back(tmp_path):
    run = create_run(tmp_path / "run", RECIPE, {"store": "abc"})
    assert read_run(tmp_path / "run") == run
    assert (run.recipe, run.fingerprints) == (RECIPE, {"store": "abc"})
    assert is_run(tmp_path / "run")
    assert not is_run(tmp_path)


def test_two_runs_are_never_the_same(tmp_path):
    assert create_run(tmp_path / "a", RECIPE, {}).id != create_run(tmp_path / "b", RECIPE, {}).id


def test_a_run_begins_once(tmp_path):
    create_run(tmp_path, RECIPE, {})
    with pytest.raises(InputError, match=r"run\.json: exists already"):
        create_run(tmp_path, RECIPE, {})


def test_a_folder_of_something_else_is_no_run(tmp_path):
    with pytest.raises(FolderError, match="is not a run folder"):
        read_run(tmp_path)


def test_no_flip_of_any_bit_goes_through(tmp_path):
    create_run(tmp_path, RECIPE, {"store": "abc"})
    file = tmp_path / "run.json"
    whole = file.read_bytes()
    for place in range(len(whole)):
        bit = random.Random(place).randrange(8)
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        with pytest.raises(FolderError, match=r"run\.json: "):
            read_run(tmp_path)


def test_a_newer_run_says_what_to_install(tmp_path):
    create_run(tmp_path, RECIPE, {})
    file = tmp_path / "run.json"
    file.write_bytes(file.read_bytes().replace(b'"format": 1', b'"format": 2'))
    with pytest.raises(FolderError, match="has format 2") as error:
        read_run(tmp_path)
    assert "install a newer transduce" in error.value.hint


@pytest.mark.parametrize("change", [{"id": 3}, {"fingerprints": []}, {"more": 1}])
def test_a_run_file_of_another_shape_is_refused(tmp_path, change):
    values = {"id": "a", "recipe": RECIPE.as_json(), "fingerprints": {}, **change}
    (tmp_path / "run.json").write_bytes(to_checksummed_json(values))
    with pytest.raises(FolderError, match="is not as a run's first file is written"):
        read_run(tmp_path)


def test_a_recipe_from_before_a_setting_existed_does_what_was_done_then():
    younger = {"precision": "float32", "compile": False, "pad_to_tokens": 0}
    for name, before in younger.items():
        values = changed(lambda v, name=name: v["training"].pop(name))
        assert getattr(parse_stored_recipe(values, FILE).training, name) == before


def test_a_stored_recipe_comes_back_from_json():
    values = json.loads(json.dumps(RECIPE.as_json()))
    assert parse_stored_recipe(values, FILE) == RECIPE


def changed(change):
    values = json.loads(json.dumps(RECIPE.as_json()))
    change(values)
    return values


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(layers=6), "unknown setting 'layers'"),
        (lambda v: v["training"].update(step=6), "unknown setting 'training.step'"),
        (lambda v: v["training"].pop("steps"), r"the recipe lacks training\.steps"),
        (lambda v: v.pop("search"), r"the recipe lacks search\.beam, search\.alpha"),
        (lambda v: v.pop("because"), "the recipe lacks because"),
        (lambda v: v["training"].update(steps=7.5), r"training\.steps must be a whole number"),
        (lambda v: v["architecture"].update(d_model=7), r"architecture\.d_model must be even"),
        (lambda v: v.update(name=3), "name must be text"),
        (lambda v: v.update(training=3), "training is a table of settings"),
    ],
)
def test_a_stored_recipe_has_every_setting_and_no_other(change, said):
    with pytest.raises(FolderError, match=said) as error:
        parse_stored_recipe(changed(change), FILE)
    assert error.value.fact.startswith("recipe.json: ")


def test_a_recipe_that_is_no_table_is_refused():
    with pytest.raises(FolderError, match="holds no recipe"):
        parse_stored_recipe([], FILE)
