"""`transduce read`: write the paper's code as an annotated edition."""

from pathlib import Path

from transduce.cli import display, options
from transduce.cli.options import option
from transduce.errors import InputError


@options.make_command("read", options.quiet)
def command(
    *,
    output: Path | None = options.output("The page to write, a name ending in .html."),
    language: str = option(
        "The language of the page's own words, en or de (default: the browser's choice).",
        default="",
    ),
) -> None:
    """Write the paper's code as a page, with prose, tests and a tiny model's values beside it.

    The page goes through the paper section by section. It is one file that needs no network.

    \b
    transduce read -o edition.html
    """
    if output is None or output.suffix != ".html":
        fact = "nothing says where the page goes" if output is None else f"{output} is not .html"
        raise InputError(fact, "-o edition.html")
    options.require_writable(output)
    from transduce.view.edition.edition import read

    display.print_note(f"the page: {read(output, language=language)}")
