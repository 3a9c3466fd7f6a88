"""`transduce clean`: write a parallel text without the pairs that break a rule."""

from pathlib import Path

import click

from transduce.cleaning import WORST
from transduce.cli import display, options
from transduce.cli.inputs import TextOptions, WeightedFile
from transduce.cli.line_outputs import WarningPrinter
from transduce.cli.options import flag, group, option, refuse_given
from transduce.cli.searching import ModelOptions, TranslatorChoice, warn_of_sides
from transduce.settings.fields import require
from transduce.text.languages import parse_languages


@options.make_command("clean", options.quiet, options.no_progress)
def command(
    *,
    texts: TextOptions = group("source", "target", "pairs", "columns"),
    output: Path = options.output_folder("The folder of the clean text and of the report."),
    languages: tuple[str, ...] | None = option(
        "Drop pairs with a side that py3langid finds in another language (it is unsure of very "
        "short lines).",
        type=parse_languages,
        metavar="SOURCE-TARGET",
    ),
    numbers: bool = flag("Drop pairs whose sides have different numbers."),
    urls: bool = flag(
        "Drop pairs whose sides have different URLs, e-mail addresses or placeholders."
    ),
    letters: float = option(
        "Drop pairs with a side that has a smaller share of letters, such as 0.5.",
        type=click.FloatRange(0, 1),
        default=0.0,
    ),
    not_in: tuple[Path, ...] = option(
        "Drop pairs with a side that is a line of this test set, whatever its case and "
        "punctuation; may be repeated.",
        multiple=True,
    ),
    forward: Path | None = option("A model from source to target; needs --backward."),
    backward: Path | None = option(
        "A model from target to source. The pairs that both models find least probable, and of "
        "unequal probability, are dropped."
    ),
    worst: float = option(
        "With two models: the share of the pairs that is dropped.",
        type=click.FloatRange(0, 1, max_open=True),
        default=WORST,
        show_default=True,
    ),
    models: ModelOptions = group("precision", "workers", "threads"),
) -> None:
    """Find bad pairs of a parallel text by rules, and write the others.

    Pairs with an empty side, equal sides, sides of very unequal length, or a repeated phrase are
    dropped; every other rule is an option, since it also drops good pairs. OUTPUT gets pairs.tsv,
    for --pairs of other commands, and report.json: for each rule how many pairs broke it, how many
    broke no other rule, and examples.

    \b
    transduce clean --pairs web.tsv --languages en-de --not-in test.en --not-in test.de -o CLEAN
    """
    from transduce.cleaning.clean import clean

    fact = "a text is cleaned as a whole, not by weights or updates"
    require(all(one == WeightedFile(one.path) for one in texts.pairs), fact)
    text = texts.read_train()
    require(text is not None, "no text was named", "--source FILE --target FILE, or --pairs FILE")
    assert text is not None
    if forward is None and backward is None:
        names = {"precision", "workers", "threads"}
        refuse_given(names, "is for two models", "--forward MODEL --backward MODEL")
    require((forward is None) == (backward is None), "--forward and --backward need each other")
    printers, translators = (WarningPrinter(), WarningPrinter()), None
    first = texts.pairs[0].path if texts.pairs else texts.source
    if forward is not None and backward is not None:
        there, back = (
            TranslatorChoice(model, models).open(on_warning, first)
            for model, on_warning in zip((forward, backward), printers, strict=True)
        )
        translators = there, back
        warn_of_sides(there, text.read())
    with display.show_pair_count() as on_progress:
        found = clean(
            output,
            text,
            languages=languages or ("", ""),
            numbers=numbers,
            urls=urls,
            letters=letters,
            not_in=not_in,
            models=translators,
            worst=worst,
            on_progress=on_progress,
        )
    display.print_note(*found.report.describe(), f"the clean text: {found.pairs}")
    for model, on_warning in zip((forward, backward), printers, strict=True):
        on_warning.print_count(f"not scored by {model}, and so among the least probable")
