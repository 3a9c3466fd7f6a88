"""`transduce explain`: write a page in which a small model runs and shows every step."""

from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.options import argument, flag, option
from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError
from transduce.view.explainer import MAX_WEIGHTS


@options.make_command("explain", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    texts: tuple[str, ...] = argument(nargs=-1, metavar="[TEXT]..."),
    output: Path | None = options.output("The page to write, a name ending in .html."),
    exact: bool = flag("Store weights in 32 bits, instead of 16."),
    max_weights: int = option(
        "Refuse a model of more weights, which would be slow in a page.",
        type=click.IntRange(min=1),
        default=MAX_WEIGHTS,
        show_default=True,
    ),
    tour: Path | None = option(
        "A JSON file with the steps of a tour of your own, each with title, text and link."
    ),
    language: str = option(
        "The page's language, en or de (default: the browser's choice).", default=""
    ),
    page_texts: Path | None = option(
        "A JSON file with the page's words in another language, named by its code: fr.json.",
        "--texts",
    ),
    film: Path | None = option(
        "A JSON file with the captions and pictures of a film of your own, one minute long."
    ),
    film_text: Path | None = option(
        "Also write the film as a storyboard, a name ending in .md: what is said, what is seen."
    ),
) -> None:
    """Write a page in which MODEL runs: type a sentence, and follow every step.

    MODEL is a model folder, or a run: its page has the untrained model and earlier ones, too. Each
    TEXT is a sentence that the page offers. The page is one file that needs no network.

    \b
    transduce explain model -o explainer.html
    transduce explain run "A dog runs." -o explainer.html
    """
    if output is None or output.suffix != ".html":
        fact = "nothing says where the page goes" if output is None else f"{output} is not .html"
        raise InputError(fact, "-o explainer.html")
    if film_text is not None and film_text.suffix != ".md":
        raise InputError(f"{film_text} is not .md", "--film-text film.md")
    for file in filter(None, (output, film_text)):
        options.require_writable(file, tour, page_texts, film)
    for text in texts:
        options.require_sentence(text)
    from transduce.view.explainer.explain import explain

    numbers = "float32" if exact else "float16"
    with display.show_status("trying the page's experiments"):
        found = explain(
            model,
            *texts,
            max_weights=max_weights,
            numbers=numbers,
            tour=tour,
            language=language,
            page_texts=page_texts,
            film=film,
        )
    found.write_page(output)
    if film_text is not None:
        write_atomically(resolve_output(film_text), found.storyboard.encode())
    display.print_note(f"the page: {output} ({len(found.page) / 1e6:.1f} MB)")
