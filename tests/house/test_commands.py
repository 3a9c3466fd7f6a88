"""The table of commands, their files and the pages about them agree."""

from pathlib import Path

import click
import pytest

from transduce.cli.main import COMMANDS, transduce

ROOT = Path(__file__).parents[2]


def test_every_command_has_its_file_and_every_file_its_command():
    files = (ROOT / "src/transduce/cli").glob("*.py")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in files}
    assert {name for name, text in texts.items() if "\ndef command(" in text} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_table_is_the_first_of_the_command_s_help(name):
    command = transduce.get_command(click.Context(transduce), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name):
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    assert f"\n## transduce {name}\n" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    command = transduce.get_command(click.Context(transduce), name)
    assert command is not None
    inner = command.commands.values() if isinstance(command, click.Group) else [command]
    options = [o for c in inner for o in c.params if isinstance(o, click.Option)]
    assert [option.name for option in options if not option.help] == []
