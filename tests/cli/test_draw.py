"""transduce draw: a picture of a recipe's positions or learning rate."""

import pytest

import transduce


def test_the_command_writes_what_python_returns(call, tmp_path):
    out = tmp_path / "p.svg"
    ended = call("draw", "positions", "demo", "--positions", "9", "-o", out)
    assert (ended.code, ended.stderr) == (0, f"the picture: {out}\n")
    assert out.read_text(encoding="utf-8") == transduce.draw_positions("demo", positions=9)
    assert call("draw", "rate", "--steps", "500", "-o", out, "--quiet").stderr == ""
    assert out.read_text(encoding="utf-8") == transduce.draw_rate("table3/base", steps=500)


def test_settings_may_be_changed(call, tmp_path):
    out = tmp_path / "r.svg"
    assert call("draw", "rate", "demo", "--set", "training.warmup=77", "-o", out).code == 0
    assert "warmup 77," in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["positions"], "nothing says where the picture goes"),
        (["positions", "-o", "p.png"], "p.png is not .svg"),
        (["positions", "demo", "tiny", "-o", "p.svg"], "positions are drawn for one recipe"),
        (["positions", "--steps", "5", "-o", "p.svg"], "--steps is for the learning rate"),
        (["rate", "--positions", "5", "-o", "p.svg"], "--positions is for the positions"),
        (["positions", "table3/E-learned", "-o", "p.svg"], "learns its positions"),
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
        "error: missing argument '{positions|rate}'. Choose from: positions, rate\n"
        "hint: usage: transduce draw [OPTIONS] {positions|rate} [RECIPE]... "
        "[-o OUTPUT]; --help lists the options\n"
    )
