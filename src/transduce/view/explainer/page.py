"""The explainer's page: one HTML file with the model, its script, and nothing to request."""

from collections.abc import Mapping, Sequence
from typing import Any

from transduce.recipes.choice import shorten_name
from transduce.view.explainer.weights import StoredWeights
from transduce.view.page.data import base64_block, json_block
from transduce.view.page.document import build_page
from transduce.view.page.language import read_texts, texts_block
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
    header: Mapping[str, Any], stages: Sequence[tuple[Mapping[str, Any], StoredWeights]]
) -> str:
    """Build the explainer page from its header and each stage's description and weights.

    Equal arguments give equal bytes.
    """
    about = [
        {**one, "block": f"weights-{i}", "tensors": stored.layout}
        for i, (one, stored) in enumerate(stages)
    ]
    blocks = [base64_block(f"weights-{i}", stored.block) for i, (_, stored) in enumerate(stages)]
    texts = texts_block(read_texts("explainer"))
    data = [texts, json_block("header", {**header, "stages": about}), *blocks]
    return build_page(f"How {shorten_name(header['model']['name'])} translates", PARTS, data)
