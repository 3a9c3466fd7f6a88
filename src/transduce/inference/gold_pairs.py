"""Scores many choices of heads at once against the gold links of sentence pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int

from transduce.errors import InputError
from transduce.inference.alignment import PairWords, capture_steps, find_pair_words
from transduce.inference.pairs import EncodedPair
from transduce.inference.translator import Translator
from transduce.scores.alignments import AlignmentResult, GoldLinks
from transduce.settings.alignment import AlignmentHeads

# H heads · C choices of heads of a layer · t target and s source pieces
# I source and J target words

Choices = Mapping[int, Sequence[tuple[int, ...]]]  # by layer: choices of heads, all from 1


@final
@dataclass(frozen=True)
class ScoredHeads:
    """Heads of a layer, and how well the mean of their weights aligns words."""

    heads: AlignmentHeads
    result: AlignmentResult

    def as_json(self) -> dict[str, Any]:
        """Return heads, AER, precision, recall and numbers of links as values for JSON."""
        found = self.result
        rates = {"aer": found.score, "precision": found.precision, "recall": found.recall}
        return {**asdict(self.heads), **rates, **asdict(found)}


@final
@dataclass(frozen=True)
class GoldPairs:
    """Encoded sentence pairs with the gold links of each."""

    pairs: Sequence[EncodedPair]
    gold: Sequence[GoldLinks]

    @torch.inference_mode()
    def score(
        self, translator: Translator, choices: Choices, *, shifted: bool
    ) -> dict[int, list[ScoredHeads]]:
        """Return how well each choice of heads, by layer, aligns words by (shifted) weights."""
        (model,), task = translator.models, translator.task
        means = {
            layer: build_means(heads, model.sizes.heads).to(model.output.weight.device)
            for layer, heads in choices.items()
        }
        totals = {layer: np.zeros((len(heads), 3), np.int64) for layer, heads in choices.items()}
        sources, targets = [p.source for p in self.pairs], [p.target for p in self.pairs]
        for index, layers in capture_steps(model, sources, targets, shifted=shifted):
            words = find_pair_words((task.source, task.target), sources[index], targets[index])
            gold = lay_out_gold(self.gold[index], words, self.pairs[index].number)
            for layer, mean in means.items():
                weights = torch.einsum("ch,hts->cts", mean, layers[layer - 1]).cpu().numpy()
                totals[layer] += count_linked(words.link(weights), gold)
        known = [sum(len(one.sure) for one in self.gold), sum(len(one.all) for one in self.gold)]
        return {
            layer: [
                ScoredHeads(AlignmentHeads(layer, heads, shifted), AlignmentResult(*counts, *known))
                for heads, counts in zip(choices[layer], totals[layer].tolist(), strict=True)
            ]
            for layer in choices
        }


def build_means(choices: Sequence[tuple[int, ...]], heads: int) -> Float32[torch.Tensor, "C H"]:
    """Return a matrix that averages, for each of C choices, the chosen ones of H heads."""
    means = torch.zeros(len(choices), heads)
    for row, chosen in zip(means, choices, strict=True):
        row[[number - 1 for number in chosen]] = 1 / len(chosen)
    return means


def lay_out_gold(gold: GoldLinks, words: PairWords, line: int) -> Bool[np.ndarray, "2 I J"]:
    """Return gold links as two masks of I source by J target words: the sure ones, and all.

    Raises InputError if a link names a word beyond the end.
    """
    laid = np.zeros((2, words.source[-1] + 1, words.target[-1] + 1), bool)
    for number, links in enumerate((gold.sure, gold.all)):
        for i, j in links:
            if i >= laid.shape[1] or j >= laid.shape[2]:
                raise InputError(
                    f"line {line}: the gold link {i}-{j} is of words beyond the end: the source "
                    f"has {laid.shape[1]:,} words, the target {laid.shape[2]:,}",
                    "words count from 0, and are what blanks separate; is the order of the two "
                    "sides that of the gold file?",
                )
            laid[number, i, j] = True
    return laid


def count_linked(
    linked: Bool[np.ndarray, "C I J"], gold: Bool[np.ndarray, "2 I J"]
) -> Int[np.ndarray, "C 3"]:
    """Count for each of C choices its links, those that are sure, and those sure or possible."""
    counts = [linked, linked & gold[0], linked & gold[1]]
    return np.stack([one.sum(axis=(-2, -1)) for one in counts], axis=-1)
