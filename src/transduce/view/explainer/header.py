"""The header of the explainer's page: sizes, search settings, vocabularies, an example."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, final

import torch

from transduce.inference.outputs import build_decoder, limit_batch_size
from transduce.inference.translator import Translator
from transduce.paper.model import Transformer
from transduce.search.trace import trace_beam_search
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.view.explainer.limits import LONGEST
from transduce.view.explainer.reference import sample_rows, trace_model
from transduce.view.explainer.weights import StoredWeights, read_weights
from transduce.vocabulary import END, Vocabulary
from transduce.vocabulary.vocabulary import deserialise

FORMAT = 1  # version of header and weights; a page's script reads no other
TRAINING = ("steps", "warmup", "learning_rate_factor", "label_smoothing", "smoothing_form")
EXAMPLES = 6  # sentences that the page offers
ENGLISH = ("A dog runs.", "The small house is old.", "She reads a book.")


@final
@dataclass(frozen=True)
class Example:
    """A sentence, its output by PyTorch with the stored weights, and some intermediate values."""

    text: str
    source: list[int]
    output: list[int]
    score: float
    numbers: dict[str, list[float]]


def choose_texts(translator: Translator, texts: Sequence[str]) -> list[str]:
    """Return the sentences that a page offers: those given, or some in the source language."""
    data = translator.recipe.data
    if texts:
        return [require_text(translator, text) for text in texts]
    if data.corpus == "phrasebook":
        from transduce.runs.texts import GeneratedCorpus

        lines = [source for source, _ in GeneratedCorpus("phrasebook", "test", 60).read()]
        return sorted(lines, key=len)[5 :: 60 // EXAMPLES]
    if not translator.task.has_words:
        return ["a b c d", "e a d c b", "b b a"]
    require(
        data.source_language in ("en", *UNNAMED),
        f"the model reads {data.source_language}, and no sentence was given",
        "give one: transduce explain MODEL TEXT -o explainer.html",
    )
    return list(ENGLISH)


def require_text(translator: Translator, text: str) -> str:
    """Return a normalised text; refuse one that is empty or too long for the page."""
    found = translator.task.normalise(text)
    require(bool(found), "the text is empty", "give it some words")
    (ids,) = translator.task.encode_sources([found])
    require(
        len(ids) <= LONGEST,
        f"the text has {len(ids):,} pieces, and the explainer reads at most {LONGEST}",
        "give a shorter sentence",
    )
    return found


def build_stored_model(translator: Translator, stored: StoredWeights) -> Transformer:
    """Build the translator's model with the weights that a page holds."""
    source, target = translator.task.source, translator.task.target
    model = Transformer(translator.models[0].sizes, len(source), len(target))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(stored.tensors[name])
    return model.eval()


def compute_example(translator: Translator, stored: StoredWeights, text: str) -> Example:
    """Translate a text with the stored weights, and sample the intermediate values."""
    model = build_stored_model(translator, stored)
    (source,) = translator.task.encode_sources([text])
    search = replace(translator.recipe.search, constrained=False)
    search = limit_batch_size([model], [source], search, search.beam)
    trace = trace_beam_search(build_decoder([model]), source, search, 1)
    output = [*trace.best.ids, END]
    numbers = sample_rows(trace_model(model, source, output))
    return Example(text, source, output, trace.best.score, numbers)


def describe_vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what a vocabulary has learned: its merges as pairs of ids, or pieces as bytes."""
    kind, size = deserialise(vocabulary.to_bytes()), 258
    if kind.model["type"] == "WordPiece":
        pieces = [list(one) for one in kind.symbol_bytes[size:]]
        return {"kind": "word-piece", "learned": pieces}
    ids, merges = kind.model["vocab"], kind.model["merges"]
    return {"kind": "byte-pair", "learned": [[ids[a], ids[b]] for a, b in merges]}


def build_header(translator: Translator, texts: Sequence[str], example: Example) -> dict[str, Any]:
    """Return the header of an explainer page as JSON values: all its data but weights."""
    recipe, task, model = translator.recipe, translator.task, translator.models[0]
    shared = task.source.hash == task.target.hash
    target = {} if shared else {"target": describe_vocabulary(task.target)}
    return {
        "format": FORMAT,
        "model": {"name": recipe.name, "sha256": translator.hashes[0] if translator.hashes else ""},
        "task": recipe.data.task,
        "languages": [recipe.data.source_language, recipe.data.target_language],
        "parameters": sum(weight.numel() for weight in read_weights(model).values()),
        "sizes": asdict(model.sizes),
        "search": asdict(recipe.search),
        "training": {name: getattr(recipe.training, name) for name in TRAINING},
        "vocabularies": {"source": describe_vocabulary(task.source), **target},
        "longest": LONGEST,
        "texts": list(texts),
        "example": asdict(example),
        "notes": list_notes(translator),
    }


def list_notes(translator: Translator) -> list[str]:
    """Return a sentence for each way in which the model differs from the paper's."""
    sizes = translator.models[0].sizes
    found = []
    if sizes.norm == "pre":
        found.append("This model normalises before each sub-layer; the paper after the sum (3.1).")
    if sizes.positions == "learned":
        found.append("This model learned its positions (Table 3, row E); the paper adds sinusoids.")
    if sizes.tie_embeddings != "all":
        found.append("Not all three matrices of section 3.4 are shared in this model.")
    return found
