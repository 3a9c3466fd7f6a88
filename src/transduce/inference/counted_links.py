"""Word alignment without a neural model: IBM Model 1 with a diagonal prior    (Brown et al. 1993)

P(t | s) of a target word t for a source word s is learned by EM from sentence pairs. A link near
the diagonal of its pair is likelier (Dyer et al. 2013). Both directions are learned. Links that
both find are sure; links that only one finds are possible.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

from transduce.scores.alignments import GoldLinks

# C candidate links of all pairs, end to end · W words of one side of all pairs, end to end

Words = Sequence[str]
ROUNDS = 5  # of EM
SLOPE = 4.0  # how fast a link gets less likely off the diagonal; the first value of fast_align


def learn_links(sources: Sequence[Words], targets: Sequence[Words]) -> list[GoldLinks]:
    """Learn word links from these pairs by EM; return the sure and possible links of each pair.

    No text may be empty. A link is (source index, target index).
    """
    forward = find_likeliest_sources(sources, targets)
    backward = find_likeliest_sources(targets, sources)
    found = list[GoldLinks]()
    for best_sources, best_targets in zip(forward, backward, strict=True):
        one = {(int(i), j) for j, i in enumerate(best_sources)}
        other = {(i, int(j)) for i, j in enumerate(best_targets)}
        found.append(GoldLinks(frozenset(one & other), frozenset(one | other)))
    return found


def find_likeliest_sources(
    sources: Sequence[Words], targets: Sequence[Words]
) -> list[Int64[np.ndarray, " W"]]:
    """Return the index of each target word's likeliest source word, in one array for each pair."""
    # number of words of each pair's target, of its source
    heights, widths = (np.array(list(map(len, side))) for side in (targets, sources))
    counts = np.repeat(widths, heights)  # [W]: how many source words a target word may link to
    word = np.repeat(np.arange(len(counts)), counts)  # [C]: which of the W target words
    firsts = np.cumsum(counts) - counts  # [W]: the index of a target word's first link
    i = np.arange(len(word)) - firsts[word]  # [C]: the source word in its pair
    j = np.concatenate([np.arange(height) for height in heights])[word]  # [C]: the target word
    pair = np.repeat(np.arange(len(heights)), heights)[word]  # [C]
    apart = np.abs((i + 0.5) / widths[pair] - (j + 0.5) / heights[pair])
    ours, theirs = number_words(sources), number_words(targets)  # ids of sources, of targets
    source = ours[(np.cumsum(widths) - widths)[pair] + i]
    keys, entry = np.unique(source * (theirs.max() + 1) + theirs[word], return_inverse=True)
    posterior = learn_link_weights(entry, keys // (theirs.max() + 1), word, np.exp(-SLOPE * apart))
    order = np.lexsort((posterior, word))
    best = i[order[np.cumsum(counts) - 1]]
    return np.split(best, np.cumsum(heights)[:-1])


def learn_link_weights(
    entry: Int64[np.ndarray, " C"],
    source: Int64[np.ndarray, " E"],
    word: Int64[np.ndarray, " C"],
    prior: Float64[np.ndarray, " C"],
) -> Float64[np.ndarray, " C"]:
    """Learn P(t | s) by EM; return P(t | s) times the prior for each of C candidate links.

    `entry` is the place of a link's P(t | s) in a table of E entries, `source` the source word of
    each entry, and `word` the target word of each link.
    """
    table = np.ones(len(source))
    for _ in range(ROUNDS):
        links = table[entry] * prior
        links /= np.bincount(word, links)[word]
        counts = np.bincount(entry, links)
        table = counts / np.bincount(source, counts)[source]
    return table[entry] * prior


def number_words(texts: Sequence[Words]) -> Int64[np.ndarray, " W"]:
    """Return an id for each word of all texts, as one array; equal words have equal ids."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(word, len(numbers)) for words in texts for word in words]
    return np.array(found, np.int64)
