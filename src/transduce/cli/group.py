"""A click group that suggests the nearest command names for an unknown one."""

import click

from transduce.errors import InputError, suggest_names


class Commands(click.Group):
    """A group of commands that suggests the nearest names for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, and the rest; refuse unknown names."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            raise InputError(f"unknown command {name!r}", suggest_names(name, known))
        return super().resolve_command(ctx, args)
