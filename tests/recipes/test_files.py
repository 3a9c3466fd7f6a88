"""Recipes in files of one's own."""

import json
import os
from pathlib import Path

import pytest

from transduce.errors import InputError
from transduce.recipes import by_name, from_file
from transduce.recipes.choice import customise_recipe


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        from_file(path)
    return str(error.value).replace(str(path), "FILE")


def test_a_file_changes_the_recipe_that_it_starts_from(tmp_path):
    path = written(tmp_path, 'start = "table3/big"\n[training]\nsteps = 2_000\n')
    recipe = from_file(path)
    assert recipe.name == "mine"
    assert recipe.about == "table3/big, changed by mine.toml"
    assert recipe.training.steps == 2000
    assert recipe.training.average_last == 20
    assert recipe.architecture == by_name("table3/big").architecture


def test_without_a_start_a_file_changes_the_base_model(tmp_path):
    recipe = from_file(written(tmp_path, 'name = "my own"\n[architecture]\nlayers = 2\n'))
    assert recipe.name == "my own"
    assert recipe.architecture == by_name("table3/C-N2").architecture


def test_json_is_read_too_as_a_model_folder_holds_it(tmp_path):
    path = written(tmp_path, json.dumps(by_name("demo").as_json()), "recipe.json")
    assert from_file(path) == by_name("demo")


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path):
    path = written(tmp_path, "\ufeff[training]\nsteps = 7\n")
    assert from_file(path).training.steps == 7


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        (
            "a.json",
            '{"about": "x", "about": "y"}',
            "read: key 'about' stands twice",
        ),
        ("a.json", '{"search": {"alpha": NaN}}', "NaN is no number"),
        ("a.json", "[" * 100_000, "nested too deep"),
        ("a.json", '{"about": "\\ud800"}', "no recipe can be read"),
        ("a.toml", "x = " + "[" * 100_000, "nested too deep"),
        ("a.toml", "about = 1\nabout = 2\n", "no recipe can be read"),
        ("a.toml", "#" * (1 << 20) + "\n", "has more than 1,048,576 bytes"),
    ],
)
def test_a_file_that_could_mean_two_things_or_has_no_end_is_refused(tmp_path, name, text, answer):
    assert answer in refusal(written(tmp_path, text, name))


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    assert "is no regular file" in refusal(tmp_path / "pipe.toml")


def test_the_name_of_another_recipe_is_refused(tmp_path):
    path = written(tmp_path, 'name = "table3/base"\n[training]\nsteps = 7\n')
    assert refusal(path) == (
        "FILE: the name 'table3/base' belongs to another recipe\n"
        "hint: a recipe's name never changes meaning: choose a name of your own"
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[training]\nstep = 7", "FILE: unknown setting 'training.step'\nhint: did you mean tra"),
        ("[trainin]\nsteps = 7", "FILE: unknown setting 'trainin'\nhint: did you mean training?"),
        ('start = "big"', "FILE: unknown recipe 'big'\nhint: "),
        ("start = 3", "FILE: start must be the name of a recipe, not 3\nhint: a recipe reads"),
        ("training = 3", "FILE: training is a table of settings, not 3"),
        ("[training]\nsteps = true", "FILE: training.steps must be a whole number, not True"),
        ('[training]\nsteps = "3"', "FILE: training.steps must be a whole number, not '3'"),
        (
            '[search]\nconstrained = "true"',
            "FILE: search.constrained must be true or false, not 't",
        ),
        ('name = ""', "FILE: '' is no name of a recipe"),
        ('name = " "', "FILE: ' ' is no name of a recipe"),
        ('name = "a\\nb"', r"FILE: 'a\nb' is no name of a recipe"),
        ('about = "a\\u001b[31m"', "FILE: about has a line end or another character"),
        ('because = "a\\nb"', "FILE: because has a line end or another character"),
        ("[training]\nsteps = 0", "FILE: training.steps must be more than 0, not 0"),
        ("[training]\nsteps = \n", "FILE, line 2: no recipe can be read: Invalid value"),
    ],
)
def test_errors_in_a_file_are_reported_with_their_line(tmp_path, text, answer):
    assert refusal(written(tmp_path, text)).startswith(answer)


def test_wrong_json_is_refused_with_its_line(tmp_path):
    path = written(tmp_path, '{"training":\n {"steps": }}', "mine.json")
    assert refusal(path).startswith("FILE, line 2: no recipe can be read: ")


def test_json_that_is_no_table_is_refused(tmp_path):
    path = written(tmp_path, "[1, 2]", "mine.json")
    assert refusal(path).startswith("FILE: a recipe is a table of settings, not [1, 2]")


def test_a_missing_file_is_refused(tmp_path):
    assert refusal(tmp_path / "none.toml") == (
        "FILE: cannot be read: No such file or directory\n"
        "hint: `transduce recipes` lists those with a name"
    )


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "f\xfcnf"')
    assert refusal(tmp_path / "latin.toml").startswith("FILE: not UTF-8 text\nhint: a recipe reads")


def test_a_name_that_begins_with_one_of_ours_is_the_users(tmp_path):
    recipe = from_file(written(tmp_path, 'name = "demo x"\n[architecture]\nlayers = 2\n'))
    assert customise_recipe(recipe, {"training.steps": 4}).name == "demo x"
    assert customise_recipe(by_name("demo"), {"training.steps": 4}).name != "demo"
