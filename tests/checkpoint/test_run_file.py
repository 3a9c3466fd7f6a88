"""run.json, and the recipe as it is stored there."""

import json
import random
from pathlib import Path

import pytest

from transduce.checkpoint import stored_recipe
from transduce.checkpoint.run_file import create_run, is_run, read_run
from transduce.checkpoint.stored_recipe import ADDED_LATER, parse_stored_recipe
from transduce.durable.json import FORMAT, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

FILE = Path("recipe.json")
FIRST_SETTINGS = set(Path(__file__).with_name("first_settings.txt").read_text("ascii").split())
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
    for offset in range(len(whole)):
        bit = random.Random(offset).randrange(8)
        file.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1 << bit]) + whole[offset + 1 :])
        with pytest.raises(FolderError, match=r"run\.json: "):
            read_run(tmp_path)


def test_a_newer_run_says_what_to_install(tmp_path):
    create_run(tmp_path, RECIPE, {})
    file = tmp_path / "run.json"
    file.write_bytes(
        file.read_bytes().replace(b'"format": %d' % FORMAT, b'"format": %d' % (FORMAT + 1))
    )
    with pytest.raises(FolderError, match=f"has format {FORMAT + 1}") as error:
        read_run(tmp_path)
    assert "install a newer transduce" in error.value.hint


@pytest.mark.parametrize("change", [{"id": 3}, {"fingerprints": []}, {"more": 1}])
def test_a_run_file_of_another_shape_is_refused(tmp_path, change):
    values = {"id": "a", "recipe": RECIPE.as_json(), "fingerprints": {}, **change}
    (tmp_path / "run.json").write_bytes(to_checksummed_json(values))
    with pytest.raises(FolderError, match="is not as a run's first file is written"):
        read_run(tmp_path)


def test_every_setting_is_one_of_the_first_or_has_a_value_for_older_recipes():
    """A new setting without such a value would make every stored run and model unreadable."""
    forgotten = set(RECIPE.flat_settings()) - FIRST_SETTINGS - set(ADDED_LATER)
    assert not forgotten, (
        f"{', '.join(sorted(forgotten))}: add it to ADDED_LATER in checkpoint/stored_recipe.py, "
        "with the value that acts as the program did before the setting existed; never to "
        "tests/checkpoint/first_settings.txt"
    )


def test_no_setting_of_the_first_stored_recipes_is_gone():
    gone = FIRST_SETTINGS - set(RECIPE.flat_settings())
    assert not gone, f"{', '.join(sorted(gone))}: stored recipes still have it; keep it readable"


def test_a_recipe_without_the_settings_added_later_is_read_with_their_old_values():
    parsed = parse_stored_recipe(without_settings(ADDED_LATER), FILE)
    assert {path: parsed.flat_settings()[path] for path in ADDED_LATER} == ADDED_LATER


@pytest.mark.parametrize("path", sorted(Recipe(name="any").flat_settings()))
def test_a_stored_recipe_without_a_setting_has_its_old_value_or_is_refused(path, monkeypatch):
    """Parametrised over all settings: each as if added later, and as one of the first."""
    before = RECIPE.flat_settings()[path]
    monkeypatch.setattr(stored_recipe, "ADDED_LATER", {path: before})
    assert parse_stored_recipe(without_settings([path]), FILE) == RECIPE
    monkeypatch.setattr(stored_recipe, "ADDED_LATER", {})
    with pytest.raises(FolderError, match=f"the recipe lacks {path}"):
        parse_stored_recipe(without_settings([path]), FILE)


def without_settings(paths):
    """Return the stored recipe as it was before these settings existed."""
    values = json.loads(json.dumps(RECIPE.as_json()))
    for path in paths:
        table, name = path.split(".")
        del values[table][name]
    return values


def test_a_stored_recipe_comes_back_from_json():
    values = json.loads(json.dumps(RECIPE.as_json()))
    assert parse_stored_recipe(values, FILE) == RECIPE


def changed(change):
    values = json.loads(json.dumps(RECIPE.as_json()))
    change(values)
    return values


@pytest.mark.parametrize(
    ("change", "message"),
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
def test_a_stored_recipe_has_every_setting_and_no_other(change, message):
    with pytest.raises(FolderError, match=message) as error:
        parse_stored_recipe(changed(change), FILE)
    assert error.value.fact.startswith("recipe.json: ")


def test_a_recipe_that_is_no_table_is_refused():
    with pytest.raises(FolderError, match="holds no recipe"):
        parse_stored_recipe([], FILE)
