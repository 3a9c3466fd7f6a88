"""Pages that are made from the code are as fresh as it is."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import NamedTuple

import click
from tests.golden import compared, python_page, results, settings_page

import transduce as product
from transduce.cli.main import transduce

ABOUT = """\
Made from the commands' own `--help` by `scripts/renew-golden pages`; do not edit. The options that
several commands share are explained [once](#options-that-several-commands-share); every command has
`--help`, which is not named below.
"""
SHARED = 2  # commands with an option of the same text, from which on it is explained once


class Help(NamedTuple):
    """The help of a command: what stands before its options, each of them, what stands after."""

    path: str
    head: str
    options: list[str]
    tail: str

    def section(self, shared: Mapping[str, str]) -> str:
        """Return the command's section of the page; shared options are named only."""
        own = [one for one in self.options if " ".join(one.split()) not in shared]
        names = [long_name(one) for one in self.options if one not in own]
        shown = f"  Shared: {', '.join(names)}" if names else "  None but --help."
        named = fill(shown, 88, subsequent_indent="    ", break_on_hyphens=False)
        text = "\n".join([f"{self.head}\n\nOptions:", *own, *([named] if names or not own else [])])
        sections_follow = " " in self.path and self.tail.startswith("\n\nCommands:")
        return f"## {self.path}\n\n```text\n{text}{'' if sections_follow else self.tail}\n```\n"


def parse_help(path: str, text: str) -> Help:
    """Split a command's help at its options."""
    head, _, rest = text.partition("\n\nOptions:\n")
    options, gap, tail = rest.partition("\n\n")
    found = [one for one in re.split(r"\n(?=  -)", options) if long_name(one) != "--help"]
    return Help(path, head, found, gap + tail)


def long_name(option: str) -> str:
    """Return the name of an option that begins with two hyphens."""
    found = re.search(r"--[\w-]+", option)
    assert found is not None
    return found[0]


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
    found = [parse_help(path, text) for path, text in helps(transduce, top)]
    counts = Counter(" ".join(option.split()) for one in found for option in one.options)
    widest = sorted((option for one in found for option in one.options), key=len)
    texts = {" ".join(option.split()): option for option in widest}
    # of several texts of one name only the most frequent is shared: a name leads to one text
    frequent = {long_name(words): words for words, _ in reversed(counts.most_common())}
    shared = {words: texts[words] for words in frequent.values() if counts[words] >= SHARED}
    once = "\n".join(sorted(shared.values(), key=long_name))
    parts = [one.section(shared) for one in found]
    last = f"## Options that several commands share\n\n```text\n{once}\n```\n"
    golden("docs/reference/commands.md", "\n".join(["# Commands\n", ABOUT, *parts, last]))


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
