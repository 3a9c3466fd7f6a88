"""Aligns encoded pairs, and the outputs of a block of lines with their sources."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from transduce.errors import InputError
from transduce.inference.alignment import Alignment, align_sentences
from transduce.inference.combine_parts import Combination
from transduce.inference.lines import EncodedLine, Line
from transduce.inference.long_lines import HINT, LineWarning
from transduce.inference.outputs import BlockResult, Output
from transduce.inference.pairs import Pair, encode_pairs, find_unscorable
from transduce.settings.alignment import (
    AlignmentHeads,
    build_alignment_heads,
    build_default_heads,
    number_heads,
)
from transduce.tasks import Task, TextToText, require_task
from transduce.text.placeholders import find_items

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

Parts = tuple[EncodedLine, Sequence[Combination]]  # a line, and the hypotheses of each output


def require_alignable(translator: "Translator") -> None:
    """Raise InputError for an ensemble, and for a model whose outputs are not text."""
    if len(translator.models) > 1:
        fact = f"words are aligned by one model, and this is {len(translator.models)}"
        raise InputError(fact, "name one model of the ensemble")
    require_task(translator.task, TextToText, translator.recipe.data, "word alignment")


def find_heads(translator: "Translator") -> AlignmentHeads:
    """Return the heads that a translator aligns by: those chosen, or all of its middle layer."""
    sizes = translator.models[0].sizes
    return translator.alignment_heads or build_default_heads(sizes)


def change_heads(translator: "Translator", changes: Mapping[str, Any]) -> AlignmentHeads:
    """Return a translator's alignment heads with changes; a new layer alone means all its heads."""
    require_alignable(translator)
    sizes, before = translator.models[0].sizes, find_heads(translator)
    if changes.get("layer", before.layer) != before.layer:
        changes = {"heads": number_heads(sizes), **changes}
    heads = build_alignment_heads(**{**asdict(before), **changes})
    heads.require_in(sizes)
    return heads


def align_block(translator: "Translator", pairs: Sequence[Pair]) -> BlockResult:
    """Return each pair's target with its alignment; a pair too long has no links and a warning."""
    found = align_texts(translator, pairs)
    warnings = [warning for _, warning in found if warning]
    if warnings and translator.strict:
        raise InputError(str(warnings[0]), HINT)
    both = zip(pairs, found, strict=True)
    return BlockResult(
        [[Output(pair.target, math.nan, math.nan, links)] for pair, (links, _) in both], warnings
    )


def align_texts(
    translator: "Translator", pairs: Sequence[Pair]
) -> list[tuple[Alignment, LineWarning | None]]:
    """Return each pair's alignment by the translator's heads, or a warning if it is too long."""
    require_alignable(translator)
    encoded = encode_pairs(pairs, translator.task)
    warnings = [find_unscorable(pair, translator.recipe) for pair in encoded]
    fitting = [pair for pair, warning in zip(encoded, warnings, strict=True) if not warning]
    vocabularies = translator.task.source, translator.task.target
    sources, targets = [pair.source for pair in fitting], [pair.target for pair in fitting]
    (model,), heads = translator.models, find_heads(translator)
    found = iter(align_sentences(model, vocabularies, sources, targets, heads))
    return [(Alignment() if warning else next(found), warning) for warning in warnings]


def add_alignments(
    translator: "Translator",
    lines: Sequence[Line],
    found: Sequence[Parts],
    outputs: Sequence[Sequence[Output]],
) -> list[list[Output]]:
    """Return the outputs of a block of lines, each with the word alignment to its line.

    The parts of a line that was split are aligned one by one, as they were translated.
    """
    task = translator.task
    texts = [
        (task.normalise(line.text), pair_parts(line.number, parts, rank, task))
        for line, parts, best in zip(lines, found, outputs, strict=True)
        for rank in range(len(best))
    ]
    flat = iter(align_texts(translator, [pair for _, pairs in texts for pair in pairs]))
    joined = iter(
        [join_alignments(text, pairs, [next(flat)[0] for _ in pairs]) for text, pairs in texts]
    )
    return [[replace(output, alignment=next(joined)) for output in best] for best in outputs]


def align_kept(translator: "Translator", lines: Sequence[Line], found: BlockResult) -> BlockResult:
    """Return results in which items were kept, with alignments if the translator aligns.

    What the model read in lines with items had other words, so that these are aligned anew. A pair
    that is too long for that keeps its links, if they number its own words; else a warning says so.
    """
    if not translator.aligns:
        plain = [[replace(one, alignment=None) for one in best] for best in found.outputs]
        return replace(found, outputs=plain)
    places = [
        (index, rank)
        for index, line in enumerate(lines)
        if any(find_items(line.text))
        for rank in range(len(found.outputs[index]))
    ]
    pairs = [
        Pair(lines[i].number, lines[i].text, found.outputs[i][rank].text) for i, rank in places
    ]
    outputs, warnings = [list(best) for best in found.outputs], list(found.warnings)
    aligned = align_texts(translator, pairs)
    for (index, rank), (alignment, warning) in zip(places, aligned, strict=True):
        before = outputs[index][rank]
        if warning is not None and before.alignment is not None:
            continue
        outputs[index][rank] = replace(before, alignment=alignment)
        warnings += [warning] if warning is not None and not rank else []
    return BlockResult(outputs, warnings)


def pair_parts(number: int, parts: Parts, rank: int, task: Task) -> list[Pair]:
    """Pair the text of each part of a line with the same part of output number `rank`, from 0."""
    encoded, combinations = parts
    return [
        Pair(number, text, task.decode(part.ids, text))
        for text, part in zip(encoded.texts, combinations[rank], strict=True)
    ]


def join_alignments(text: str, pairs: Sequence[Pair], alignments: Sequence[Alignment]) -> Alignment:
    """Return the alignment of a whole line of `text` from those of its parts, in order."""
    weights: dict[tuple[int, int], float] = {}
    at = words = 0  # characters of the source, words of the target, before a part
    for pair, alignment in zip(pairs, alignments, strict=True):
        at = max(at, text.find(pair.source, at))
        first = text.count(" ", 0, at)
        for (i, j), weight in zip(alignment.links, alignment.weights, strict=True):
            link = (i + first, j + words)
            weights[link] = max(weight, weights.get(link, 0.0))
        at, words = at + len(pair.source), words + len(pair.target.split())
    links = tuple(sorted(weights))
    return Alignment(links, tuple(weights[link] for link in links))
