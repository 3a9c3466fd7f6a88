"""Chooses the layer and heads that align best with gold links, and stores them with the model.

If there are no gold links, a statistical aligner's links take their place (`counted_links.py`).

The first pass over the pairs ranks the heads of each layer by their error rates. The second pass
tries the mean of a layer's best two heads, of its best three, and so on. Both run twice: with the
attention of the step that reads a target piece (shifted), and of the step that writes it. Each pass
computes the attention anew, so that memory does not grow with the pairs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float32

from transduce.checkpoint.model_files import ALIGNMENT, is_model, save_alignment_heads
from transduce.errors import InputError
from transduce.inference.alignment import PairWords, capture_steps, find_pair_words
from transduce.inference.counted_links import learn_links
from transduce.inference.lines import LineWarning, Pair
from transduce.inference.load import load
from transduce.inference.pairs import EncodedPair, encode_pairs, find_unscorable
from transduce.inference.translator import Translator
from transduce.scores.alignments import (
    AlignmentResult,
    GoldLinks,
    parse_gold_links,
    read_alignments,
)
from transduce.settings.alignment import AlignmentHeads, list_head_numbers
from transduce.settings.fields import require
from transduce.tasks.text import TextToText
from transduce.text.arguments import Text, read_path, read_text, require_equal_lines
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.symbols import find_token_starts, group_words

# H heads · C choices of heads of a layer · t target and s source pieces
# I source and J target words

FEWEST_GOLD_PAIRS = 20  # gold pairs needed to replace an earlier choice of heads
MOST_LINKS = 5_000_000  # possible links of all pairs that are counted: about half a GB
SCORED = 100  # pairs by which heads are chosen without gold links
Choices = Mapping[int, Sequence[tuple[int, ...]]]  # layer -> choices of heads (from 1)
GoldPairs = Sequence[tuple[EncodedPair, GoldLinks]]


@final
@dataclass(frozen=True)
class ScoredHeads:
    """Heads of a layer, and the error rate (AER) of the links from their mean weights."""

    heads: AlignmentHeads
    result: AlignmentResult

    def as_json(self) -> dict[str, Any]:
        """Return the heads, AER, precision, recall and counts of links as values for JSON."""
        found = self.result
        rates = {"aer": found.score, "precision": found.precision, "recall": found.recall}
        return {**asdict(self.heads), **rates, **asdict(found)}


@torch.inference_mode()
def score_choices(
    translator: Translator, pairs: GoldPairs, choices: Choices, *, shifted: bool
) -> dict[int, list[ScoredHeads]]:
    """Return {layer: [each choice of heads with its error rate]} on the gold links.

    If `shifted`, a target piece is aligned by the step that reads it, else by the step that writes
    it. Raises InputError for a gold link past the end of a side.
    """
    (model,), task = translator.models, translator.task
    means = {
        layer: build_means(heads, model.sizes.heads).to(model.output.weight.device)
        for layer, heads in choices.items()
    }
    # by layer, for each choice: its links, how many of them are sure, how many are gold links
    totals = {layer: np.zeros((len(heads), 3), np.int64) for layer, heads in choices.items()}
    sources, targets = [pair.source for pair, _ in pairs], [pair.target for pair, _ in pairs]
    for index, layers in capture_steps(model, sources, targets, shifted=shifted):
        words = find_pair_words((task.source, task.target), sources[index], targets[index])
        pair, links = pairs[index]
        gold = build_gold_masks(links, words, pair.number)
        for layer, mean in means.items():
            weights = torch.einsum("ch,hts->cts", mean, layers[layer - 1]).cpu().numpy()
            linked = words.link(weights)  # [C I J]
            counted = np.stack([linked, linked & gold[0], linked & gold[1]], axis=-1)
            totals[layer] += counted.sum(axis=(1, 2))
    known = [sum(len(one.sure) for _, one in pairs), sum(len(one.all) for _, one in pairs)]
    return {
        layer: [
            ScoredHeads(AlignmentHeads(layer, heads, shifted), AlignmentResult(*counts, *known))
            for heads, counts in zip(choices[layer], totals[layer].tolist(), strict=True)
        ]
        for layer in choices
    }


def build_means(choices: Sequence[tuple[int, ...]], heads: int) -> Float32[torch.Tensor, "C H"]:
    """Return a matrix whose rows average the chosen heads: 1 / count for these, 0 for others."""
    means = torch.zeros(len(choices), heads)
    for row, chosen in zip(means, choices, strict=True):
        row[[number - 1 for number in chosen]] = 1 / len(chosen)
    return means


def build_gold_masks(gold: GoldLinks, words: PairWords, line: int) -> Bool[np.ndarray, "2 I J"]:
    """Return masks (sure, all) of gold links [source, target word]; refuse links past the end."""
    masks = np.zeros((2, words.source[-1] + 1, words.target[-1] + 1), bool)
    for index, links in enumerate((gold.sure, gold.all)):
        for i, j in links:
            if i >= masks.shape[1] or j >= masks.shape[2]:
                raise InputError(
                    f"line {line}: the gold link {i}-{j} is of words beyond the end: the source "
                    f"has {masks.shape[1]:,} words, the target {masks.shape[2]:,}",
                    "words count from 0, and are what spaces separate; is the order of the two "
                    "sides that of the gold file?",
                )
            masks[index, i, j] = True
    return masks


@final
@dataclass(frozen=True)
class AlignmentChoice:
    """The heads that align best with gold links, other heads to compare, and the scores of all."""

    best: ScoredHeads
    layers: tuple[ScoredHeads, ...]  # the best heads of each layer
    plain: ScoredHeads  # for comparison: the mean of all heads of the last layer, unshifted
    pairs: int  # the number of pairs that were aligned
    warnings: tuple[LineWarning, ...] = ()  # on pairs too long for the model, which are left out
    before: ScoredHeads | None = None  # the heads that the model had, if any were chosen

    def as_json(self) -> dict[str, Any]:
        """Return the choice of alignment heads as a dict for JSON, without warnings."""
        both = {"best": self.best.as_json(), "plain": self.plain.as_json()}
        before = {"before": self.before.as_json()} if self.before else {}
        layers = [one.as_json() for one in self.layers]
        return {**both, **before, "layers": layers, "pairs": self.pairs}


def choose_alignment_heads(
    model: str | PathLike[str], source: Text, target: Text, gold: Text
) -> AlignmentChoice:
    """Store the heads of a model folder that align best with gold links; return the choice.

        texts = ["a dog"] * 20, ["ein Hund"] * 20, ["0-0 1-1"] * 20
        choice = transduce.choose_alignment_heads("model", *texts)
        print(choice.best.heads, choice.best.result.score)

    Texts are files or lists of lines; each line of `gold` has the links of a pair,
    `i-j` if sure and `ipj` if possible. The choice is written to alignment.json in the model
    folder, and `transduce.load` reads it. Fewer than 20 pairs cannot replace an earlier choice.
    """
    folder = read_path("model", model)
    translator = load(folder)
    if not is_model(folder):
        fact = "is no model folder, and heads are stored with one"
        hint = "`transduce average` writes one; the weights of a run change as it goes on"
        raise InputError(fact, hint, file=folder)
    choice = choose_heads(translator, source, target, gold)
    found, before = choice.best.result, choice.before
    if before is not None and choice.pairs < FEWEST_GOLD_PAIRS:
        fact = (
            f"{choice.pairs} pair{'s' * (choice.pairs > 1)} cannot replace an earlier choice of "
            f"heads, {before.heads} (error rate here {before.result.score:.2f}, the lowest here "
            f"{found.score:.2f} with {choice.best.heads})"
        )
        hint = f"{FEWEST_GOLD_PAIRS} pairs or more decide; or delete {folder / ALIGNMENT} first"
        raise InputError(fact, hint)
    about = {"pairs": choice.pairs, "aer": found.score, "links": found.links, "sure": found.sure}
    save_alignment_heads(folder, translator.hashes[0], choice.best.heads, about)
    return choice


def choose_heads(translator: Translator, source: Text, target: Text, gold: Text) -> AlignmentChoice:
    """Return the heads that align a text best with gold links, and results of other choices."""
    translator.aligner.require_alignable()
    pairs, warnings = read_gold_pairs(translator, source, target, gold)
    return replace(choose_heads_by_pairs(translator, pairs), warnings=tuple(warnings))


def choose_heads_by_pairs(translator: Translator, pairs: GoldPairs) -> AlignmentChoice:
    """Return the heads that align these pairs best, and other heads for comparison, all scored.

    If the model has heads already, they are scored, too.
    """
    sizes, chosen = translator.models[0].sizes, translator.aligner.chosen
    single = {
        layer: [(head,) for head in list_head_numbers(sizes)]
        for layer in range(1, sizes.decoder_depth + 1)
    }
    found = dict[bool, dict[int, list[ScoredHeads]]]()
    for shifted in (True, False):
        ranked = dict(rank_means(score_choices(translator, pairs, single, shifted=shifted)))
        if chosen is not None and chosen.shifted == shifted:
            ranked[chosen.layer] = [chosen.heads, *ranked[chosen.layer]]
        found[shifted] = score_choices(translator, pairs, ranked, shifted=shifted)
    layers = [
        min([*found[True][layer], *found[False][layer]], key=order_by_error) for layer in single
    ]
    best, plain = min(layers, key=order_by_error), found[False][sizes.decoder_depth][-1]
    before = found[chosen.shifted][chosen.layer][0] if chosen else None
    return AlignmentChoice(best, tuple(layers), plain, len(pairs), before=before)


def choose_without_gold(model: Path, pairs: Sequence[EncodedPair]) -> AlignmentHeads | None:
    """Choose heads by links learned from the pairs by EM; store and return them, or return None.

    Links are learned from all pairs, or from as many first pairs as have `MOST_LINKS` possible
    links; heads are scored on the first `SCORED` of them. Returns None, and stores nothing, if the
    model does not translate text, or no pair can be used.
    """
    translator = load(model)
    task = translator.task
    filled = [pair for pair in pairs if min(len(pair.source), len(pair.target)) > 1]
    if not isinstance(task, TextToText) or not filled:
        return None
    sources = [decode_words(task.source, pair.source) for pair in filled]
    targets = [decode_words(task.target, pair.target) for pair in filled]
    links = np.cumsum([len(a) * len(b) for a, b in zip(sources, targets, strict=True)])
    fitting = max(1, int(np.searchsorted(links, MOST_LINKS, side="right")))
    filled, sources, targets = filled[:fitting], sources[:fitting], targets[:fitting]
    used = [pair for pair in filled[:SCORED] if not find_unscorable(pair, translator.recipe)]
    if not used:
        return None
    counted = learn_links(sources, targets)
    by_number = {pair.number: links for pair, links in zip(filled, counted, strict=True)}
    gold = [(pair, by_number[pair.number]) for pair in used]
    best = choose_heads_by_pairs(translator, gold).best.heads
    save_alignment_heads(model, translator.hashes[0], best, {"pairs": len(used)})
    return best


def decode_words(vocabulary: Vocabulary, ids: Sequence[int]) -> list[str]:
    """Return the words of `ids`, END left out, in lower case, without punctuation around a word."""
    pieces = [vocabulary.piece_bytes(number) for number in ids[:-1]]
    words = [
        b"".join(pieces[start:end]).decode(errors="replace").strip().casefold()
        for start, end in group_words(pieces, find_token_starts)
    ]
    return [re.sub(r"^\W+(?=\w)|(?<=\w)\W+$", "", word) for word in words]


def read_gold_pairs(
    translator: Translator, source: Text, target: Text, gold: Text
) -> tuple[GoldPairs, list[LineWarning]]:
    """Read texts and gold links; return pairs that fit the model, and warnings about long ones.

    A pair with an empty side is left out without a warning. Raises InputError if no pair or no
    gold link remains.
    """
    sources, targets = (
        read_text(name, text) for name, text in (("source", source), ("target", target))
    )
    links = read_alignments("gold", gold, parse_gold_links)
    require_equal_lines(source=sources, target=targets)
    require_equal_lines(source=sources, gold=links)
    numbered = [
        Pair(number, *both) for number, both in enumerate(zip(sources, targets, strict=True), 1)
    ]
    encoded = encode_pairs(numbered, translator.task)
    warnings = {pair.number: find_unscorable(pair, translator.recipe) for pair in encoded}
    used = [p for p in encoded if not warnings[p.number] and min(len(p.source), len(p.target)) > 1]
    require(bool(used), "no pair has words on both sides and fits the model", "look at the files")
    found = [(pair, parse_gold_links(links[pair.number - 1])) for pair in used]
    fact = "the gold file has no link in these pairs, so that no heads are better than others"
    require(any(one.all for _, one in found), fact, "a line has links such as 0-0 1-2")
    return found, [warning for warning in warnings.values() if warning]


def rank_means(singles: Mapping[int, Sequence[ScoredHeads]]) -> Choices:
    """Return {layer: [its best head, its best two heads, …]}, by each head's own error rate."""
    ranked = {
        layer: [number for one in sorted(found, key=order_by_error) for number in one.heads.heads]
        for layer, found in singles.items()
    }
    return {
        layer: [tuple(sorted(heads[: count + 1])) for count in range(len(heads))]
        for layer, heads in ranked.items()
    }


def order_by_error(scored: ScoredHeads) -> tuple[float, int, bool]:
    """Return a sort key: lowest error rate first, then fewest heads, then shifted heads."""
    return scored.result.score, len(scored.heads.heads), not scored.heads.shifted
