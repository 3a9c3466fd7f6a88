"""Figures 3, 4 and 5 of the paper for `transduce attend --figure`, and the ranking of heads."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.view.attention.figures.paper import PaperFigure
    from transduce.view.attention.figures.rank import RankedHeads
    from transduce.view.attention.record import AttentionView

UNNAMED = "source"  # the source language of a recipe that was chosen for a user's own text
PRINTED = 10  # lines of a ranking that is printed


class Numbers(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """The parameter type for numbers from 1, separated by commas, such as 5,6."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: object) -> tuple[int, ...]:  # noqa: ANN401, ARG002
        """Convert "5,6" to (5, 6); refuse anything else."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if all(part.strip().isdecimal() and int(part) for part in parts):
            return tuple(map(int, parts))
        option = param.opts[0] if param else "option"
        raise InputError(f"{option} {value}: not numbers from 1", f"{option} 5,6")


def figure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options of the paper's figures."""
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
    """Return the sentence of a figure of the paper; refuse a model that does not read English."""
    from transduce.view.attention.figures.paper import FIGURES

    require(
        language in ("en", UNNAMED),
        f"the sentence of Figure {number} is English, and this model reads {language}",
        "give a TEXT, with --word and --read",
    )
    return FIGURES[int(number)].text


def find_best_heads(view: "AttentionView", asked: dict[str, Any]) -> dict[str, Any]:
    """Print the ranking of heads for a figure; return the options with the best layer and heads."""
    from transduce.view.attention.figures.build import join_encoder_words
    from transduce.view.attention.figures.rank import choose_heads, rank_heads

    require(
        not (asked["layer"] or asked["heads"]),
        "--find chooses layer and heads",
        "leave --layer and --heads out, or --find",
    )
    figure = choose_figure(asked)
    ranked = rank_heads(join_encoder_words(view), figure, view.layers)
    print_ranking(ranked, figure, as_json=asked["as_json"])
    best = choose_heads(ranked, figure)
    return {**asked, "layer": best.layer, "heads": best.heads}


def draw_svg(view: "AttentionView", asked: dict[str, Any]) -> str:
    """Return the figure that the options describe as SVG."""
    from transduce.view.attention.figures.build import draw_paper_figure

    return draw_paper_figure(view, choose_figure(asked), find_layer(asked), asked["heads"] or ())


def find_link(view: "AttentionView", asked: dict[str, Any]) -> str:
    """Return the part after # of a link to the page's rows of words, as the figure shows them."""
    from transduce.view.attention.figures.build import join_encoder_words
    from transduce.view.attention.figures.paper import require_heads

    figure, layer = choose_figure(asked), find_layer(asked)
    heads = asked["heads"] or figure.heads
    require_heads(heads, layer, view.model.layers, view.model.heads)
    parts = ["k=enc", f"l={layer}", "v=rows", "u=1", "e=1"]  # script/state.js reads them
    parts += [f"h={','.join(map(str, heads))}"] if heads else []
    parts += [f"q={join_encoder_words(view).find(figure.word) + 1}"] if figure.word else []
    return "&".join(parts)


def find_layer(asked: dict[str, Any]) -> int:
    """Return the layer of the options, by default the paper's."""
    from transduce.view.attention.figures.paper import LAYER

    return asked["layer"] or LAYER


def choose_figure(asked: dict[str, Any]) -> "PaperFigure":
    """Return the figure with the words of the options; refuse options that contradict it."""
    from transduce.view.attention.figures.paper import FIGURES

    figure = FIGURES[int(asked["figure"])]
    require(
        bool(figure.word) or not (asked["word"] or asked["read"]),
        "Figure 5 shows all words",
        "leave --word and --read out",
    )
    read = tuple(asked["read"].split(",")) if asked["read"] else figure.read
    return replace(figure, word=asked["word"] or figure.word, read=read)


def print_ranking(ranked: "Sequence[RankedHeads]", figure: "PaperFigure", *, as_json: bool) -> None:
    """Print the strongest heads and, for Figure 3, how many of each layer are strong."""
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
