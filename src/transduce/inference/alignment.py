"""Word alignments from the attention of the decoder to the source    (Chen et al. 2020)

A target piece is linked to the source piece that its decoding step attends to most, END left out.
Two words are linked if any of their pieces are. Without shifted attention, a piece's step is the
one that writes it; with it, the next step, which reads the piece.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from transduce.checkpoint.weights import require_finite_numbers
from transduce.corpus.shard import split_update
from transduce.inference.attention_weights import capture_cross_attention
from transduce.inference.halving import Batch, compute_in_batches
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.settings.alignment import AlignmentHeads
from transduce.vocabulary import BEGIN, Vocabulary
from transduce.vocabulary.words import find_spaced_starts, group_words

# L layers · H heads · C choices of heads · t target and s source pieces of a sentence pair
# I source and J target words of the pair

TOKENS = 8_192  # tokens of a batch, source and target together
Sentences = Sequence[Sequence[int]]


@final
@dataclass(frozen=True)
class Alignment:
    """The links between the words of a source and a target; `str` gives Pharaoh's format.

    A word is what blanks separate in a text. Words are counted from 0.
    """

    links: tuple[tuple[int, int], ...] = ()  # (source word, target word), in ascending order
    weights: tuple[float, ...] = ()  # for each link, its words' largest piece weight

    def __str__(self) -> str:
        return " ".join(f"{i}-{j}" for i, j in self.links)

    def rank_links(self) -> Sequence[tuple[int, int]]:
        """Return the links, that of the largest weight first."""
        pairs = zip(self.weights, self.links, strict=True)
        return [link for _, link in sorted(pairs, key=lambda pair: -pair[0])]

    def as_json(self) -> dict[str, Any]:
        """Return the links and their weights, rounded to four decimals, as values for JSON."""
        weights = [round(weight, 4) for weight in self.weights]
        return {"alignment": [list(link) for link in self.links], "weights": weights}


@final
@dataclass(frozen=True)
class PairWords:
    """For each piece of a source and a target, without END, the index of its word."""

    source: Sequence[int]
    target: Sequence[int]

    def link(self, weights: Float32[np.ndarray, "*C t s"]) -> Bool[np.ndarray, "*C I J"]:
        """Return which of I source words any piece of each of J target words attends most to."""
        best = np.asarray(self.source)[weights.argmax(axis=-1)]  # [*C t]: a source word
        linked = best[..., None, :] == np.arange(self.source[-1] + 1)[:, None]  # [*C I t]
        return np.logical_or.reduceat(linked, find_firsts(self.target), axis=-1)

    def align(self, weights: Float32[np.ndarray, "t s"]) -> Alignment:
        """Align a pair's words by attention weights from t target pieces to s source pieces."""
        largest = np.maximum.reduceat(weights, find_firsts(self.source), axis=-1)
        largest = np.maximum.reduceat(largest, find_firsts(self.target), axis=-2).T  # [I J]
        links = [(int(i), int(j)) for i, j in np.argwhere(self.link(weights))]
        return Alignment(tuple(links), tuple(float(largest[link]) for link in links))


def find_firsts(words: Sequence[int]) -> list[int]:
    """Return the index of the first piece of each word, given the word of each piece."""
    return [index for index, word in enumerate(words) if not index or words[index - 1] != word]


def find_pair_words(
    vocabularies: tuple[Vocabulary, Vocabulary], source: Sequence[int], target: Sequence[int]
) -> PairWords:
    """Return the word of each piece of a source and a target, whose ids end with END."""
    return PairWords(*map(number_words, vocabularies, (source, target)))


def number_words(vocabulary: Vocabulary, ids: Sequence[int]) -> list[int]:
    """Return for each piece of a normalised text, END left out, the index of its word."""
    values = [vocabulary.piece_bytes(number) for number in ids[:-1]]
    words = group_words(values, find_spaced_starts)
    return [index for index, (first, end) in enumerate(words) for _ in range(first, end)]


def capture_steps(
    model: Transformer, sources: Sentences, targets: Sentences, *, shifted: bool
) -> Iterator[tuple[int, list[Float32[Tensor, "H t s"]]]]:
    """Yield (index of a pair, its weights from target to source pieces by layer), END left out.

    The ids of every source and target end with END. Row t of the weights is the step that reads
    target piece t if `shifted`, else the step that writes it. Pairs come in batches of similar
    length, not in order.
    """
    device = model.output.weight.device
    if not sources:
        return
    ours, theirs = (np.array(list(map(len, side)), np.int64) for side in (sources, targets))
    tokens = max(TOKENS, int((ours + theirs).max()))

    def compute(batch: Batch) -> list[list[Tensor]]:
        source, target = (
            Packed.from_sentences([side[n] for n in batch]).to(device)
            for side in (sources, targets)
        )
        return capture_cross_attention(model, source, target.shift_right(BEGIN))

    batches = split_update(np.arange(len(sources)), ours, theirs, tokens)
    for batch, layers in compute_in_batches(batches, compute):
        for index, weights in zip(batch.tolist(), zip(*layers, strict=True), strict=True):
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
    """Return the alignment of each pair of ids, from the mean weights of the chosen heads.

    The ids of every source and target end with END; a pair with an empty side has no links.
    """
    found = [Alignment()] * len(sources)
    filled = [n for n in range(len(sources)) if min(len(sources[n]), len(targets[n])) > 1]
    ours, theirs = ([side[n] for n in filled] for side in (sources, targets))
    heads = [number - 1 for number in chosen.heads]
    for index, layers in capture_steps(model, ours, theirs, shifted=chosen.shifted):
        weights = layers[chosen.layer - 1][heads].mean(dim=0).cpu().numpy()
        words = find_pair_words(vocabularies, ours[index], theirs[index])
        found[filled[index]] = words.align(weights)
    return found
