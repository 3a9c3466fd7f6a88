"""The ledger of a run: its sizes and updates, the model's parameters, and the training cost.

Section 6.1 estimates the cost of training as time x devices x a device's sustained rate. The ledger
adds the operations of all matrix products, counted by formula.
"""

from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Int32

from transduce.corpus.store import Store
from transduce.machine.device import measure_matmul_rate
from transduce.machine.environment import describe_environment
from transduce.recipes.catalogue import RECIPES, find_original_name
from transduce.recipes.printed import TABLE_3 as PRINTED
from transduce.recipes.tables import TABLE_3
from transduce.runs.prepared_corpus import PreparedCorpus
from transduce.settings import Architecture, Data, Recipe
from transduce.settings.counts import (
    TextSize,
    count_embeddings,
    count_parameters,
    count_training_operations,
)
from transduce.tasks import find_task_kind
from transduce.training.progress import MachineRecord, TrainingCost

Lengths = Int32[np.ndarray, " N"]  # lengths in tokens of one side of N pairs
# of ASKED development pairs, a share over KNOWN in the training text gives a warning
ASKED, KNOWN = 100, 0.1
SEARCHED = 1 << 24  # tokens of each side of the training text that are searched
PARENT = "parent"  # the name of the parent's sha256 among a run's fingerprints
# the vocabulary sizes that give a model the parameter counts of Table 3
BIG_SYMBOLS = "35,368 to 36,344"
OTHER_SYMBOLS = "41,004 to 41,208"


def describe_training(recipe: Recipe, corpus: PreparedCorpus) -> list[str]:
    """Return sentences on a run's sizes, languages, vocabulary and updates."""
    sizes, data, training = recipe.architecture, recipe.data, recipe.training
    source, target = map(len, corpus.vocabularies)
    symbols = f"{source:,} symbols for both sides"
    if not data.shared_vocabulary:
        symbols = f"{source:,} and {target:,} symbols"
    tokens = f"{data.target_tokens:,} tokens a side"
    if data.source_tokens != data.target_tokens:
        tokens = f"{data.source_tokens:,} source and {data.target_tokens:,} target tokens"
    passes = describe_passes(corpus.train, data, training.steps)
    return [
        f"{sizes.encoder_depth} + {sizes.decoder_depth} layers, d_model {sizes.d_model}, "
        f"d_ff {sizes.d_ff:,}, dropout {sizes.dropout}",
        f"{data.source_language} to {data.target_language}, {symbols}",
        f"{training.steps:,} update{'s' * (training.steps > 1)} of at most {tokens}: "
        f"about {passes}",
    ]


def describe_passes(store: Store, data: Data, steps: int) -> str:
    """Return as text how often `steps` updates read a store, or each text of its mixture."""
    count = find_task_kind(data).count
    if not store.mixture:
        passes = steps / count_updates_of_pass(store, data)
        return f"{format_passes(passes)} over {count(len(store))}"
    pairs = estimate_pairs_read(store, data, steps)
    return ", ".join(
        f"{format_passes(read / text.pairs)} over {text.name} ({count(text.pairs)})"
        for text, read in zip(store.mixture, pairs, strict=True)
    )


def estimate_pairs_read(store: Store, data: Data, steps: int) -> list[float]:
    """Estimate, for each text in the store's mixture, the pairs that `steps` updates read."""
    texts, read = store.mixture, [0.0] * len(store.mixture)
    sides = (store.source_lengths, data.source_tokens), (store.target_lengths, data.target_tokens)
    ends = np.cumsum([text.pairs for text in texts])[:-1]
    means = [[part.mean() / tokens for part in np.split(side, ends)] for side, tokens in sides]
    bounds = {1, steps + 1} | {
        step for text in texts for step in (text.start, text.stop + 1) if 1 < step <= steps
    }
    for begin, end in pairwise(sorted(bounds)):
        weights = [text.weight * text.is_read(begin) for text in texts]
        updates = max(float(np.dot(weights, mean)) for mean in means)  # that `weights` pairs take
        for index, weight in enumerate(weights):
            read[index] += (end - begin) * weight / updates
    return read


def list_warnings(recipe: Recipe, corpus: PreparedCorpus) -> list[str]:
    """Return warnings about a new run that will learn little, or whose scores will mislead."""
    data, training, doubts = recipe.data, recipe.training, list[str]()
    doubts += describe_heads(recipe)
    if count_updates_of_pass(corpus.train, data) == 1:
        size = find_task_kind(data).count(len(corpus.train))
        doubts.append(
            f"the whole text, {size}, fits into one update: a model learns it by heart and little "
            "else, so find more text"
        )
    if training.warmup > training.steps:
        doubts.append(
            f"the learning rate rises for {training.warmup:,} updates (training.warmup), and the "
            f"training ends after {training.steps:,}: little is learned without more updates "
            "(training.steps)"
        )
    for share in corpus.train.mixture:
        if share.start > training.steps:
            doubts.append(
                f"{share.name} is read from update {share.start:,}, and the training ends after "
                f"{training.steps:,}: it is not read without more updates (training.steps)"
            )
    if corpus.dev is not None:
        known, asked = count_known_pairs(corpus.dev, corpus.train)
        if known > KNOWN * asked:
            doubts.append(
                f"{known} of {asked} pairs drawn from the development set are in the training "
                "text, too: its scores are not those of new text"
            )
    return doubts


def describe_heads(recipe: Recipe) -> list[str]:
    """Return [a warning] if a recipe changes its original's heads but not d_k and d_v, else [].

    Table 3 (A) changes all three together, so that heads · d_k stays d_model, and the cost
    constant. A recipe in which this product is d_model gives no warning.
    """
    sizes = recipe.architecture
    named = RECIPES.get(find_original_name(recipe), recipe).architecture
    has_same_widths = (sizes.d_k, sizes.d_v) == (named.d_k, named.d_v)
    is_constant = sizes.heads == named.heads or sizes.heads * sizes.d_k == sizes.d_model
    if is_constant or not has_same_widths:
        return []
    width = max(1, round(sizes.d_model / sizes.heads))
    heads = f"{sizes.heads} head{'s' * (sizes.heads > 1)} x d_k {sizes.d_k}"
    return [
        f"{heads} is not d_model {sizes.d_model}: parameters and cost change with the heads; Table "
        f"3 (A) keeps them (--set architecture.d_k={width} and --set architecture.d_v={width})"
    ]


def count_known_pairs(dev: Store, train: Store) -> tuple[int, int]:
    """Return how many of a sample of development pairs are training pairs, and the sample's size.

    Of a long training text only the first 16 million tokens of a side are searched.
    """
    sides = (train.source, train.target)
    count = min(int(np.searchsorted(side.offsets[1:], SEARCHED, "right")) for side in sides)
    asked = np.unique(np.linspace(0, len(dev) - 1, ASKED, dtype=int)).tolist()
    ids = [np.frombuffer(one.ids.read(0, int(one.offsets[count])), one.ids.kind) for one in sides]
    known = 0
    for pair in map(dev.pair, asked):
        found = np.arange(count)
        for side, numbers, sentence in zip(sides, ids, pair, strict=True):
            found = found[side.lengths[found] == len(sentence)]
            for place, token in enumerate(sentence):
                found = found[numbers[side.offsets[found] + place] == token]
        known += len(found) > 0
    return known, len(asked)


def count_updates_of_pass(store: Store, data: Data) -> float:
    """Return about how many updates read every pair of a store once, at least 1."""
    sides = (store.source_lengths, data.source_tokens), (store.target_lengths, data.target_tokens)
    return max(1.0, *(float(lengths.sum()) / tokens for lengths, tokens in sides))


def format_passes(passes: float) -> str:
    """Return a number of passes as text, such as "0.3 passes", "1 pass" or "30 passes"."""
    if 0.95 <= passes < 1.5:
        return "1 pass"
    return f"{passes:.1g} passes" if passes < 1 else f"{passes:,.0f} passes"


def describe_size(a: Architecture, source_symbols: int, target_symbols: int) -> str:
    """Return text with a model's parameter count as a sum, and with Table 3's count, if any."""
    total = count_parameters(a, source_symbols, target_symbols)
    of_symbols = count_embeddings(a, source_symbols, target_symbols).parameters
    shape = (of_symbols // a.d_model, a.d_model)
    sum_of = f"{total:,} parameters = {total - of_symbols:,} + {shape[0]:,} symbols x {shape[1]:,}"
    row = next((name for name, one in TABLE_3.items() if one.architecture == a), None)
    paper = PRINTED.get(row or "")
    if paper is None or not paper.millions:
        return sum_of
    symbols = BIG_SYMBOLS if row == "big" else OTHER_SYMBOLS
    return f"{sum_of}; Table 3 prints {paper.millions} million, which {symbols} symbols give"


def sum_lengths(source_lengths: Lengths, target_lengths: Lengths) -> TextSize:
    """Return sums over a text's N pairs: of lengths, their squares, and their products."""
    n, m = (lengths.astype(np.float64) for lengths in (source_lengths, target_lengths))
    return TextSize(*map(float, (n.sum(), m.sum(), n @ n, m @ m, n @ m)))


def measure_machine(
    recipe: Recipe, text: TextSize, symbols: int, device: torch.device, processes: int
) -> MachineRecord:
    """Measure a device's speed; return it with the operations that training takes per target piece.

    `symbols` is the size of the target vocabulary. Each process uses one device.
    """
    known = describe_environment(device)
    return MachineRecord(
        device=known["processor"] if known["device"] == "cpu" else known["device"],
        devices=processes,
        rate=measure_matmul_rate(device, recipe.training.precision),
        per_piece=count_training_operations(recipe.architecture, symbols, text) / text.target,
    )


def describe_cost(cost: TrainingCost | None) -> list[str]:
    """Return sentences on hardware and training cost beside the paper's; [] if not measured."""
    if cost is None or not cost.estimated:
        return []
    return [
        f"hardware: {cost.devices} x {cost.device}, {cost.rate:.1e} operations/s measured on each; "
        "the paper: 8 P100 at 9.5e12",
        f"cost as the paper estimates it (time x devices x rate): {cost.seconds:,.0f} s, "
        f"{cost.estimated:.1e} operations; the paper: base 3.3e18, big 2.3e19",
        f"cost as counted (products of matrices, forward and backward): {cost.counted:.1e} "
        f"operations, {cost.counted / cost.estimated:.0%} of the estimate",
    ]
