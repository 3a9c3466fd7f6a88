"""`transduce.explain`: a page in which a small model runs, for a notebook or a file."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, final

import torch

from transduce.checkpoint.run_file import is_run
from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError
from transduce.inference.load import describe_precision, load
from transduce.inference.outputs import combine_models, fit_batch_size
from transduce.inference.translator import Translator
from transduce.paper.model import Transformer
from transduce.search.trace import trace_beam_search
from transduce.settings import Architecture
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.tasks import TextToText, require_task
from transduce.text.arguments import read_path, require_string
from transduce.view.drawings.architecture import NIGHT, draw_figure_1
from transduce.view.explainer import LONGEST, MAX_WEIGHTS
from transduce.view.explainer.experiments import (
    TWO_CLAUSES,
    WORD_ORDER,
    Change,
    choose_aligning_heads,
    decode_output,
    find_alpha,
    find_experiments,
    find_reordered_text,
    list_changes,
    translate_with_change,
)
from transduce.view.explainer.reference import sample_rows, trace_model
from transduce.view.explainer.user_files import (
    choose_page_texts,
    read_film,
    read_tour,
    write_storyboard,
)
from transduce.view.explainer.weights import (
    Stage,
    StoredWeights,
    load_trained_stage,
    read_run_stages,
    read_trained_stage,
    read_weights,
    store_weights,
)
from transduce.view.page.document import (
    FITTED,
    DataBlock,
    Texts,
    base64_block,
    build_page,
    embed_page,
    json_block,
    list_parts,
    read_texts,
    texts_block,
)
from transduce.vocabulary import END, Vocabulary
from transduce.vocabulary.sentencepiece import UNKNOWN_ID, find_runs
from transduce.vocabulary.vocabulary import deserialise

FRAME_HEIGHT = 800  # pixels of the page in a notebook
FORMAT = 1  # version of header and weights; a page's script reads no other
TRAINING = ("steps", "warmup", "learning_rate_factor", "label_smoothing", "smoothing_form")
EXAMPLES = 5  # sentences that the page offers
MOST_TEXTS = 14  # sentences with which experiments are tried
WORDS, TRIED = range(7, 11), 11  # lengths in words of phrasebook sentences to try; the most tried
ENGLISH = ("A dog runs.", "The small house is old.", "She reads a book.")
INSTEAD = "transduce attend MODEL TEXT -o page.html shows its attention"
CORE = ("sums", "pieces", "unigram", "weights", "model", "beam")
VIEWS = (
    *("state", "texts", "compute", "cells", "picture", "panels", "tree", "training", "guess"),
    *("map", "switches", "stages", "tour", "scenes", "film", "export", "main"),
)
PARTS = list_parts("explainer", [f"script/{name}" for name in (*CORE, *VIEWS)], FITTED)


@final
@dataclass(frozen=True)
class Explainer:
    """A page in which a model translates what is typed, with every step shown.

        explainer = transduce.load("model").explain()
        explainer.write_page("explainer.html")

    A notebook shows the page.
    """

    page: str = field(repr=False)
    storyboard: str = field(repr=False, default="")  # the film as Markdown

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write the explainer page, one HTML file that requests nothing; return its path."""
        write_atomically(resolve_output(path), self.page.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<explainer page of {len(self.page):,} characters: write_page writes it>"

    def _repr_html_(self) -> str:
        return embed_page(self.page, FRAME_HEIGHT, "Explainer")


def explain(  # noqa: PLR0913 - what a page is made of, each with a default
    model: Translator | Path | str,
    *texts: str,
    max_weights: int = MAX_WEIGHTS,
    numbers: str = "float16",
    tour: str | PathLike[str] | None = None,
    language: str = "",
    page_texts: str | PathLike[str] | None = None,
    film: str | PathLike[str] | None = None,
) -> Explainer:
    """Return a page in which a small model runs: type a sentence and follow it step by step.

        transduce.explain("model").write_page("explainer.html")

    `model` is a translator, a model folder or a run. The page of a run shows the mean of its last
    snapshots and earlier stages of the training; `texts` are sentences that the page offers.
    Weights are stored in 16 bits, or exactly with `numbers="float32"`; those of earlier stages in
    8. A model of more than `max_weights` weights is refused. `tour` is a JSON file with steps that
    take the place of the page's own tour.

    The page speaks the `language` "en" or "de", or, if none is given, the one of these that the
    reader's browser prefers. `page_texts` is a JSON file with its words in another language, whose
    code is the file's name, such as fr.json. `film` is a JSON file with the captions of a film
    that takes the place of the page's own.
    """
    script = read_film(None if film is None else read_path("film", film))
    for text in texts:
        require_string("a text", text)
    steps = read_tour(None if tour is None else read_path("tour", tour))
    file = None if page_texts is None else read_path("page_texts", page_texts)
    words = choose_page_texts(language, file)
    model = model if isinstance(model, Translator) else read_path("model", model)
    run = None if isinstance(model, Translator) or not is_run(model) else model
    if run is None:
        translator = model if isinstance(model, Translator) else load(model)
        trained = read_trained_stage(translator)
    else:
        translator, trained = load_trained_stage(run)
    require_explainable(translator, max_weights)
    given = [require_text(translator, text) for text in texts]
    tried = given[:MOST_TEXTS] or choose_fitting_texts(translator)
    stages, curve = ([trained], []) if run is None else read_run_stages(run, translator, trained)
    header = {"film": [asdict(line) for line in script], "tour": steps, "curve": curve}
    return build_explainer(translator, tried, stages, header, numbers, words, offered=given)


def build_explainer(  # noqa: PLR0913 - what a page is made of
    translator: Translator,
    texts: list[str],
    stages: list[Stage],
    more: Mapping[str, Any],
    numbers: str,
    words: tuple[str, Mapping[str, Texts]] = ("", {}),
    *,
    offered: Sequence[str] = (),
) -> Explainer:
    """Build the page; the last stage's weights have the format `numbers`, earlier ones int8.

    The page offers the `offered` sentences. If there are none, it offers some of `texts`, first
    those that an experiment changes. `more` is what the header has besides the model: film, tour,
    loss curve. `words` are the page's language ("" if the reader's browser chooses) and a dict of
    its translated texts by language code. Equal arguments give equal bytes.
    """
    about, blocks = list[dict[str, Any]](), list[DataBlock]()
    kinds = ["int8"] * (len(stages) - 1) + [numbers]
    stored = [store_weights(stage.weights, kind) for stage, kind in zip(stages, kinds, strict=True)]
    for stage, kind, weights in zip(stages, kinds, stored, strict=True):
        name = f"weights-{len(blocks)}"
        one = {"name": stage.name, "step": stage.step, "numbers": kind}
        about.append({**one, "block": name, "tensors": weights.layout})
        blocks.append(base64_block(name, weights.block))
    model = build_stored_model(translator, stored[-1])
    outputs = {text: translate_with_change(translator, model, text, Change()) for text in texts}
    experiments = find_experiments(translator, model, outputs, list_changes(model))
    reading, reordered_text, turns = choose_aligning_heads(translator, model, outputs)
    shown = [one.text for one in experiments.values() if one.text]
    texts = [*offered] or list(dict.fromkeys([*shown, reordered_text, *texts]))[:EXAMPLES]
    swap = experiments["positions"]
    experiments["positions"] = replace(
        swap, twin=find_reordered_text(translator, swap.text, [*outputs])
    )
    if translator.recipe.search.penalty == "gnmt":  # only this length penalty has an α
        experiments["alpha"] = find_alpha(
            outputs,
            lambda text, alpha: translate_with_change(translator, model, text, Change(alpha=alpha)),
            partial(decode_output, translator),
        )
    (language, own), title = words, translator.recipe.name.partition(" with ")[0]
    header = {
        **build_header(translator, texts, compute_example(translator, model, texts[0])),
        **more,
        "experiments": {name: asdict(one) for name, one in experiments.items()},
        "reading": {**asdict(reading), "text": reordered_text, "turns": turns},
        "title": title,
        "stages": about,
        "map": draw_maps(translator, sorted({"en", *own})),
    }
    data = [texts_block(own, language), json_block("header", header), *blocks]
    page = build_page(f"How the model “{title}” translates", PARTS, data, language)
    said = decode_output(translator, outputs[reordered_text])
    return Explainer(page, write_storyboard(header, said, own.get(language, {})))


def require_explainable(translator: Translator, max_weights: int) -> None:
    """Raise InputError for a model that no page can run, such as an ensemble or a large model."""
    if len(translator.models) > 1:
        fact = f"the explainer shows one model, and these are {len(translator.models)}"
        raise InputError(fact, "load one model of the ensemble")
    (model,) = translator.models
    require_task(translator.task, TextToText, translator.recipe.data, "the explainer")
    require(
        model.sizes.mixing == "self-attention",
        f"this model has no self-attention: architecture.mixing is {model.sizes.mixing}",
        INSTEAD,
    )
    row = model.sizes.neighbourhood_row
    fact = f"architecture.neighbourhood_row is {row}, and the page has no neighbourhoods of rows"
    require(not row, fact, INSTEAD)
    precision = describe_precision(model)
    require(
        precision == "float32",
        f"the explainer stores weights itself, and these are already rounded to {precision}",
        "load the model in float32",
    )
    supported = Architecture().compatibility
    require(
        model.sizes.compatibility == supported,
        f"architecture.compatibility is {model.sizes.compatibility}, and the page computes "
        f"{supported}",
        INSTEAD,
    )
    count = sum(weight.numel() for weight in read_weights(model).values())
    require(
        count <= max_weights,
        f"this model has {count:,} weights, and the explainer runs at most {max_weights:,}",
        f"{INSTEAD}; --max-weights {count} lets it try",
    )


def choose_fitting_texts(translator: Translator) -> list[str]:
    """Return example sentences in the source language that are short enough for the page.

    Raises InputError if none are known, or none is short enough.
    """
    data, most = translator.recipe.data, find_most_pieces(translator)
    if data.corpus == "phrasebook":
        from transduce.runs.texts import GeneratedCorpus

        lines = [source for source, _ in GeneratedCorpus("phrasebook", "test", 60).read()]
        drawn = [line for line in lines if len(line.split()) in WORDS][:TRIED]
        texts = [*WORD_ORDER, *TWO_CLAUSES, *drawn]
    elif not translator.task.has_words:
        texts = ["a b c d", "e a d c b", "b b a"]
    else:
        fact = f"the model reads {data.source_language}, and no sentence was given"
        hint = "give one: transduce explain MODEL TEXT -o explainer.html"
        require(data.source_language in ("en", *UNNAMED), fact, hint)
        texts = [*WORD_ORDER, *TWO_CLAUSES, *ENGLISH]
    each = zip(texts, translator.task.encode_sources(texts), strict=True)
    found = [text for text, ids in each if len(ids) <= most]
    fact = f"the page of this model reads at most {most} pieces, and no sentence was given"
    require(bool(found), fact, "give a short one: transduce explain MODEL TEXT -o explainer.html")
    return found


def find_most_pieces(translator: Translator) -> int:
    """Return the most pieces of a sentence in the page: LONGEST, or fewer for learned positions."""
    is_learned = translator.models[0].sizes.positions == "learned"
    return min(LONGEST, translator.recipe.data.max_length) if is_learned else LONGEST


def require_text(translator: Translator, text: str) -> str:
    """Return a normalised text; raise InputError if it is empty or too long for the page."""
    found = translator.task.normalise(text)
    require(bool(found), "the text is empty", "give it some words")
    (ids,) = translator.task.encode_sources([found])
    most = find_most_pieces(translator)
    require(
        len(ids) <= most,
        f"the text has {len(ids):,} pieces, and the explainer reads at most {most}",
        "give a shorter sentence",
    )
    return found


def build_stored_model(translator: Translator, stored: StoredWeights) -> Transformer:
    """Build the translator's model in float32, with the weights that a page holds."""
    source, target = translator.task.source, translator.task.target
    model = Transformer(translator.models[0].sizes, len(source), len(target))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(stored.tensors[name])
    return model.eval()


def compute_example(translator: Translator, stored_model: Transformer, text: str) -> dict[str, Any]:
    """Translate a text with `stored_model`; return its text, source and output ids, and score.

    "numbers" are samples of the intermediates, which an opened page compares with its own.
    """
    (source,) = translator.task.encode_sources([text])
    search = replace(translator.recipe.search, constrained=False, stop="exact")
    search = fit_batch_size([stored_model], [source], search, search.beam)
    trace = trace_beam_search(combine_models([stored_model]), source, search, 1)
    output = [*trace.best.ids, END]
    found = {"text": text, "source": source, "output": output, "score": trace.best.score}
    return {**found, "numbers": sample_rows(trace_model(stored_model, source, output))}


def draw_maps(translator: Translator, languages: Sequence[str]) -> dict[str, Any]:
    """Return two dicts by name: Figure 1 as SVG by language, and dark colours by light colours.

    The keys are "figures" and "night". A language is left out if the figure does not have it.
    """
    recipe, task = translator.recipe, translator.task
    symbols = len(task.source), len(task.target)
    known = [code for code in languages if code in ("en", *read_texts("drawings"))]
    draw = partial(draw_figure_1, recipe, symbols, theme="light", is_map=True)
    return {"figures": {code: draw(code) for code in known}, "night": dict(NIGHT)}


def describe_vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return a vocabulary as JSON values "kind", "learned" and, if unigram, "charsmap" and "runs".

    The merges of a byte-pair vocabulary are pairs of ids. The pieces of a word-piece vocabulary
    are bytes, those of a unigram vocabulary have scores. "charsmap" is SentencePiece's table for
    rewriting text, in base64. "runs" is a regular expression: each match is one unknown symbol.
    """
    kind, first_learned = deserialise(vocabulary.to_bytes()), 258
    if kind.model["type"] == "Unigram":
        learned = kind.model["vocab"][UNKNOWN_ID + 1 :]
        charsmap = (kind.normalizer or {})["normalizers"][0].get("precompiled_charsmap", "")
        runs = find_runs(kind.normalizer)
        return {"kind": "unigram", "learned": learned, "charsmap": charsmap, "runs": runs}
    if kind.model["type"] == "WordPiece":
        pieces = [list(one) for one in kind.symbol_bytes[first_learned:]]
        return {"kind": "word-piece", "learned": pieces}
    ids, merges = kind.model["vocab"], kind.model["merges"]
    return {"kind": "byte-pair", "learned": [[ids[a], ids[b]] for a, b in merges]}


def build_header(
    translator: Translator, texts: Sequence[str], example: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a page's header as JSON values: the model, its vocabularies, texts and an example."""
    recipe, task, model = translator.recipe, translator.task, translator.models[0]
    shared = task.source.hash == task.target.hash
    target = {} if shared else {"target": describe_vocabulary(task.target)}
    return {
        "format": FORMAT,
        "model": {"name": recipe.name, "sha256": translator.hashes[0] if translator.hashes else ""},
        "task": recipe.data.task,
        "languages": [recipe.data.source_language, recipe.data.target_language]
        if task.has_words
        else [],
        "parameters": sum(weight.numel() for weight in read_weights(model).values()),
        "sizes": asdict(model.sizes)
        | {"encoder_layers": model.sizes.encoder_depth}
        | {"decoder_layers": model.sizes.decoder_depth},
        "search": asdict(recipe.search),
        "training": {name: getattr(recipe.training, name) for name in TRAINING},
        "vocabularies": {"source": describe_vocabulary(task.source), **target},
        "longest": find_most_pieces(translator),
        "texts": list(texts),
        "example": example,
        "notes": list_notes(translator),
    }


def list_notes(translator: Translator) -> list[str]:
    """Return a sentence for each main difference from the paper's model, such as pre-norm."""
    sizes = translator.models[0].sizes
    found = []
    if sizes.norm == "pre":
        found.append("This model normalises before each sub-layer; the paper after the sum (3.1).")
    if sizes.positions == "learned":
        found.append("This model learned its positions (Table 3, row E); the paper adds sinusoids.")
    if sizes.positions == "tensor2tensor":
        found.append(
            "This model's sines come first, then its cosines; the paper's alternate (3.5)."
        )
    if sizes.activation == "swish":
        found.append("This model has swish, x / (1 + exp(−x)), in place of max(0, x) (3.3).")
    if sizes.attention_biases:
        found.append("This model's projections in attention have biases (3.2.2).")
    if sizes.output_bias:
        found.append("This model adds a bias to each logit (3.4).")
    if sizes.tie_embeddings != "all":
        found.append("Not all three matrices of section 3.4 are shared in this model.")
    return found
