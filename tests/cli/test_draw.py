"""transduce draw: a picture of a recipe's model, attention, positions or learning rate."""

import pytest
from tests.exports.random_members import random_member, save_member

import transduce
from transduce.checkpoint.run_file import read_run
from transduce.recipes import by_name
from transduce.settings.recipe import with_changes


def test_the_command_writes_what_python_returns(call, tmp_path):
    out = tmp_path / "p.svg"
    ended = call("draw", "positions", "demo", "--positions", "9", "-o", out)
    assert (ended.code, ended.stderr) == (0, f"the picture: {out}\n")
    assert out.read_text(encoding="utf-8") == transduce.draw_positions("demo", positions=9)
    assert call("draw", "rate", "--steps", "500", "-o", out, "--quiet").stderr == ""
    assert out.read_text(encoding="utf-8") == transduce.draw_rate("table3/base", steps=500)


def test_a_figure_speaks_the_language_and_has_the_theme_that_are_asked_for(call, tmp_path):
    out = tmp_path / "f.svg"
    assert call("draw", "model", "demo", "--language", "de", "--theme", "dark", "-o", out).code == 0
    assert out.read_text("utf-8") == transduce.draw_model("demo", language="de", theme="dark")
    assert call("draw", "attention", "--set", "architecture.heads=3", "-o", out).code == 0
    assert "h = 3, each n × 64" in out.read_text("utf-8")


def test_a_model_s_folder_stands_for_its_recipe(call, made, tmp_path):
    out = tmp_path / "m.svg"
    assert call("draw", "rate", made / "model", "-o", out).code == 0
    assert out.read_text("utf-8") == transduce.draw_rate(read_run(made / "run").recipe)


def test_a_model_is_drawn_with_its_own_numbers_of_symbols_as_in_its_card(call, tmp_path):
    folder, out = save_member(random_member(), tmp_path / "model"), tmp_path / "m.svg"
    assert call("draw", "model", folder, "-o", out).code == 0
    assert out.read_bytes() == (folder / "figure1.svg").read_bytes()
    assert call("draw", "model", folder, "--set", "data.vocabulary_size=999", "-o", out).code == 0
    assert "999 ×" in out.read_text("utf-8")


def test_settings_may_be_changed(call, tmp_path):
    out = tmp_path / "r.svg"
    assert call("draw", "rate", "demo", "--set", "training.warmup=77", "-o", out).code == 0
    assert "warmup 77," in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["positions"], "nothing says where the picture goes"),
        (["positions", "-o", "p.png"], "p.png is not .svg"),
        (
            ["positions", "demo", "tiny", "-o", "p.svg"],
            "`draw positions` takes one recipe, and these are 2",
        ),
        (
            ["model", "demo", "tiny", "-o", "p.svg"],
            "`draw model` takes one recipe, and these are 2",
        ),
        (["model", "--language", "fr", "-o", "p.svg"], "a figure has no language 'fr'"),
        (["attention", "--theme", "red", "-o", "p.svg"], "a figure has no theme 'red'"),
        (["rate", "--theme", "dark", "-o", "p.svg"], "--theme is for model and attention"),
        (["positions", "--steps", "5", "-o", "p.svg"], "--steps is for the learning rate"),
        (["rate", "--positions", "5", "-o", "p.svg"], "--positions is for the positions"),
        (["positions", "table3/E-learned", "-o", "p.svg"], "table3/E-learned is learned"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, arguments, fact):
    ended = call("draw", *arguments)
    assert ended.code == 2
    assert fact in ended.stderr


def test_a_missing_choice_is_answered_with_all_choices_in_one_line(call):
    ended = call("draw")
    assert ended.code == 2
    assert ended.stderr == (
        "error: missing argument '{model|attention|positions|rate}'. "
        "Choose from: model, attention, positions, rate\n"
        "hint: usage: transduce draw [OPTIONS] {model|attention|positions|rate} [RECIPE]... "
        "[-o OUTPUT]; --help lists the options\n"
    )


def test_small_rates_have_their_digits_at_the_axis():
    changes = {"training.learning_rate_factor": 0.001}
    svg = transduce.draw_rate(with_changes(by_name("table3/base"), changes))
    assert all(f">{rate}<" in svg for rate in ("0", "2e-07", "4e-07", "6e-07"))
    changes = {"training.learning_rate_factor": 1e-323}
    assert "<svg" in transduce.draw_rate(with_changes(by_name("table3/base"), changes))
