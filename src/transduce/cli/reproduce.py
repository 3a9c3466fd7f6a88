"""`transduce reproduce`: a subcommand for each of the paper's tables."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType

import click

from transduce.cli.group import Commands

TABLES: Mapping[str, str] = MappingProxyType(
    {
        "table1": "Measure the layers of Table 1, and compare them with the paper's O(…).",
        "table2": "Train the rows of Table 2, and compare BLEU and cost with the paper's.",
        "table3": "Train the rows of Table 3, and compare their scores with the paper's.",
        "table4": "Train a parser, and compare its F1 with baselines and the paper's.",
    }
)


class LazyTables(Commands):
    """The group of the subcommands of `reproduce`, each imported only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the tables, which are the subcommands, in the paper's order."""
        return list(TABLES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the subcommand of a table; None for an unknown name."""
        if cmd_name not in TABLES:
            return None
        command = getattr(importlib.import_module(f"transduce.cli.reproduce_{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of tables into `--help`, without importing their subcommands."""
        with formatter.section("Tables"):
            formatter.write_dl(list(TABLES.items()))


@click.group("reproduce", cls=LazyTables, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Measure a table of the paper, and print it with the paper's numbers."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)
