"""The parameter type of all paths on the command line."""

from typing import Any, final

import click


@final
class FilePath(click.Path):
    """The parameter type for a path; an empty one, such as of an unset variable, is refused.

    As a `Path` it would be this folder.
    """

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401
        """Convert the text of a path to a `Path`."""
        if value == "":
            self.fail("an empty path; a dot (.) names this folder", param, ctx)
        return super().convert(value, param, ctx)
