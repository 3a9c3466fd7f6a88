"""Pages that are made from the code are as fresh as it is."""

from collections.abc import Iterator

import click
from tests.golden import compared, python_page, results, settings_page

import transduce as product
from transduce.cli.main import transduce

ABOUT = "Made from the commands' own `--help` by `scripts/renew-golden pages`; do not edit.\n"


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """A command and all below it, each with its help."""
    yield context.command_path, context.get_help()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from helps(inner, click.Context(inner, info_name=name, parent=context))


def test_the_page_of_commands_is_fresh(golden):
    top = click.Context(
        transduce, info_name="transduce", terminal_width=90, **transduce.context_settings
    )
    parts = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in helps(transduce, top)]
    golden("docs/reference/commands.md", "\n".join(["# Commands\n", ABOUT, *parts]))


def test_the_page_of_results_is_fresh(golden):
    golden("docs/records/results.md", results.page())


def test_the_pictures_of_amounts_of_training_trees_are_fresh(golden):
    for file in sorted(results.RECORDED.glob("*-amounts.jsonl")):
        golden(f"docs/records/pictures/{file.stem}.svg", compared.draw_amounts(file))


def test_the_drawings_of_the_guide_are_fresh(golden):
    folder = "docs/guide/pictures"
    golden(f"{folder}/figure1.svg", product.draw_model())
    golden(f"{folder}/figure2.svg", product.draw_attention())
    golden(f"{folder}/positions.svg", product.draw_positions("demo", positions=60))
    golden(f"{folder}/rate.svg", product.draw_rate("table3/base", "table3/big"))


def test_the_page_of_settings_is_fresh(golden):
    golden("docs/reference/settings.md", settings_page.settings_page())


def test_the_page_of_the_python_api_is_fresh(golden):
    golden("docs/reference/python.md", python_page.python_page())
