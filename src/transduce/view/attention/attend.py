"""`transduce.attend`: what a model attends to, for a notebook, a page, a folder or a figure.

The attention weights are those of a source and an output, the model's own or a given one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.allowance import PICTURE_BYTES, require_affordable, require_short_line
from transduce.checkpoint.weights import require_finite_numbers
from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError, short_repr, suggest_names
from transduce.inference.attention_weights import capture_attention
from transduce.inference.lines import Pair
from transduce.inference.load import load
from transduce.inference.outputs import combine_models, fit_batch_size
from transduce.inference.pairs import require_matches
from transduce.inference.translator import PART_BITS, Translator
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.search.constraints import with_constraints
from transduce.search.trace import LiveHypothesis, trace_beam_search
from transduce.settings import Architecture
from transduce.settings.fields import require
from transduce.tasks import constrain_source, find_task_kind
from transduce.tasks.text import TextToText
from transduce.text.arguments import read_path, require_count, require_string
from transduce.view.attention.figures import FIGURES, LAYER, draw_paper_figure
from transduce.view.attention.page import build_attention_page
from transduce.view.attention.record import (
    AttentionView,
    BeamHypothesis,
    ModelName,
    NextPiece,
    OutputStep,
    read_sequence,
    readable_piece,
    save_record,
)
from transduce.view.page.document import embed_page
from transduce.vocabulary import BEGIN, END, Vocabulary

FRAME_HEIGHT = 640  # pixels of the page in a notebook
LINE_KEY = 1 << PART_BITS  # the random key of line 1, so that samples equal those of `translate`
ALTERNATIVES = 5  # the most probable next pieces that are recorded for each step
SLICE = 256  # number of positions whose probabilities are computed at once
Beam = Sequence[LiveHypothesis]
WEIGHT_BYTES = 12  # to capture a weight, stack it and write it into a page
HYPOTHESIS_BYTES = 2_000  # for a live hypothesis and its possible next pieces


@final
@dataclass(frozen=True)
class Attention:
    """The attention weights of a model for one text.

        attention = transduce.load("model").attend("A dog runs.")
        attention.write_page("attention.html")
        attention.record.weights["cross"].shape  # layers, heads, output pieces, source pieces

    A notebook shows the page.
    """

    record: AttentionView = field(repr=False)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained HTML page of all weights; return its path."""
        write_atomically(resolve_output(path), build_attention_page(self.record).encode())
        return Path(path)

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the attention record to a new folder, as safetensors and JSON; return its path."""
        path = read_path("folder", folder)
        save_record(self.record, path)
        return path

    def draw_figure(
        self, number: int, layer: int = LAYER, heads: Sequence[int] = (), *, word: str = ""
    ) -> str:
        """Return Figure 3, 4 or 5 of the paper as SVG, from the weights of an encoder `layer`.

        `layer` and `heads` count from 1; `heads` and `word` default to those of the paper's figure.
        Figures 3 and 4 show what `word` attends to. Refuses a layer, head or word that is missing.
        """
        if number not in FIGURES:
            raise InputError(f"unknown figure {number!r}", suggest_names(str(number), "345"))
        figure = FIGURES[number]
        if word and not figure.word:
            raise InputError(f"Figure {number} shows all words", "leave `word` out")
        figure = replace(figure, word=word or figure.word)
        return draw_paper_figure(self.record, figure, layer, heads)

    def __repr__(self) -> str:
        source, output = (
            short_repr(side.text) for side in (self.record.source, self.record.output)
        )
        model = self.record.model
        return f"<attention of {source} to {output}: {model.layers} layers, {model.heads} heads>"

    def _repr_html_(self) -> str:
        return embed_page(build_attention_page(self.record), FRAME_HEIGHT, "Attention")


def attend(
    model: Translator | Path | str,
    text: str,
    target: str | None = None,
    *,
    most: int = PICTURE_BYTES,
) -> Attention:
    """Return a model's attention weights for `text` and `target` (default: the model's output).

        attention = transduce.attend("model", "A dog runs.")

    `model` is a translator, a model folder or a run folder. The weights of every layer and head
    are those of one pass of the model over both texts. A long text is not split. Raises
    InputError if the weights may need more than `most` bytes of memory.
    """
    require_string("text", text)
    require_count("most", most)
    if target is not None:
        require_string("target", target)
    translator = model if isinstance(model, Translator) else load(model)
    return Attention(record_attention(translator, text, target, most))


# --- Recording ------------------------------------------------------------------------------------

# L layers · H heads · Q query positions · K key positions · T pieces of the output · V symbols


def record_attention(
    translator: Translator, source: str, target: str | None = None, most: int = PICTURE_BYTES
) -> AttentionView:
    """Return the attention weights for a source and `target`, by default the model's own output.

    Raises InputError for an ensemble, and before the pass if the weights may need more than `most`
    bytes. With the model's own output comes the beam at each step of the search. Unlike in
    translation, a long text is not split.
    """
    if len(translator.models) > 1:
        fact = f"attention is shown for one model, and these are {len(translator.models)}"
        raise InputError(fact, "load one model of the ensemble")
    require_short_line(source)
    text = translator.task.normalise(source)
    require(bool(text), "the text is empty: it has no attention weights", "give it some words")
    (ids,) = translator.task.encode_sources([text])
    sizes = translator.models[0].sizes
    require_positions("source", ids, sizes)
    require_attention_fits(len(ids), 0, translator, most)
    beams: Sequence[Beam] = ()
    if target is None:
        output, beams = search_output(translator, text, ids)
    else:
        output = encode_output(translator, source, target)
    require_positions("output", output, sizes)
    require_attention_fits(len(ids), len(output), translator, most)
    ((view, states),) = build_views(translator, [ids], [output])
    require_finite_numbers(states, "this text")
    vocabulary = translator.task.target
    steps = rank_next_pieces(translator.models[0], states, output, vocabulary)
    if beams:
        both = zip(steps, describe_beams(beams, output, vocabulary), strict=False)
        steps = [replace(step, beam=beam) for step, beam in both]
    notes = tuple(list_notes(ids, translator))
    return replace(view, steps=tuple(steps), is_given=target is not None, notes=notes)


def search_output(
    translator: Translator, text: str, ids: list[int]
) -> tuple[list[int], Sequence[Beam]]:
    """Return the output ids, END last, and the beam before each step; no beams when sampling."""
    search = translator.recipe.search
    source = constrain_source(ids, translator.task, text, search)
    if translator.sampling_settings is not None:
        ((sample,),) = translator.decode_sources([source], [LINE_KEY], 1)
        return [*sample.ids, END], ()
    model, (constrained,) = with_constraints(combine_models(translator.models), [source])
    search = fit_batch_size(translator.models, [ids], search, search.beam)
    operations = translator.models[0].operations
    trace = trace_beam_search(model, constrained, search, ALTERNATIVES, operations=operations)
    return [*trace.best.ids, END], trace.steps


def encode_output(translator: Translator, source: str, target: str) -> list[int]:
    """Return the ids of `target`, END last; raise InputError if it cannot belong to `source`.

    Also raises InputError if `target` is too long or has a label that is unknown to the model.
    """
    require_matches([Pair(1, source, target)], translator.recipe.data)
    task = translator.task
    require_short_line(target)
    (ids,) = task.encode_targets([task.normalise(target)])
    if ids is None:
        raise InputError("the target has a label that is unknown to the model", "see its card")
    return ids


def require_positions(side: str, ids: Sequence[int], sizes: Architecture) -> None:
    """Raise InputError if `ids` outnumber the learned positions; the message calls them `side`."""
    require(
        sizes.positions != "learned" or len(ids) <= sizes.max_positions,
        f"the {side} has {len(ids):,} pieces, and this model has {sizes.max_positions:,} learned "
        "positions",
        "give a shorter text",
    )


def require_attention_fits(source: int, output: int, translator: Translator, most: int) -> None:
    """Raise InputError if the weights and beams for this many pieces may need over `most` bytes.

    `source` and `output` are numbers of pieces. If `output` is 0, it is not known yet, and
    `source` is used in its place.
    """
    sizes, expected = translator.models[0].sizes, output or source
    weights = source**2 * sizes.encoder_depth
    weights += (source * expected + expected**2) * sizes.decoder_depth
    beams = translator.recipe.search.beam * expected
    needed = WEIGHT_BYTES * sizes.heads * weights + beams * (HYPOTHESIS_BYTES + 8 * expected)
    fact = f"the picture of {source:,} pieces and {expected:,} of output"
    more = "" if most == PICTURE_BYTES else ", or raise `most`"
    require_affordable(fact, needed, most, f"give a shorter text, or a smaller beam{more}")


def build_views(
    translator: Translator, sources: Sequence[list[int]], outputs: Sequence[list[int]]
) -> Iterator[tuple[AttentionView, Float[Tensor, "T d_model"]]]:
    """Run the model once on all pairs; yield (record without steps, decoder states) for each."""
    (model,), task = translator.models, translator.task
    device = model.output.weight.device
    packed, targets = (Packed.from_sentences(side).to(device) for side in (sources, outputs))
    record = capture_attention(model, packed, targets.shift_right(BEGIN))
    is_tokenised = find_task_kind(translator.recipe.data).is_tokenised
    states = record.states.split([len(ids) for ids in outputs])
    for index, (source, ids) in enumerate(zip(sources, outputs, strict=True)):
        view = AttentionView(
            model=name_model(translator),
            task=translator.recipe.data.task,
            source=read_sequence(task.source, source, is_tokenised=is_tokenised),
            input=read_sequence(task.target, [BEGIN, *ids[:-1]], is_tokenised=False),
            output=read_sequence(task.target, ids, is_tokenised=False),
            layers=number_layers(model.sizes),
            weights={
                kind: torch.stack([layer[index] for layer in layers]).float().cpu().numpy()
                for kind, layers in record.weights.items()
            },
            steps=(),
            is_given=True,
            alignment=translator.aligner.find_heads() if isinstance(task, TextToText) else None,
        )
        yield view, states[index]


def name_model(translator: Translator) -> ModelName:
    """Return the first model's name, manifest sha256 or "", layers, and heads per layer."""
    sizes, hashes = translator.models[0].sizes, translator.hashes
    layers = len(number_layers(sizes))
    return ModelName(translator.recipe.name, hashes[0] if hashes else "", layers, sizes.heads)


def number_layers(sizes: Architecture) -> tuple[int, ...]:
    """Return (1, 2, …, N) for the N layers of a model's deeper stack."""
    return tuple(range(1, max(sizes.encoder_depth, sizes.decoder_depth) + 1))


@torch.no_grad()
def rank_next_pieces(
    model: Transformer,
    states: Float[Tensor, "T d_model"],
    output: Sequence[int],
    vocabulary: Vocabulary,
) -> list[OutputStep]:
    """Return each output piece's probability and the likeliest pieces after the same prefix.

    `states` are the decoder's; row t gives the probabilities of piece t of the output.
    """
    steps = list[OutputStep]()
    for part in states.split(SLICE):
        logits = model.logits(part)
        probabilities = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(dim=1)
        count, zeros = min(ALTERNATIVES, len(vocabulary)), probabilities.new_zeros(len(part), 1)
        values, ids = model.operations.highest_sums(zeros, probabilities, count)
        for row, best, symbols in zip(probabilities, values, ids, strict=True):
            written = output[len(steps)]
            chosen = NextPiece(readable_piece(vocabulary, written), float(row[written]))
            pairs = zip(symbols.tolist(), best.tolist(), strict=True)
            ranked = tuple(NextPiece(readable_piece(vocabulary, n), p) for n, p in pairs)
            steps.append(OutputStep(chosen, ranked))
    return steps


def describe_beams(
    beams: Sequence[Beam], output: Sequence[int], vocabulary: Vocabulary
) -> Iterator[tuple[BeamHypothesis, ...]]:
    """Yield the beam before each step; mark the hypotheses that are prefixes of `output`."""
    for length, (before, beam) in enumerate(pairwise([(), *beams])):
        parents = {one.ids: index for index, one in enumerate(before)}
        chosen = tuple(output[:length])
        yield tuple(
            BeamHypothesis(
                parent=parents.get(one.ids[:-1], -1),
                piece=readable_piece(vocabulary, one.ids[-1]) if one.ids else "",
                log_prob=one.log_prob,
                alternatives=tuple(
                    NextPiece(readable_piece(vocabulary, n), math.exp(p)) for n, p in one.following
                ),
                is_chosen=one.ids == chosen,
            )
            for one in beam
        )


def list_notes(ids: Sequence[int], translator: Translator) -> Iterator[str]:
    """Yield a note if the source is longer than in training, one if there is no self-attention."""
    most, sizes = translator.recipe.data.max_length, translator.models[0].sizes
    if len(ids) > most:
        more = ": in ordinary use it would be split" if translator.task.split_levels else ""
        fact = f"The text has {len(ids):,} pieces, and the model was trained on at most {most:,}"
        yield f"{fact}{more}."
    if sizes.mixing != "self-attention":
        yield (
            f"This model has no self-attention: architecture.mixing is {sizes.mixing}. Only its "
            "attention from the output to the source is shown."
        )
