"""`transduce.survey`: what each head of a model does on many pairs, and what it contributes."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.inference.alignment import align_sentences, find_pair_words
from transduce.inference.choose_heads import build_gold_masks
from transduce.inference.lines import Pair
from transduce.inference.load import load
from transduce.inference.outputs import Alignment
from transduce.inference.pairs import EncodedPair, encode_pairs, find_unscorable, require_matches
from transduce.inference.translator import Translator
from transduce.packed import Packed, split_update
from transduce.paper.model import EncoderOutput, Transformer
from transduce.paper.operations import AttentionMask, BatchAttention, Operations
from transduce.scores.alignments import parse_gold_links, read_alignments
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.tasks.text import TextToText
from transduce.text.arguments import (
    Text,
    ignore_event,
    read_text,
    require_count,
    require_equal_lines,
)
from transduce.view.attention.attend import build_views, name_model
from transduce.view.attention.record import AttentionView, ModelName
from transduce.view.attention.tendencies import (
    BROAD,
    TENDENCIES,
    HeadTendency,
    compute_highest_entropy,
    compute_tendencies,
    find_counted,
    label_head,
)
from transduce.view.page.document import build_page, json_block, list_parts, read_texts, texts_block
from transduce.vocabulary import BEGIN

PARTS = list_parts("attention/survey", ["survey"])
PAIRS = 100  # pairs that are surveyed by default
TOKENS = 4_096  # tokens of a batch, source and target together
Head = tuple[str, int, int]  # kind, layer and number of a head
AlignedPair = tuple[EncodedPair, Alignment | None]  # None if the model's task has no alignment

# L layers · H heads · Q query and K key positions · t target and s source pieces


@final
@dataclass(frozen=True)
class SurveyedHead:
    """A head's attention, averaged over queries, and how much the loss rises without the head."""

    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 1
    head: int  # from 1
    tendency: str  # a label, such as "next"; see `HeadTendency`
    share: float  # the largest of the tendencies' shares of the weights, from 0 to 1
    entropy: float  # of a query's weights, in bits
    distance: float  # mean, in pieces, from query to key; in cross-attention from the diagonal
    aligned: float | None  # the share of cross-attention on aligned words, if words are aligned
    loss: float  # how much the loss, in nats per target piece, rises without this head


@final
@dataclass(frozen=True)
class HeadSurvey:
    """What each head of a model does on average over sentence pairs, and the loss with all heads.

        survey = transduce.survey("model", ["A dog runs."], ["Ein Hund läuft."])
        survey.write_page("survey.html")

    Losses are in nats a target piece, END included.
    """

    model: ModelName
    task: str
    pairs: int  # the number of pairs that were surveyed
    tokens: int  # the number of their target pieces, END included
    loss: float  # with all heads, in nats per target piece
    alignment: str  # "gold", or the heads that aligned the words, or "" if none did
    heads: tuple[SurveyedHead, ...] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the survey as plain values for JSON."""
        return asdict(self)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained HTML page of the survey; return its path."""
        write_atomically(resolve_output(path), build_survey_page(self).encode())
        return Path(path)


def build_survey_page(survey: HeadSurvey) -> str:
    """Return a survey as one HTML file that requests nothing; equal surveys give equal bytes."""
    data = [texts_block(read_texts("attention/survey")), json_block("survey", survey.as_json())]
    return build_page(f"Heads of {shorten_name(survey.model.name)}", PARTS, data)


def survey(
    model: Translator | Path | str,
    source: Text,
    target: Text,
    *,
    gold: Text | None = None,
    pairs: int = PAIRS,
    on_head: Callable[[int, int], None] = ignore_event,
) -> HeadSurvey:
    """Return what each head attends to, and how much the loss rises without the head.

        survey = transduce.survey("model", ["A dog runs."], ["Ein Hund läuft."])
        print(survey.loss, [(head.kind, head.loss) for head in survey.heads])

    Texts are files or lists of lines; the first `pairs` lines are used. A head that is switched
    off adds nothing to its layer. `gold` has the links of each pair, as for `score_alignments`; by
    default the model itself aligns the words. `on_head` is called with the number of losses
    so far and in all, one per head and batch.
    """
    require_count("pairs", pairs)
    translator = model if isinstance(model, Translator) else load(model)
    require(
        len(translator.models) == 1, "a survey needs one model", "load one model of the ensemble"
    )
    is_text = isinstance(translator.task, TextToText)
    require(gold is None or is_text, "gold links are for a model that translates text")
    lines = [read_text(name, text) for name, text in (("source", source), ("target", target))]
    require_equal_lines(source=lines[0], target=lines[1])
    links = None if gold is None else read_alignments("gold", gold, parse_gold_links)
    require(links is None or len(links) >= min(pairs, len(lines[0])), "gold has fewer lines")
    first = zip(lines[0][:pairs], lines[1][:pairs], strict=True)
    numbered = [Pair(number, *both) for number, both in enumerate(first, start=1)]
    aligned = align_pairs(translator, numbered, links)
    return build_survey(translator, aligned, on_head, "gold" if links else "")


def align_pairs(
    translator: Translator, pairs: Sequence[Pair], gold: Sequence[str] | None
) -> list[AlignedPair]:
    """Return the pairs that fit the model, encoded, each with its word links or None.

    The links are those in `gold` or, without it, the model's own. They are None unless the
    model translates text. Empty pairs are left out. Raises InputError if no pair remains, if a
    target cannot belong to its source, or if `gold` links a word that is not there.
    """
    require_matches(pairs, translator.recipe.data)
    encoded = [
        pair
        for pair in encode_pairs(pairs, translator.task)
        if not find_unscorable(pair, translator.recipe)
        and min(len(pair.source), len(pair.target)) > 1
    ]
    require(bool(encoded), "no pair has text on both sides and fits the model", "look at the files")
    if not isinstance(translator.task, TextToText):
        return [(pair, None) for pair in encoded]
    vocabularies = translator.task.source, translator.task.target
    if gold is None:
        heads = translator.aligner.find_heads()
        sources, targets = [pair.source for pair in encoded], [pair.target for pair in encoded]
        found = align_sentences(translator.models[0], vocabularies, sources, targets, heads)
        return list(zip(encoded, found, strict=True))
    aligned = list[AlignedPair]()
    for pair in encoded:
        links = parse_gold_links(gold[pair.number - 1])
        words = find_pair_words(vocabularies, pair.source, pair.target)
        build_gold_masks(links, words, pair.number)  # refuses a link to a word that is not there
        aligned.append((pair, Alignment(tuple(sorted(links.all)))))
    return aligned


@torch.inference_mode()
def build_survey(
    translator: Translator,
    pairs: Sequence[AlignedPair],
    on_head: Callable[[int, int], None],
    alignment: str,
) -> HeadSurvey:
    """Return the survey of a translator's only model; call `on_head` for each head and batch.

    `alignment` is "gold" if the pairs have gold links. If it is "", the survey names the heads of
    the model that align words, if there are any.
    """
    (model,), sums = translator.models, defaultdict[str, HeadSums](HeadSums)
    heads = list_heads(model)
    log_probs = dict.fromkeys(heads, 0.0)
    base, tokens, done = 0.0, 0, 0
    batches = split_pairs(pairs)
    for batch in batches:
        sources, targets = [pair.source for pair, _ in batch], [pair.target for pair, _ in batch]
        source, target = (
            Packed.from_sentences(side).to(model.output.weight.device)
            for side in (sources, targets)
        )
        inputs = target.shift_right(BEGIN)
        memory = model.eval().encode(source)
        views = build_views(translator, sources, targets)
        for (view, _), (pair, links) in zip(views, batch, strict=True):
            for kind, tendencies in compute_tendencies(view).items():
                sums[kind].add(view, kind, tendencies)
            if links is not None:
                sums["cross"].add_links(view, translator, pair, links)
        base += sum_log_probs(model, model.decode(inputs, memory), target)
        for head in heads:
            states = decode_without_head(model, source, inputs, memory, head)
            log_probs[head] += sum_log_probs(model, states, target)
            done += 1
            on_head(done, len(heads) * len(batches))
        tokens += len(target.ids)
    found = [sums[head[0]].describe(head, (base - log_probs[head]) / tokens) for head in heads]
    own = str(translator.aligner.find_heads()) if isinstance(translator.task, TextToText) else ""
    named = name_model(translator), translator.recipe.data.task
    return HeadSurvey(*named, len(pairs), tokens, -base / tokens, alignment or own, tuple(found))


def list_heads(model: Transformer) -> list[Head]:
    """Return (kind, layer, head), from 1, of each head; without self-attention only "cross"."""
    has_self = model.sizes.mixing == "self-attention"
    kinds = ("encoder", "decoder", "cross") if has_self else ("cross",)
    depths = {kind: len(model.encoder if kind == "encoder" else model.decoder) for kind in kinds}
    return [
        (kind, layer, head)
        for kind, depth in depths.items()
        for layer in range(1, depth + 1)
        for head in range(1, model.sizes.heads + 1)
    ]


def split_pairs(pairs: Sequence[AlignedPair]) -> list[list[AlignedPair]]:
    """Return the pairs in batches of similar length.

    A batch has at most 4,096 tokens, or as many as the longest pair if that has more.
    """
    source_lengths = np.array([len(pair.source) for pair, _ in pairs], np.int64)
    target_lengths = np.array([len(pair.target) for pair, _ in pairs], np.int64)
    limit = max(TOKENS, int((source_lengths + target_lengths).max()))
    batches = split_update(np.arange(len(pairs)), source_lengths, target_lengths, limit)
    return [[pairs[n] for n in batch] for batch in batches]


def sum_log_probs(model: Transformer, states: Float[Tensor, "T d_model"], target: Packed) -> float:
    """Return the sum of the log-probabilities of a batch's target pieces, in nats."""
    return float(model.target_log_probs(states, target.ids).double().sum())


@final
@dataclass
class HeadSums:
    """Running sums over pairs for each head of one kind of attention, for its averages."""

    queries: int = 0
    highest: float = 0.0  # the sum of the highest possible entropies
    # arrays [L H tendencies] of "shares"; [L H] of "entropy" and "distance", and of "aligned", the
    # weights on linked words
    sums: defaultdict[str, Any] = field(default_factory=lambda: defaultdict(float))
    linked: int = 0  # the number of target pieces whose word has a link

    def add(
        self, view: AttentionView, kind: str, heads: tuple[tuple[HeadTendency, ...], ...]
    ) -> None:
        """Add a pair's shares, entropy and distance of each head, weighted by its query count."""
        weights = view.weights[kind]
        count, keys = weights.shape[2:]
        shares = [[[one.shares[name] for name in TENDENCIES] for one in layer] for layer in heads]
        self.sums["shares"] += count * np.array(shares)
        self.sums["entropy"] += count * np.array(
            [[one.entropy for one in layer] for layer in heads]
        )
        # distance to each key from the query's position, in cross-attention from the diagonal
        scale = (keys - 1) / max(count - 1, 1) if kind == "cross" else 1.0
        apart = np.abs(np.arange(keys)[None, :] - scale * np.arange(count)[:, None])
        self.sums["distance"] += (weights * apart).sum(axis=(-2, -1))
        counted = find_counted(view.queries(kind))  # the queries of a head's entropy, too
        self.highest += count * float(compute_highest_entropy(view, kind)[counted].mean())
        self.queries += count

    def add_links(
        self, view: AttentionView, translator: Translator, pair: EncodedPair, alignment: Alignment
    ) -> None:
        """Add a pair's cross-attention on aligned words."""
        task, shifted = translator.task, translator.aligner.find_heads().shifted
        words = find_pair_words((task.source, task.target), pair.source, pair.target)
        rows = slice(1, None) if shifted else slice(None, -1)
        word_links = np.zeros((words.target[-1] + 1, words.source[-1] + 1), dtype=bool)
        for i, j in alignment.links:
            word_links[j, i] = True
        piece_links = word_links[np.ix_(words.target, words.source)]  # [t s]
        weights = view.weights["cross"][:, :, rows, :-1]  # [L H t s]
        self.sums["aligned"] += (weights * piece_links).sum(axis=(-2, -1))
        self.linked += int(piece_links.any(axis=1).sum())

    def describe(self, head: Head, loss: float) -> SurveyedHead:
        """Return a head's averages; `loss` is how much the loss rises without the head."""
        layer, number = head[1] - 1, head[2] - 1
        found = {name: total[layer, number] for name, total in self.sums.items()}
        entropy, distance = (float(found[name]) / self.queries for name in ("entropy", "distance"))
        is_broad = entropy >= BROAD * max(self.highest / self.queries, 1.0)
        tendency = label_head(found["shares"] / self.queries, entropy, is_broad=is_broad)
        aligned = float(found["aligned"]) / self.linked if self.linked else None
        return SurveyedHead(*head, tendency.label, tendency.share, entropy, distance, aligned, loss)


# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


def zero_head(operations: Operations, layer: int, head: int, *, causal: bool | None) -> Operations:
    """Return operations in which a head of a layer (both numbered from 1) outputs 0.

    `causal` says whether that head's attention has a causal mask; None means either.
    """

    def build(queries: Sequence[int], keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        attention, calls = operations.build_attention(queries, keys, mask), count(1)

        def attend(
            q: Float[Tensor, "T H K"],
            k: Float[Tensor, "S H K"],
            v: Float[Tensor, "S H d_v"],
            dropout: float = 0.0,
        ) -> Float[Tensor, "T H d_v"]:
            out = attention(q, k, v, dropout)
            if next(calls) == layer:  # each layer makes one call
                out = out.clone()
                out[:, head - 1] = 0
            return out

        return attend if causal is None or mask.causal == causal else attention

    return replace(operations, build_attention=build)


def decode_without_head(
    model: Transformer,
    source: Packed,
    inputs: Packed,
    memory: EncoderOutput,
    head: tuple[str, int, int],
) -> Float[Tensor, "T d_model"]:
    """Return the decoder's states while one head, such as ("cross", 1, 2), outputs 0.

    `head` is (kind, layer, head), counted from 1; kind is "encoder", "decoder" or "cross". `memory`
    is the encoder's output with all heads; for a head of the encoder it is computed again.
    """
    kind, layer, number = head
    if kind == "encoder":
        without = zero_head(model.operations, layer, number, causal=None)
        return model.decode(inputs, model.encode(source, without))
    without = zero_head(model.operations, layer, number, causal=kind == "decoder")
    return model.decode(inputs, memory, without)
