"""`transduce.explain`: a page in which a small model runs, for a notebook or a file."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, final

from transduce.checkpoint.run_file import is_run
from transduce.durable.files import resolve_output, write_atomically
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.text.arguments import read_path, require_string
from transduce.view.explainer.header import build_header, choose_texts, compute_example
from transduce.view.explainer.limits import MAX_WEIGHTS
from transduce.view.explainer.page import build_explainer_page
from transduce.view.explainer.stage import (
    Stage,
    load_trained_stage,
    read_run_stages,
    read_trained_stage,
)
from transduce.view.explainer.subject import require_explainable
from transduce.view.explainer.texts import choose_page_texts
from transduce.view.explainer.tour import read_tour
from transduce.view.explainer.weights import store_weights
from transduce.view.page.language import Texts

FRAME_HEIGHT = 800  # pixels of the page in a notebook


@final
@dataclass(frozen=True)
class Explainer:
    """A page in which a model translates what is typed, with every step shown.

    explainer = transduce.load("model").explain()
    explainer.write_page("explainer.html")
    """

    page: str = field(repr=False)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write the explainer page, one HTML file that requests nothing; return its path."""
        write_atomically(resolve_output(path), self.page.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<explainer page of {len(self.page):,} characters: write_page writes it>"

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{page}" width="100%" '
            f'height="{FRAME_HEIGHT}" style="border:0" title="Explainer"></iframe>'
        )


def explain(
    model: Translator | Path | str,
    *texts: str,
    max_weights: int = MAX_WEIGHTS,
    numbers: str = "float16",
    tour: str | PathLike[str] | None = None,
    language: str = "",
    page_texts: str | PathLike[str] | None = None,
) -> Explainer:
    """Return a page in which a small model runs: type a sentence and follow it step by step.

        transduce.explain("model").write_page("explainer.html")

    `model` is a translator, a model folder or a run folder, whose page shows the mean of its last
    snapshots and earlier stages of the training; `texts` are sentences that the page offers.
    Weights are stored in 16 bits, or exactly with `numbers="float32"`; those of earlier stages in
    8. A model of more than `max_weights` weights is refused. `tour` is a JSON file with steps that
    take the place of the page's own tour.

    The page speaks the `language` "en" or "de", or, if none is given, the one of these that the
    reader's browser prefers. `page_texts` is a JSON file with its words in another language, whose
    code is the file's name, such as fr.json.
    """
    for text in texts:
        require_string("a text", text)
    steps = None if tour is None else read_tour(read_path("tour", tour))
    file = None if page_texts is None else read_path("page_texts", page_texts)
    words = choose_page_texts(language, file)
    run = None if isinstance(model, Translator) or not is_run(Path(model)) else Path(model)
    if run is None:
        translator = model if isinstance(model, Translator) else load(model)
        trained = read_trained_stage(translator)
    else:
        translator, trained = load_trained_stage(run)
    require_explainable(translator, max_weights)
    offered = choose_texts(translator, texts)
    stages, curve = ([trained], []) if run is None else read_run_stages(run, translator, trained)
    header = {"curve": curve} | ({} if steps is None else {"tour": steps})
    return Explainer(build_page_of(translator, offered, stages, header, numbers, words))


def build_page_of(
    translator: Translator,
    texts: list[str],
    stages: list[Stage],
    more: Mapping[str, Any],
    numbers: str,
    words: tuple[str, Mapping[str, Texts]] = ("", {}),
) -> str:
    """Return the explainer page; the last stage is stored as `numbers`, all earlier ones in 8 bits.

    `more` is what the header has besides the model: the loss curve, a tour. `words` are its
    language and its own words.
    """
    kinds = ["int8"] * (len(stages) - 1) + [numbers]
    stored = [store_weights(stage.weights, kind) for stage, kind in zip(stages, kinds, strict=True)]
    example = compute_example(translator, stored[-1], texts[0])
    about = [
        {"name": stage.name, "step": stage.step, "numbers": kind}
        for stage, kind in zip(stages, kinds, strict=True)
    ]
    header = {**build_header(translator, texts, example), **more}
    return build_explainer_page(header, list(zip(about, stored, strict=True)), *words)
