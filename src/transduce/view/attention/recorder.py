"""Records the attention weights of a model for a source and its own or a given output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from jaxtyping import Float32

from transduce.allowance import PICTURE_BYTES, require_affordable, require_short_line
from transduce.checkpoint.weights import require_finite_numbers
from transduce.errors import InputError
from transduce.inference.attention_weights import AttentionRecord, capture_attention
from transduce.inference.outputs import build_decoder, limit_batch_size
from transduce.inference.pairs import Pair, require_matches
from transduce.inference.translator import PART_BITS, Translator
from transduce.packed import Packed
from transduce.search.constraints import with_constraints
from transduce.search.trace import trace_beam_search
from transduce.settings import Architecture, Data
from transduce.settings.fields import require
from transduce.tasks import constrain_source, find_task_kind
from transduce.tasks.text import TextToText
from transduce.view.attention.record import AttentionView, ModelName, OutputStep
from transduce.view.attention.steps import (
    ALTERNATIVES,
    Beam,
    describe_beams,
    rank_next_pieces,
)
from transduce.view.attention.words import read_sequence
from transduce.vocabulary import BEGIN, END

# L layers · H heads · Q query positions · K key positions

LINE_KEY = 1 << PART_BITS  # the random key of a first line, so that samples are `translate`'s

WEIGHT_BYTES = 12  # of memory for a weight, while it is captured, stacked and written into a page
HYPOTHESIS_BYTES = 2_000  # for a hypothesis before a step, with the pieces that may come next


@final
@dataclass(frozen=True)
class EncodedOutput:
    """The ids of an output with END, and the beam before each step if a search found them."""

    ids: list[int]
    beams: Sequence[Beam] = ()


def record_attention(
    translator: Translator, source: str, target: str | None = None, most: int = PICTURE_BYTES
) -> AttentionView:
    """Return all attention weights for a source text and an output, from one forward pass.

    Texts whose weights may need more than `most` bytes are refused before the pass.

    The output is `target`, or what the translator itself writes, with the beam of every step of
    its search. Unlike in translation, a long text is not split.
    """
    if len(translator.models) > 1:
        fact = f"attention is shown for one model, and this is {len(translator.models)}"
        raise InputError(fact, "load one model of the ensemble")
    text = read_source(translator, source)
    (ids,) = translator.task.encode_sources([text])
    sizes, data = translator.models[0].sizes, translator.recipe.data
    require_positions("source", ids, sizes)
    require_picture_fits(len(ids), 0, translator, most)
    if target is None:
        output = search_output(translator, text, ids)
    else:
        output = encode_output(translator, source, target)
    require_positions("output", output.ids, sizes)
    require_picture_fits(len(ids), len(output.ids), translator, most)
    view = build_view(translator, ids, output)
    notes = [*note_length(ids, data), *note_layers(sizes)]
    return replace(view, is_given=target is not None, notes=tuple(notes))


def read_source(translator: Translator, source: str) -> str:
    """Return the normalised source text; refuse a text without any word."""
    require_short_line(source)
    text = translator.task.normalise(source)
    require(bool(text), "the text is empty: it has no attention weights", "give it some words")
    return text


def search_output(translator: Translator, text: str, ids: list[int]) -> EncodedOutput:
    """Return the output that the translator writes for a text, with the beams of its search."""
    search = translator.recipe.search
    source = constrain_source(ids, translator.task, text, search)
    if translator.sampling_settings is not None:
        ((sample,),) = translator.decode_sources([source], [LINE_KEY], 1)
        return EncodedOutput([*sample.ids, END])
    decoder, (constrained,) = with_constraints(build_decoder(translator.models), [source])
    search = limit_batch_size(translator.models, [ids], search, search.beam)
    operations = translator.models[0].operations
    trace = trace_beam_search(decoder, constrained, search, ALTERNATIVES, operations=operations)
    return EncodedOutput([*trace.best.ids, END], trace.steps)


def encode_output(translator: Translator, source: str, target: str) -> EncodedOutput:
    """Return the ids of a given output; refuse one that the model cannot write for the source."""
    require_matches([Pair(1, source, target)], translator.recipe.data)
    task = translator.task
    require_short_line(target)
    (ids,) = task.encode_targets([task.normalise(target)])
    if ids is None:
        raise InputError("the target has a label that is unknown to the model", "see its card")
    return EncodedOutput(ids)


def require_positions(side: str, ids: Sequence[int], sizes: Architecture) -> None:
    """Refuse a sequence, named `side` in the error, with more pieces than learned positions."""
    require(
        sizes.positions == "sinusoidal" or len(ids) <= sizes.max_positions,
        f"the {side} has {len(ids):,} pieces, and this model has {sizes.max_positions:,} learned "
        "positions",
        "give a shorter text",
    )


def require_picture_fits(source: int, output: int, translator: Translator, most: int) -> None:
    """Refuse numbers of source and output pieces whose picture may need over `most` bytes.

    An `output` of 0 is not known yet, and counts as many pieces as the source.
    """
    sizes, expected = translator.models[0].sizes, output or source
    weights = (source**2 + source * expected + expected**2) * sizes.layers * sizes.heads
    beams = translator.recipe.search.beam * expected
    needed = WEIGHT_BYTES * weights + beams * (HYPOTHESIS_BYTES + 8 * expected)
    fact = f"the picture of {source:,} pieces and {expected:,} of output"
    require_affordable(fact, needed, most, "give a shorter text, or a smaller beam")


def build_view(translator: Translator, source: list[int], output: EncodedOutput) -> AttentionView:
    """Return the record of one forward pass over the ids of a source and an output."""
    (model,), task = translator.models, translator.task
    device = model.output.weight.device
    packed, outputs = (Packed.from_sentences([ids]).to(device) for ids in (source, output.ids))
    record = capture_attention(model, packed, outputs.shift_right(BEGIN))
    require_finite_numbers(record.states, "this text")
    steps = rank_next_pieces(model, record.states, output.ids, task.target)
    is_tokenised = find_task_kind(translator.recipe.data).is_tokenised
    return AttentionView(
        model=name_model(translator),
        task=translator.recipe.data.task,
        source=read_sequence(task.source, source, is_tokenised=is_tokenised),
        input=read_sequence(task.target, [BEGIN, *output.ids[:-1]], is_tokenised=False),
        output=read_sequence(task.target, output.ids, is_tokenised=False),
        layers=tuple(range(1, model.sizes.layers + 1)),
        weights=stack_weights(record),
        steps=add_beams(steps, output, translator),
        is_given=not output.beams,
        alignment=translator.aligner.find_heads() if isinstance(task, TextToText) else None,
    )


def name_model(translator: Translator) -> ModelName:
    """Return the name, hash and sizes of a translator's only model."""
    sizes, hashes = translator.models[0].sizes, translator.hashes
    return ModelName(translator.recipe.name, hashes[0] if hashes else "", sizes.layers, sizes.heads)


def stack_weights(record: AttentionRecord) -> Mapping[str, Float32[np.ndarray, "L H Q K"]]:
    """Return a record's weights of its only sentence, one array for each kind of attention."""
    kinds = {"encoder": record.encoder, "decoder": record.decoder, "cross": record.cross}
    return MappingProxyType(
        {
            kind: torch.stack([sentence for (sentence,) in layers]).float().cpu().numpy()
            for kind, layers in kinds.items()
            if layers
        }
    )


def add_beams(
    steps: Sequence[OutputStep], output: EncodedOutput, translator: Translator
) -> tuple[OutputStep, ...]:
    """Return the steps, each with the hypotheses it started from if a search found the output."""
    if not output.beams:
        return tuple(steps)
    beams = describe_beams(output.beams, output.ids, translator.task.target)
    return tuple(replace(step, beam=beam) for step, beam in zip(steps, beams, strict=False))


def note_length(ids: Sequence[int], data: Data) -> list[str]:
    """Return a note if a source is longer than the model's training sentences, else []."""
    if len(ids) <= data.max_length:
        return []
    return [
        f"The text has {len(ids):,} pieces, and the model was trained on at most "
        f"{data.max_length:,}: in translation it would be split."
    ]


def note_layers(sizes: Architecture) -> list[str]:
    """Return a note if a model has another layer in place of self-attention, else []."""
    if sizes.mixing == "self-attention":
        return []
    return [
        f"This model has no self-attention: architecture.mixing is {sizes.mixing}. Only its "
        "attention from the output to the source is shown."
    ]
