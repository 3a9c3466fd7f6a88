"""Figures 3, 4 and 5 of the paper for `transduce attend --figure`, and the ranking of heads."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display
from transduce.errors import InputError, short_repr
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.view.attention.figures.paper import PaperFigure
    from transduce.view.attention.figures.rank import RankedHeads
    from transduce.view.attention.record import AttentionView

PRINTED = 10  # how many lines of a ranking are printed

NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")


class Numbers(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """The parameter type for numbers from 1, separated by commas, such as 5,6."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: object) -> tuple[int, ...]:  # noqa: ANN401, ARG002
        """Convert "5,6" to (5, 6); refuse anything else."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if all(NUMBER.fullmatch(part) and int(part) for part in parts):
            return tuple(map(int, parts))
        option = param.opts[0] if param else "option"
        raise InputError(f"{option} {short_repr(value)}: not numbers from 1", f"{option} 5,6")


def figure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a click command the options for drawing Figures 3 to 5 of the paper."""
    for option in reversed(
        (
            click.option(
                "--figure",
                type=click.Choice(["3", "4", "5"]),
                help="Draw this figure of the paper as SVG, with the weights of MODEL.",
            ),
            click.option(
                "--layer", type=click.IntRange(min=1), help="Layer of the figure (default: 5)."
            ),
            click.option(
                "--heads", type=Numbers(), help="Heads of the figure (default: the paper's)."
            ),
            click.option("--word", help="The word of TEXT that reads in the figure."),
            click.option("--read", help="Words of TEXT that it reads, such as more,difficult."),
            click.option(
                "--find",
                is_flag=True,
                help="Print how strongly each head shows the figure's effect; draw the strongest.",
            ),
        )
    ):
        command = option(command)
    return command


def find_figure_text(number: str, language: str) -> str:
    """Return the English sentence of a figure of the paper; refuse other source languages."""
    from transduce.view.attention.figures.paper import FIGURES

    require(
        language in ("en", *UNNAMED),
        f"the sentence of Figure {number} is English, and this model reads {language}",
        "give a TEXT, with --word and --read",
    )
    return FIGURES[int(number)].text


def find_best_heads(view: "AttentionView", option_values: dict[str, Any]) -> dict[str, Any]:
    """Print how heads rank for a figure; return the options with the best layer and heads set."""
    from transduce.view.attention.figures.build import join_encoder_words
    from transduce.view.attention.figures.rank import choose_heads, rank_heads

    require(
        not (option_values["layer"] or option_values["heads"]),
        "--find chooses layer and heads",
        "leave --layer and --heads out, or --find",
    )
    figure = choose_figure(option_values)
    ranked = rank_heads(join_encoder_words(view), figure, view.layers)
    print_ranking(ranked, figure, as_json=option_values["as_json"])
    best = choose_heads(ranked, figure)
    return {**option_values, "layer": best.layer, "heads": best.heads}


def draw_svg(view: "AttentionView", option_values: dict[str, Any]) -> str:
    """Return the figure that the options describe as SVG."""
    from transduce.view.attention.figures.build import draw_paper_figure

    return draw_paper_figure(
        view, choose_figure(option_values), find_layer(option_values), option_values["heads"] or ()
    )


def find_link(view: "AttentionView", option_values: dict[str, Any]) -> str:
    """Return the fragment (after #) of a link that opens the page in the figure's view."""
    from transduce.view.attention.figures.build import join_encoder_words
    from transduce.view.attention.figures.paper import require_heads

    figure, layer = choose_figure(option_values), find_layer(option_values)
    heads = option_values["heads"] or figure.heads
    require_heads(heads, layer, view.model.layers, view.model.heads)
    parts = ["k=enc", f"l={layer}", "v=rows", "u=1", "e=1"]  # script/state.js reads them
    parts += [f"h={','.join(map(str, heads))}"] if heads else []
    parts += [f"q={join_encoder_words(view).find(figure.word) + 1}"] if figure.word else []
    return "&".join(parts)


def find_layer(option_values: dict[str, Any]) -> int:
    """Return the value of --layer, by default the layer of the paper's figure."""
    from transduce.view.attention.figures.paper import LAYER

    return option_values["layer"] or LAYER


def choose_figure(option_values: dict[str, Any]) -> "PaperFigure":
    """Return the paper's figure with the words that options name; refuse contradicting options."""
    from transduce.view.attention.figures.paper import FIGURES

    figure = FIGURES[int(option_values["figure"])]
    require(
        bool(figure.word) or not (option_values["word"] or option_values["read"]),
        "Figure 5 shows all words",
        "leave --word and --read out",
    )
    read = tuple(option_values["read"].split(",")) if option_values["read"] else figure.read
    return replace(figure, word=option_values["word"] or figure.word, read=read)


def print_ranking(ranked: "Sequence[RankedHeads]", figure: "PaperFigure", *, as_json: bool) -> None:
    """Print the highest-ranked heads; for Figure 3, also the number of strong heads by layer."""
    from transduce.view.attention.figures.rank import STRONG, count_strong

    if as_json:
        for one in ranked:
            row = {"layer": one.layer, "heads": one.heads, "strength": round(one.strength, 4)}
            display.print_result(json.dumps(row))
        return
    read = " + ".join(figure.read)
    display.print_result(
        f"weight from {figure.word!r} on {read}" if figure.word else "difference of two heads"
    )
    rows = [
        [f"{one.strength:.3f}", f"layer {one.layer}", "head " + " and ".join(map(str, one.heads))]
        for one in ranked[:PRINTED]
    ]
    for line in display.align_columns(rows):
        display.print_result(line)
    if figure.word:
        counts = count_strong(ranked).items()
        text = ", ".join(f"layer {layer}: {count}" for layer, count in counts)
        display.print_result(f"heads with at least {STRONG}: {text}")
