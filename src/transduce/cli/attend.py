"""`transduce attend`: show what each head attends to, as a page, record, figure or survey."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, final

import click

from transduce.cli import display, options
from transduce.cli.options import FiniteRange, Numbers, argument, flag, group, option, refuse_given
from transduce.cli.searching import (
    BeamOptions,
    ModelOptions,
    TranslatorChoice,
    warn_if_unfinished,
    warn_of_sides,
)
from transduce.durable.files import write_atomically
from transduce.durable.folder import require_absent, resolve_output
from transduce.errors import InputError
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.text.files import read_pairs, read_pairs_tsv, read_short_lines
from transduce.text.languages import describe_wrong_language

if TYPE_CHECKING:
    from transduce.settings import Recipe
    from transduce.view.attention.figures import PaperFigure
    from transduce.view.attention.record import AttentionView
    from transduce.view.attention.survey.survey import HeadSurvey

LARGE = 20_000_000  # bytes; for a larger page, a message says how to make it smaller
PRINTED = 10  # how many lines of a ranking are printed
COLUMNS = ("kind", "layer", "head", "tendency", "share", "entropy", "distance", "aligned", "loss")


@final
@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The options of the page that shows the attention on one text."""

    layers: tuple[int, ...] | None = option(
        "Layers of the page, such as 5,6 (default: all).", type=Numbers()
    )
    minimum: float = option(
        "Leave smaller weights out of the page; 0.004 makes it a third of its size.",
        "--min",
        type=FiniteRange(0, 1, max_open=True),
        default=0.0,
    )
    exact: bool = flag("Two bytes a weight in the page, instead of one.")
    plain: bool = flag("No compression in the page, for old browsers.")


@final
@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """The options of a figure of the paper."""

    figure: str | None = option(
        "Draw this figure of the paper as SVG, with the weights of MODEL.",
        type=click.Choice(["3", "4", "5"]),
    )
    layer: int | None = option("Layer of the figure (default: 5).", type=click.IntRange(min=1))
    heads: tuple[int, ...] | None = option(
        "Heads of the figure (default: the paper's).", type=Numbers()
    )
    word: str | None = option(
        "The word of TEXT whose attention the figure shows (Figures 3 and 4)."
    )
    read: str | None = option(
        "With --find: the words of TEXT that --word should attend to, such as more,difficult."
    )
    find: bool = flag("Print how strongly each head shows the figure's effect; draw the strongest.")

    def choose(self) -> "PaperFigure":
        """Return the figure with any --word and --read as its words; refuse them for Figure 5."""
        from transduce.view.attention.figures import FIGURES

        figure = FIGURES[int(self.figure or 0)]
        require(
            bool(figure.word) or not (self.word or self.read),
            "Figure 5 shows all words",
            "leave --word and --read out",
        )
        read = tuple(dict.fromkeys(self.read.split(","))) if self.read else figure.read
        return replace(figure, word=self.word or figure.word, read=read)


@final
@dataclass(frozen=True, kw_only=True)
class SurveyOptions:
    """The options of a survey of all heads."""

    survey: bool = flag(
        "Print what each head attends to on the pairs of file TEXT, and how much the loss rises "
        "without that head."
    )
    pairs: int = option(
        "How many pairs of TEXT --survey takes.",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
    )
    gold: Path | None = option(
        "Gold links of the pairs, for --survey (default: the model's own alignments)."
    )


@options.make_command("attend", options.quiet)
def command(
    *,
    model: Path = argument(),
    text: str | None = argument(required=False),
    output: Path | None = options.output("The page (.html) or the figure (.svg) to write."),
    target: str | None = option(
        "The output to show instead of the model's own; with --survey, the file of target "
        "sentences."
    ),
    save: Path | None = option("A new folder for all weights and steps."),
    page: PageOptions = group(),
    figure: FigureOptions = group(),
    survey: SurveyOptions = group(),
    beam: BeamOptions = group(),
    models: ModelOptions = group("precision"),
    as_json: bool = options.as_json,
) -> None:
    """Show what each head of MODEL attends to in TEXT and its output: an HTML page.

    TEXT is one sentence, by default the line on standard input. The page needs no network. A record
    (--save) is a folder with the weights of every layer and head, the pieces, and each step of the
    search with its alternatives.

    --figure draws Figure 3, 4 or 5 of the paper, on the paper's sentence or on TEXT, from the
    paper's layer and heads or from others. Heads of another model have other tasks: --find prints
    how strongly each one shows the figure's effect, and draws the strongest.

    --survey takes a file TEXT of pairs, one pair a line with a tab between the sides, or with the
    target sides in the file --target. For each head it prints what the head tends to read, entropy,
    distance, the share of its weights on aligned words, and how much the loss rises without it.
    -o also writes a page.

    \b
    transduce attend model "The dog sees a cat." -o attention.html
    transduce attend model --figure 4 --find -o figure4.svg
    """
    options.require_writable(output)
    if survey.survey:
        fact = "is for one text, and --survey for a file of pairs"
        refuse_given({"save", *vars(page), *vars(figure), *vars(beam)}, fact)
    else:
        require_consistent(text, output, save, figure)
    if save is not None:
        require_absent(save)
    if target is not None:
        refuse_given(vars(beam), "is for a search, and --target gives the output")
    choice = TranslatorChoice(model, models, beam)
    warn_if_unfinished(choice.folders)
    if survey.survey:
        survey_corpus(choice, text, target, output, survey, as_json=as_json)
        return
    view = record_sentence(choice, text, target, figure.figure)
    display.print_note(*view.notes)
    if figure.find:
        figure = find_best_heads(view, figure, as_json=as_json)
    if output is not None:
        write_output(view, output, page, figure)
    if save is not None:
        from transduce.view.attention.record import save_record

        save_record(view, save)
        display.print_note(f"the record: {save}")


def require_consistent(
    text: str | None, output: Path | None, save: Path | None, figure: FigureOptions
) -> None:
    """Raise InputError if nothing would be written, an option needs another, or -o ends wrongly."""
    require(bool(output or save or figure.find), "nothing to write", "-o page.html")
    refuse_given({"pairs", "gold"}, "is for a survey", "add --survey")
    if not figure.find:
        refuse_given({"as_json"}, "is for a table, and a page has none", "add --find or --survey")
    if not figure.figure:
        refuse_given(vars(figure), "is for a figure", "add --figure 3")
    elif not figure.find:
        refuse_given({"read"}, "is for the search of heads", "add --find")
        if output is None:
            unused = {*vars(figure)} - {"figure"}
            refuse_given(unused, "is for a figure, and none is written", "-o figure.svg")
            if text is not None:  # without TEXT, --figure also names the sentence
                refuse_given({"figure"}, "draws, and no figure is written", "-o figure.svg")
    fact, hint = "--find chooses layer and heads", "leave --layer and --heads out, or --find"
    require(not (figure.find and (figure.layer or figure.heads)), fact, hint)
    if output is None or output.suffix == ".svg":
        refuse_given(vars(PageOptions()), "is for a page", "-o page.html")
    known = (".svg", ".html") if figure.figure else (".html",)
    if output is not None and output.suffix not in known:
        raise InputError(f"{output} is no {' or '.join(known)}", "-o page.html")


def record_sentence(
    choice: TranslatorChoice, text: str | None, target: str | None, figure: str | None
) -> "AttentionView":
    """Return the attention on `text`, else on the figure's sentence, else on standard input.

    Prints a warning if the text is not in the model's source language. Raises InputError if `text`
    is the path of a file, or if standard input does not have exactly one line.
    """
    from transduce.tasks.signal import SignalTask
    from transduce.view.attention.attend import record_attention

    translator = choice.load()
    if not isinstance(translator.task, SignalTask):  # whose text is the path of a file
        options.require_sentence(text or "")
    if text is None and figure:
        text = find_figure_text(figure, translator.recipe.data.source_language)
    if text is None:
        display.note_typed_lines("-")
        lines = list(read_short_lines("-"))
        if len(lines) != 1:
            fact = f"standard input has {len(lines):,} lines, and a page shows one"
            raise InputError(fact, "transduce attend MODEL TEXT")
        text = lines[0]
    if found := describe_wrong_language("text", [text], translator.recipe.data.source_language):
        display.print_message(f"warning: {found}")
    return record_attention(translator, text, target)


def find_figure_text(figure_number: str, language: str) -> str:
    """Return the sentence that a figure shows; refuse any `language` known not to be English."""
    from transduce.view.attention.figures import FIGURES

    require(
        language in ("en", *UNNAMED),
        f"the sentence of Figure {figure_number} is English, and this model reads {language}",
        "give a TEXT, with --word and --read",
    )
    return FIGURES[int(figure_number)].text


def write_output(
    view: "AttentionView", output: Path, page: PageOptions, figure: FigureOptions
) -> None:
    """Write the attention page, or the figure in the paper's style if the output ends in .svg."""
    from transduce.view.attention.figures import LAYER, draw_paper_figure
    from transduce.view.attention.page import WeightEncoding, build_attention_page

    if output.suffix == ".svg":
        layer, heads = figure.layer or LAYER, figure.heads or ()
        svg = draw_paper_figure(view, figure.choose(), layer, heads)
        write_atomically(resolve_output(output), svg.encode())
        display.print_note(f"the figure: {output}")
        return
    shown = view.select_layers(page.layers) if page.layers else view
    link = find_link(shown, figure) if figure.figure else ""
    encoding = WeightEncoding(
        "float16" if page.exact else "step8", page.minimum, "none" if page.plain else "zlib"
    )
    html = build_attention_page(shown, encoding).encode()
    write_atomically(resolve_output(output), html)
    if len(html) > LARGE:
        display.print_note(
            f"{output} has {len(html) / 1e6:.0f} MB; --layers and --min make it smaller"
        )
    display.print_note(f"the figure: {output}#{link}" if link else f"the page: {output}")


def find_link(view: "AttentionView", options: FigureOptions) -> str:
    """Return the URL fragment that shows the figure's heads in a page; refuse missing heads."""
    from transduce.view.attention.figures import LAYER, join_encoder_words, require_heads

    figure, layer = options.choose(), options.layer or LAYER
    heads = options.heads or figure.heads
    require_heads(heads, layer, view.layers_of("encoder"), view.model.heads)
    parts = ["k=enc", f"l={layer}", "v=rows", "u=1", "e=1"]  # script/state.js reads them
    parts += [f"h={','.join(map(str, heads))}"] if heads else []
    parts += [f"q={join_encoder_words(view).find(figure.word) + 1}"] if figure.word else []
    return "&".join(parts)


def find_best_heads(
    view: "AttentionView", options: FigureOptions, *, as_json: bool
) -> FigureOptions:
    """Print the heads ranked for a figure; return `options` with the best layer and heads.

    JSON has all heads, the text the ten best and, for Figures 3 and 4, counts of strong heads.
    """
    from transduce.view.attention import figures

    figure = options.choose()
    words, layers = figures.join_encoder_words(view), view.layers_of("encoder")
    ranked = figures.rank_heads(words, figure, layers)
    if as_json:
        for one in ranked:
            strength = round(one.strength, 4)
            display.print_json({"layer": one.layer, "heads": one.heads, "strength": strength})
    else:
        read = " + ".join(figure.read)
        display.print_result(
            f"weight from {figure.word!r} on {read}" if figure.word else "difference of two heads"
        )
        best = [(one, " and ".join(map(str, one.heads))) for one in ranked[:PRINTED]]
        rows = [
            [f"{one.strength:.3f}", f"layer {one.layer}", f"head {heads}"] for one, heads in best
        ]
        display.print_result(*display.align_columns(rows))
        if figure.word:
            counts = figures.count_strong(ranked).items()
            text = ", ".join(f"layer {layer}: {count}" for layer, count in counts)
            display.print_result(f"heads with at least {figures.STRONG}: {text}")
    layer, chosen = figures.choose_heads(ranked, figure)
    return replace(options, layer=layer, heads=chosen)


def survey_corpus(
    choice: TranslatorChoice,
    text: str | None,
    target: str | None,
    output: Path | None,
    options: SurveyOptions,
    *,
    as_json: bool,
) -> None:
    """Survey all heads on a file's pairs; print a table or JSON; write a page to any `output`."""
    from transduce.view.attention.survey.survey import survey

    if text is None:
        raise InputError("--survey needs a file of pairs", "transduce attend MODEL FILE --survey")
    require(output is None or output.suffix == ".html", f"{output} is no .html", "-o survey.html")
    translator = choice.load()
    read = read_survey_pairs(translator.recipe, text, target, options.pairs)
    pairs = list(warn_of_sides(translator, read))
    sides = [list(side) for side in zip(*pairs, strict=True)] or [[], []]
    with display.show_pair_count() as show:
        found = survey(
            translator,
            *sides,
            gold=None if options.gold is None else str(options.gold),
            pairs=options.pairs,
            on_head=lambda done, total: show(
                f"losses without a head: {done:,} of {total:,};", len(sides[0])
            ),
        )
    display.print_found(found.as_json(), format_survey(found), as_json=as_json)
    if output is not None:
        found.write_page(output)


def read_survey_pairs(
    recipe: "Recipe", text: str, target: str | None, most: int
) -> list[tuple[str, str]]:
    """Return the first `most` pairs of two files, or of one file in the model's task format."""
    from transduce.tasks import find_task_kind

    if target is not None:
        return list(islice(read_pairs(text, target, read_short_lines), most))
    read = find_task_kind(recipe.data).read_file
    if read is read_pairs_tsv:
        read = partial(read, more_hint="--target FILE names a file of the target sides")
    return list(islice(read(Path(text)), most))


def format_survey(found: "HeadSurvey") -> Iterator[str]:
    """Yield a line on the surveyed pairs, then the lines of a table of all heads."""
    pairs = "1 pair" if found.pairs == 1 else f"{found.pairs:,} pairs"
    how_aligned = f", words aligned by {found.alignment}" if found.alignment else ""
    yield (
        f"{shorten_name(found.model.name)}: {pairs}, {found.tokens:,} target pieces, "
        f"loss {found.loss:.4f} nats per piece{how_aligned}"
    )
    rows = [list(COLUMNS)]
    for one in found.heads:
        figures = [f"{value:.2f}" for value in (one.share, one.entropy, one.distance)]
        aligned = "" if one.aligned is None else f"{one.aligned:.2f}"
        named = [one.kind, str(one.layer), str(one.head), one.tendency]
        rows.append([*named, *figures, aligned, f"{one.loss:+.4f}"])
    yield from display.align_columns(rows, align_right=True)
