"""What each head tends to read, as a label: previous, next, far, …; and which head is clearest.

Each weight counts for exactly one tendency, so that the shares of a head sum to 1:

    separator     a mark that is no text, such as "</s>"
    same          itself, or a distant piece of its word; in cross-attention an equal word
    previous      the position or the word before
    next          the position or the word after
    punctuation   punctuation further away
    far           any other word of the same sequence
    other         any other word of the source, in cross-attention

Cross-attention joins two sequences, so that it has neither previous nor next nor far.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from transduce.view.attention.record import AttentionView, PieceSequence, is_punctuation
from transduce.vocabulary.symbols import SPECIALS

# H heads · Q query positions · K key positions · P positions of a sequence

TENDENCIES = ("separator", "same", "previous", "next", "punctuation", "far", "other")
LEAST_SHARE = 0.5  # a head whose largest share is less is called "mixed"
BROAD = 0.8  # a "broad" head has at least this fraction of the highest entropy, and of 1 bit


@final
@dataclass(frozen=True)
class HeadTendency:
    """What a head mostly attends to, the share of its weights there, and the weights' entropy."""

    label: str  # one of TENDENCIES, or "mixed", or "broad"
    share: float  # the largest of the shares, from 0 to 1
    entropy: float  # of a query's weights, in bits, averaged over queries
    shares: Mapping[str, float]  # of every tendency; they sum to 1


def compute_tendencies(view: AttentionView) -> Mapping[str, tuple[tuple[HeadTendency, ...], ...]]:
    """Return what each head mostly attends to, such as "next", by kind, layer and head.

    The weights of the queries BEGIN and END do not count, unless a sequence has no others.
    """
    return {
        kind: tuple(describe_layer(view, kind, index) for index in range(len(layers)))
        for kind, layers in view.weights.items()
    }


def describe_layer(view: AttentionView, kind: str, index: int) -> tuple[HeadTendency, ...]:
    """Return the tendency of every head of one kind in the layer with this index."""
    queries, keys = view.queries(kind), view.keys(kind)
    classes = classify_cross(queries, keys) if kind == "cross" else classify_self(queries)
    counted = find_counted(queries)
    weights, classes = view.weights[kind][index][:, counted], classes[counted]
    chosen = [classes == number for number in range(len(TENDENCIES))]
    shares = np.stack([(weights * one).sum(axis=-1).mean(axis=-1) for one in chosen], axis=-1)
    logarithms = np.log2(weights, where=weights > 0, out=np.zeros_like(weights))
    entropies = -(weights * logarithms).sum(axis=-1).mean(axis=-1)
    broad = BROAD * max(compute_highest_entropy(view, kind)[counted].mean(), 1.0)
    return tuple(
        label_head(one, float(entropy), is_broad=bool(entropy >= broad))
        for one, entropy in zip(shares, entropies, strict=True)
    )


def compute_highest_entropy(view: AttentionView, kind: str) -> Float[np.ndarray, " Q"]:
    """Return each query's highest possible entropy in bits, that of equal weights on all keys.

    A query of the decoder's self-attention reads itself and earlier positions only.
    """
    queries, keys = len(view.queries(kind).pieces), len(view.keys(kind).pieces)
    return np.log2(np.arange(1, queries + 1) if kind == "decoder" else np.full(queries, keys))


def label_head(
    shares: Float[np.ndarray, " tendencies"], entropy: float, *, is_broad: bool
) -> HeadTendency:
    """Return a head's tendency, labelled "broad", "mixed" or by the class with the largest share.

    The label is "broad" if `is_broad`, else "mixed" if no share is at least 0.5, else the name of
    the largest share.
    """
    strongest = int(shares.argmax())
    label = TENDENCIES[strongest] if shares[strongest] >= LEAST_SHARE else "mixed"
    named = {name: float(share) for name, share in zip(TENDENCIES, shares, strict=True)}
    return HeadTendency(
        "broad" if is_broad else label, named[TENDENCIES[strongest]], entropy, named
    )


def classify_self(sequence: PieceSequence) -> Int[np.ndarray, "P P"]:
    """Return the TENDENCIES index of each (query, key) pair within one sequence."""
    positions, words = np.arange(len(sequence.pieces)), find_words(sequence)
    ahead = positions[None, :] - positions[:, None]
    words_ahead = words[None, :] - words[:, None]
    tests = {
        "separator": np.broadcast_to(find_specials(sequence), ahead.shape),
        "same": (ahead == 0) | ((words_ahead == 0) & (np.abs(ahead) > 1)),
        "previous": (ahead == -1) | (words_ahead == -1),
        "next": (ahead == 1) | (words_ahead == 1),
        "punctuation": np.broadcast_to(find_punctuation(sequence), ahead.shape),
    }
    return choose_first(tests, "far")


def classify_cross(queries: PieceSequence, keys: PieceSequence) -> Int[np.ndarray, "Q K"]:
    """Return the TENDENCIES index of each (output position, source position) pair."""
    shape = len(queries.pieces), len(keys.pieces)
    query_words, key_words = (
        np.array([one.words[n].text.casefold() for n in find_words(one)]) for one in (queries, keys)
    )
    tests = {
        "separator": np.broadcast_to(find_specials(keys), shape),
        "same": query_words[:, None] == key_words[None, :],
        "punctuation": np.broadcast_to(find_punctuation(keys), shape),
    }
    return choose_first(tests, "other")


def choose_head_to_show(view: AttentionView, kind: str) -> tuple[int, int]:
    """Return (layer, head), from 1, of the head that shows a kind of attention most clearly.

    In cross-attention, this head has the most weight on the source pieces aligned with the output.
    In other attention, or without an alignment, it has the highest mean over the keys, each counted
    with its largest weight. It is the first head if there are no keys but BEGIN and END.
    """
    weights = view.weights[kind][..., ~find_specials(view.keys(kind))]  # [L H Q K]
    layers, chosen = view.layers_of(kind), view.alignment
    if not weights.size:
        return layers[0], 1
    scores = weights.max(axis=-2).mean(axis=-1)
    if kind == "cross" and chosen and chosen.layer in layers and weights.shape[2] > 1:
        heads = [number - 1 for number in chosen.heads]
        mean = weights[layers.index(chosen.layer), heads].mean(axis=0)
        links = (mean[1:] if chosen.shifted else mean[:-1]).argmax(axis=-1)
        scores = weights[:, :, np.arange(len(links)), links].mean(axis=-1)
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return layers[layer], int(head) + 1


def choose_first(
    tests: Mapping[str, Bool[np.ndarray, "Q K"]], default: str
) -> Int[np.ndarray, "Q K"]:
    """Return for each pair the TENDENCIES index of its first true test, or of `default`."""
    numbers = [TENDENCIES.index(name) for name in tests]
    return np.select(list(tests.values()), numbers, default=TENDENCIES.index(default))


def find_words(sequence: PieceSequence) -> Int[np.ndarray, " P"]:
    """Return for each position the index of its word."""
    counts = [word.last - word.first + 1 for word in sequence.words]
    return np.repeat(np.arange(len(counts)), counts)


def find_counted(queries: PieceSequence) -> Bool[np.ndarray, " P"]:
    """Return which queries count, that is all but BEGIN and END, or all if there are no others."""
    specials = find_specials(queries)
    return specials if specials.all() else ~specials


def find_specials(sequence: PieceSequence) -> Bool[np.ndarray, " P"]:
    """Return for each position whether its piece is BEGIN or END."""
    return np.array([piece in SPECIALS for piece in sequence.pieces])


def find_punctuation(sequence: PieceSequence) -> Bool[np.ndarray, " P"]:
    """Return for each position whether its word is punctuation."""
    return np.array([is_punctuation(word.text) for word in sequence.words])[find_words(sequence)]
