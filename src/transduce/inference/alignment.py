"""Word alignments from the attention of the decoder to the source    (Chen et al. 2020)

Each target piece is linked to the source piece that its decoding step attends to most; END is left
out. Two words are linked if any of their pieces are. The decoding step of a piece is the step that
writes the piece, or, with shifted attention, the next step, which reads the piece.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from transduce.checkpoint.weights import require_finite_numbers
from transduce.errors import InputError
from transduce.inference.attention_weights import capture_cross_attention
from transduce.inference.lines import EncodedLine, Line, LineWarning, Pair
from transduce.inference.outputs import Alignment, BlockResult, Combination, Output
from transduce.inference.pairs import (
    TOKENS,
    Sentences,
    compute_in_batches,
    encode_pairs,
    find_unscorable,
)
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.settings import Recipe
from transduce.settings.alignment import (
    AlignmentHeads,
    build_alignment_heads,
    build_default_heads,
    list_head_numbers,
)
from transduce.tasks import Task, TextToText, require_task
from transduce.text.placeholders import find_items
from transduce.vocabulary import BEGIN, Vocabulary
from transduce.vocabulary.symbols import find_token_starts, group_words

# L layers · H heads · C choices of heads · t target and s source pieces of a sentence pair
# I source and J target words of the pair


@final
@dataclass(frozen=True)
class PairWords:
    """The word index of each piece of a source and of a target, without END."""

    source: Sequence[int]
    target: Sequence[int]

    def link(self, weights: Float32[np.ndarray, "*C t s"]) -> Bool[np.ndarray, "*C I J"]:
        """Return masks, True at [i, j] if a piece of target word j attends most to word i."""
        best = np.asarray(self.source)[weights.argmax(axis=-1)]  # [*C t]: a source word
        linked = best[..., None, :] == np.arange(self.source[-1] + 1)[:, None]  # [*C I t]
        return np.logical_or.reduceat(linked, find_firsts(self.target), axis=-1)

    def align(self, weights: Float32[np.ndarray, "t s"]) -> Alignment:
        """Return a pair's word alignment, given the weights from target to source pieces."""
        largest = np.maximum.reduceat(weights, find_firsts(self.source), axis=-1)
        largest = np.maximum.reduceat(largest, find_firsts(self.target), axis=-2).T  # [I J]
        links = [(int(i), int(j)) for i, j in np.argwhere(self.link(weights))]
        return Alignment(tuple(links), tuple(float(largest[link]) for link in links))


def find_firsts(words: Sequence[int]) -> list[int]:
    """Return the index of each word's first piece, given the word index of every piece."""
    return [index for index, word in enumerate(words) if not index or words[index - 1] != word]


def find_pair_words(
    vocabularies: tuple[Vocabulary, Vocabulary], source: Sequence[int], target: Sequence[int]
) -> PairWords:
    """Return the word index of each piece, given the ids of both sides; their END is left out."""
    sides = list[list[int]]()
    for vocabulary, ids in zip(vocabularies, (source, target), strict=True):
        pieces = [vocabulary.piece_bytes(piece_id) for piece_id in ids[:-1]]
        words = group_words(pieces, find_token_starts)
        sides.append([index for index, (start, end) in enumerate(words) for _ in range(start, end)])
    return PairWords(*sides)


def capture_steps(
    model: Transformer, sources: Sentences, targets: Sentences, *, shifted: bool
) -> Iterator[tuple[int, list[Float32[Tensor, "H t s"]]]]:
    """Yield (pair index, each layer's cross-attention weights) for every pair, in any order.

    The ids of every source and target end with END; the weights leave it out. Row t has those of
    the step that writes target piece t or, if `shifted`, of the next step, which reads it.
    """
    device = model.output.weight.device
    if not sources:
        return
    longest = max(
        len(source) + len(target) for source, target in zip(sources, targets, strict=True)
    )

    def compute(source: Packed, target: Packed) -> list[list[Tensor]]:
        inputs = target.to(device).shift_right(BEGIN)
        return capture_cross_attention(model, source.to(device), inputs)

    for batch, layers in compute_in_batches(sources, targets, max(TOKENS, longest), compute):
        for index, weights in zip(batch, zip(*layers, strict=True), strict=True):
            for layer in weights:
                require_finite_numbers(layer, "a pair")
            rows = slice(1, None) if shifted else slice(None, -1)
            yield index, [layer[:, rows, :-1].float() for layer in weights]


@torch.inference_mode()
def align_sentences(
    model: Transformer,
    vocabularies: tuple[Vocabulary, Vocabulary],
    sources: Sentences,
    targets: Sentences,
    chosen: AlignmentHeads,
) -> list[Alignment]:
    """Return the word alignment of each pair, from the mean weights of the chosen heads.

    The ids of every source and target end with END; a pair with an empty side has no links.
    """
    found = [Alignment()] * len(sources)
    used = [n for n in range(len(sources)) if min(len(sources[n]), len(targets[n])) > 1]
    used_sources, used_targets = ([side[n] for n in used] for side in (sources, targets))
    heads = [number - 1 for number in chosen.heads]
    for index, layers in capture_steps(model, used_sources, used_targets, shifted=chosen.shifted):
        weights = layers[chosen.layer - 1][heads].mean(dim=0).cpu().numpy()
        words = find_pair_words(vocabularies, used_sources[index], used_targets[index])
        found[used[index]] = words.align(weights)
    return found


Parts = tuple[EncodedLine, Sequence[Combination]]  # a line; for each output, a hypothesis per part


@final
@dataclass(frozen=True)
class Aligner:
    """An aligner of words by a model's attention, in chosen heads or all of the middle layer."""

    models: Sequence[Transformer]  # an ensemble cannot align
    task: Task
    recipe: Recipe
    chosen: AlignmentHeads | None

    def require_alignable(self) -> None:
        """Raise InputError for an ensemble, and for a model whose outputs are not text."""
        if len(self.models) > 1:
            fact = f"words are aligned by one model, and these are {len(self.models)}"
            raise InputError(fact, "name one model of the ensemble")
        require_task(self.task, TextToText, self.recipe.data, "word alignment")

    def find_heads(self) -> AlignmentHeads:
        """Return the heads to align by: the chosen ones, or all of the middle layer."""
        return self.chosen or build_default_heads(self.models[0].sizes)

    def change_heads(self, changes: Mapping[str, Any]) -> AlignmentHeads:
        """Return the heads with `changes`; a new `layer` without `heads` means all its heads."""
        self.require_alignable()
        sizes, before = self.models[0].sizes, self.find_heads()
        if changes.get("layer", before.layer) != before.layer:
            changes = {"heads": list_head_numbers(sizes), **changes}
        heads = build_alignment_heads(**{**asdict(before), **changes})
        heads.require_in(sizes)
        return heads

    def align_texts(self, pairs: Sequence[Pair]) -> list[tuple[Alignment, LineWarning | None]]:
        """Return (alignment, None) for each pair, or (no links, warning) if it is too long."""
        self.require_alignable()
        encoded = encode_pairs(pairs, self.task)
        warnings = [find_unscorable(pair, self.recipe) for pair in encoded]
        fitting = [pair for pair, warning in zip(encoded, warnings, strict=True) if not warning]
        vocabularies = self.task.source, self.task.target
        sources, targets = [pair.source for pair in fitting], [pair.target for pair in fitting]
        (model,), heads = self.models, self.find_heads()
        found = iter(align_sentences(model, vocabularies, sources, targets, heads))
        return [(Alignment() if warning else next(found), warning) for warning in warnings]

    def add_alignments(
        self,
        lines: Sequence[Line],
        found: Sequence[Parts],
        outputs: Sequence[Sequence[Output]],
    ) -> list[list[Output]]:
        """Return copies of each line's outputs with their word alignments to the line.

        `found` has each line's parts and their hypotheses. Parts are aligned one by one; a part
        that is too long for this has no links.
        """
        task = self.task
        texts = list[tuple[str, list[Pair]]]()
        for line, (encoded, combinations), best in zip(lines, found, outputs, strict=True):
            for combination in combinations[: len(best)]:
                both = zip(encoded.texts, combination, strict=True)
                pairs = [
                    Pair(line.number, text, task.decode(part.ids, text)) for text, part in both
                ]
                texts.append((task.normalise(line.text), pairs))
        flat = iter(self.align_texts([pair for _, pairs in texts for pair in pairs]))
        joined = iter(
            [join_alignments(text, pairs, [next(flat)[0] for _ in pairs]) for text, pairs in texts]
        )
        return [[replace(output, alignment=next(joined)) for output in best] for best in outputs]

    def align_kept(self, lines: Sequence[Line], found: BlockResult) -> BlockResult:
        """Return `found` with new alignments in the outputs of lines with URLs or placeholders.

        The model read other words in place of these items. An output too long to align keeps the
        alignment that it has, or has no links; then the best output of a line also gets a warning.
        """
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
        aligned = self.align_texts(pairs)
        for (index, rank), (alignment, warning) in zip(places, aligned, strict=True):
            before = outputs[index][rank]
            if warning is not None and before.alignment is not None:
                continue
            outputs[index][rank] = replace(before, alignment=alignment)
            warnings += [warning] if warning is not None and not rank else []
        return BlockResult(outputs, warnings)


def join_alignments(text: str, pairs: Sequence[Pair], alignments: Sequence[Alignment]) -> Alignment:
    """Join the alignments of a line's parts, in order, into that of the whole line `text`."""
    weights: dict[tuple[int, int], float] = {}
    at = target_words = 0  # the source characters and the target words before a part
    for pair, alignment in zip(pairs, alignments, strict=True):
        at = max(at, text.find(pair.source, at))
        source_words = text.count(" ", 0, at)
        for (i, j), weight in zip(alignment.links, alignment.weights, strict=True):
            link = (i + source_words, j + target_words)
            weights[link] = max(weight, weights.get(link, 0.0))
        at, target_words = at + len(pair.source), target_words + len(pair.target.split())
    links = tuple(sorted(weights))
    return Alignment(links, tuple(weights[link] for link in links))
