"""The explainer's page: one HTML file with the model, its script, and nothing to request."""

from collections.abc import Mapping, Sequence
from typing import Any

from transduce.settings.recipe import shorten_name
from transduce.view.explainer.weights import StoredWeights
from transduce.view.page.data import base64_block, json_block
from transduce.view.page.document import build_page
from transduce.view.page.language import Texts, texts_block
from transduce.view.page.parts import PageParts

CORE = ("sums", "pieces", "weights", "model", "beam")
VIEWS = (
    *("state", "texts", "compute", "cells", "picture", "panels", "tree", "training", "guess"),
    *("switches", "stages", "tour", "export", "main"),
)
PARTS = PageParts(
    scripts=(
        *("page/dom.js", "page/language.js"),
        *(f"explainer/script/{name}.js" for name in (*CORE, *VIEWS)),
    ),
    styles=("page/theme.css", "explainer/explainer.css"),
    markup="explainer/explainer.html",
)


def build_explainer_page(
    header: Mapping[str, Any],
    stages: Sequence[tuple[Mapping[str, Any], StoredWeights]],
    language: str,
    texts: Mapping[str, Texts],
) -> str:
    """Build the explainer page from its header and each stage's description and weights.

    `texts` are the page's own words by language; without a `language` the browser chooses. Equal
    arguments give equal bytes.
    """
    about = [
        {**one, "block": f"weights-{i}", "tensors": stored.layout}
        for i, (one, stored) in enumerate(stages)
    ]
    blocks = [base64_block(f"weights-{i}", stored.block) for i, (_, stored) in enumerate(stages)]
    title = shorten_name(header["model"]["name"])
    words = texts_block(texts, language)
    data = [words, json_block("header", {**header, "title": title, "stages": about}), *blocks]
    return build_page(f"How {title} translates", PARTS, data, language)
