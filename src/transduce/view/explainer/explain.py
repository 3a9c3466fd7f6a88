"""`transduce.explain`: a page in which a small model runs, for a notebook or a file."""

import html
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, final

from transduce.durable import resolve_output, write_atomically
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.text.arguments import describe_value
from transduce.view.explainer.header import build_header, choose_texts, compute_example
from transduce.view.explainer.limits import MAX_WEIGHTS
from transduce.view.explainer.page import build_explainer_page
from transduce.view.explainer.stage import read_trained_stage
from transduce.view.explainer.subject import require_explainable
from transduce.view.explainer.weights import store_weights

FRAME_HEIGHT = 800  # pixels of the page in a notebook


@final
@dataclass(frozen=True)
class Explainer:
    """A page in which a model translates what is typed, every step visible.

    explainer = transduce.load("model").explain()
    explainer.write_page("explainer.html")
    """

    page: str = field(repr=False)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write the page, one file that requests nothing; return its path."""
        write_atomically(resolve_output(Path(path)), self.page.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{page}" width="100%" '
            f'height="{FRAME_HEIGHT}" style="border:0" title="Explainer"></iframe>'
        )


def explain(
    model: Translator | Path | str,
    *texts: Any,  # noqa: ANN401 - checked below, so that a wrong value has a plain error
    max_weights: int = MAX_WEIGHTS,
    numbers: str = "float16",
) -> Explainer:
    """Return a page in which a small model runs: type a sentence and follow it step by step.

        transduce.explain("model").write_page("explainer.html")

    `model` is a translator, a model folder or a run folder; `texts` are sentences that the page
    offers. Weights are stored in 16 bits, or exactly with `numbers="float32"`. A model of more than
    `max_weights` weights is refused.
    """
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a text must be a string, not {describe_value(text)}")
    translator = model if isinstance(model, Translator) else load(model)
    require_explainable(translator, max_weights)
    offered = choose_texts(translator, texts)
    stage = read_trained_stage(translator)
    stored = store_weights(stage.weights, numbers)
    example = compute_example(translator, stored, offered[0])
    about = {"name": stage.name, "step": stage.step, "numbers": numbers}
    return Explainer(
        build_explainer_page(build_header(translator, offered, example), [(about, stored)])
    )
