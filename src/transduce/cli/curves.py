"""`transduce curves`: draw training curves as a live page, or as an HTML, image or CSV file."""

from contextlib import suppress
from pathlib import Path

import click

from transduce.cli import display, options, signals
from transduce.cli.options import argument, flag, option
from transduce.settings.fields import require


@options.make_command("curves", options.quiet)
def command(
    *,
    runs: tuple[Path, ...] = argument(nargs=-1, required=True),
    output: Path | None = options.output(
        "The page (.html), the picture (.svg, .png) or the figures (.csv) to write."
    ),
    full: bool = flag(
        "Keep every update in the page. Otherwise a run of more than 200,000 updates keeps its "
        "last 10,000 and merges earlier ones in blocks of 64."
    ),
    serve: bool = flag("Keep the page up to date at an address of this machine."),
    port: int | None = option(
        "The port of that address; a free one if it is not given.", type=click.IntRange(0, 65535)
    ),
) -> None:
    """Draw the training curves of RUNS as a page, live or a file, a picture or CSV.

    The page is one file that needs no network: several runs over each other, by update, token or
    time, to zoom into and read values from. In a picture each run has a colour; a thin line is the
    training text, a thick one with points the development set. Pictures need the package
    matplotlib: pip install matplotlib. A .csv file has a line for each validation and for
    the last update. A run may still be training.

    \b
    transduce curves run -o curves.html
    transduce curves run other-run -o curves.svg
    transduce curves run --serve
    """
    fact = "either -o or --serve" if serve else "nothing says where the curves go"
    hint = "-o curves.html for a file, --serve for a page that stays up to date"
    require((output is None) == serve, fact, hint)
    hint = "transduce curves run --serve --port 8000"
    require(port is None or serve, "--port needs --serve", hint)
    is_page = output is not None and output.suffix == ".html"
    require(is_page or not full, "--full is for pages", "-o curves.html --full")
    if output is None:
        from transduce.view.curves.server import CurvesServer

        signals.ignore_checkpoint_signal()
        with CurvesServer(runs, port or 0) as server, suppress(KeyboardInterrupt):
            display.print_result(server.address)
            display.flush_output()
            about = "the page stays up to date until Ctrl-C; only this machine can open it"
            display.print_note(about)
            server.serve_forever(poll_interval=0.2)
        return
    from transduce.view.curves.curves import curves, require_curves_output

    kind = require_curves_output(output)
    options.require_writable(output)
    display.print_logged_warnings("matplotlib")
    curves(*runs, output=output, full=full)
    display.print_note(f"the {kind}: {output}")
