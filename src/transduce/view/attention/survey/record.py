"""The results of a survey of heads, as values for a table, JSON and a page."""

from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, final

from transduce.durable.files import resolve_output, write_atomically
from transduce.settings.recipe import shorten_name
from transduce.view.attention.record import ModelName
from transduce.view.page.data import json_block
from transduce.view.page.document import build_page
from transduce.view.page.parts import PageParts

PARTS = PageParts(
    scripts=("page/dom.js", "attention/survey/survey.js"),
    styles=("page/theme.css", "attention/survey/survey.css"),
    markup="attention/survey/survey.html",
)


@final
@dataclass(frozen=True)
class SurveyedHead:
    """What one head does on average over all queries of the surveyed pairs."""

    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 1
    head: int  # from 1
    tendency: str  # a label, such as "next"; see `HeadTendency`
    share: float  # the share of the weights on what the label names, from 0 to 1
    entropy: float  # of a query's weights, in bits
    distance: float  # mean, in pieces, from query to key; in cross-attention from the diagonal
    aligned: float | None  # the share of cross-attention on aligned words, if words are aligned
    loss: float  # how much the loss, in nats per target piece, rises without this head


@final
@dataclass(frozen=True)
class HeadSurvey:
    """What each head of a model does on average over sentence pairs, and the loss with all heads.

    survey = transduce.survey("model", ["A dog runs."], ["Ein Hund läuft."])
    survey.write_page("survey.html")
    """

    model: ModelName
    task: str
    pairs: int  # the number of pairs that were surveyed
    tokens: int  # the number of their target pieces, END included
    loss: float  # with all heads, in nats per target piece
    alignment: str  # "gold", the heads that words were aligned by, or "" if they were not
    heads: tuple[SurveyedHead, ...] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the survey as plain values for JSON."""
        return asdict(self)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained HTML page of the survey; return its path."""
        write_atomically(resolve_output(path), build_survey_page(self).encode())
        return Path(path)


def build_survey_page(survey: HeadSurvey) -> str:
    """Return a survey as one HTML file that requests nothing; equal surveys give equal bytes."""
    block = json_block("survey", survey.as_json())
    return build_page(f"Heads of {shorten_name(survey.model.name)}", PARTS, [block])
