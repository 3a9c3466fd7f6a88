"""`transduce.survey`: what each head of a model does on many pairs, and what it contributes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import final

import numpy as np
import torch

from transduce.errors import InputError
from transduce.inference.alignment import align_sentences, find_pair_words
from transduce.inference.attention_weights import capture_attention
from transduce.inference.choose_heads import lay_out_gold
from transduce.inference.load import load
from transduce.inference.outputs import Alignment
from transduce.inference.pairs import (
    EncodedPair,
    Pair,
    encode_pairs,
    find_unscorable,
    require_matches,
)
from transduce.inference.translator import Translator
from transduce.packed import Packed, split_update
from transduce.paper.model import Transformer
from transduce.scores.alignments import parse_gold_links, read_alignments
from transduce.settings.fields import require
from transduce.tasks import find_task_kind
from transduce.tasks.text import TextToText
from transduce.text.arguments import Text, read_text
from transduce.view.attention.record import AttentionView
from transduce.view.attention.recorder import name_model
from transduce.view.attention.survey.ablation import decode_without_head
from transduce.view.attention.survey.measure import SurveySums
from transduce.view.attention.survey.record import HeadSurvey, SurveyedHead
from transduce.view.attention.words import read_sequence
from transduce.vocabulary import BEGIN, Vocabulary

PAIRS = 100  # pairs that are surveyed by default
TOKENS = 4_096  # tokens of a batch, source and target together
Head = tuple[str, int, int]  # kind, layer and number of a head


@final
@dataclass(frozen=True)
class AlignedPair:
    """An encoded pair and the alignment of its words, if the model's task has one."""

    pair: EncodedPair
    alignment: Alignment | None


def ignore_head(_done: int, _all: int) -> None:
    """Do nothing, as the default for `on_head`."""


def survey(
    model: Translator | Path | str,
    source: Text,
    target: Text,
    *,
    gold: Text | None = None,
    pairs: int = PAIRS,
    on_head: Callable[[int, int], None] = ignore_head,
) -> HeadSurvey:
    """Measure each head's attention on sentence pairs, and the loss with that head switched off.

        survey = transduce.survey("model", ["A dog runs."], ["Ein Hund läuft."])
        print(survey.loss, [(head.kind, head.loss) for head in survey.heads])

    Texts are files or lists of lines, of which the first `pairs` are used. A head that is switched
    off adds nothing to its layer. `gold` has the links of each pair, as for `score_alignments`; by
    default words are aligned by the model itself. `on_head` is called with the numbers of losses
    computed so far and in all.
    """
    translator = model if isinstance(model, Translator) else load(model)
    require(len(translator.models) == 1, "a survey is of one model", "load one of the ensemble")
    lines = [read_text(name, text) for name, text in (("source", source), ("target", target))]
    if len(lines[0]) != len(lines[1]):
        fact = f"source has {len(lines[0]):,} lines, but target has {len(lines[1]):,}"
        raise InputError(fact, "line i of one must be the translation of line i of the other")
    links = None if gold is None else read_alignments("gold", gold, parse_gold_links)
    require(links is None or len(links) >= min(pairs, len(lines[0])), "gold has fewer lines")
    numbered = [Pair(n, *both) for n, both in enumerate(islice(zip(*lines, strict=True), pairs), 1)]
    aligned = align_pairs(translator, numbered, links)
    return build_survey(translator, aligned, on_head, "gold" if links else "")


def align_pairs(
    translator: Translator, pairs: Sequence[Pair], gold: Sequence[str] | None
) -> list[AlignedPair]:
    """Return pairs that have words on both sides and fit the model, with their alignments."""
    require_matches(pairs, translator.recipe.data)
    encoded = [
        pair
        for pair in encode_pairs(pairs, translator.task)
        if not find_unscorable(pair, translator.recipe) and min(map(len, pair_ids(pair))) > 1
    ]
    require(bool(encoded), "no pair has text on both sides and fits the model", "look at the files")
    if not isinstance(translator.task, TextToText):
        return [AlignedPair(pair, None) for pair in encoded]
    vocabularies = translator.task.source, translator.task.target
    if gold is None:
        heads = translator.aligner.find_heads()
        sources, targets = [pair.source for pair in encoded], [pair.target for pair in encoded]
        found = align_sentences(translator.models[0], vocabularies, sources, targets, heads)
    else:
        found = [read_gold(pair, gold[pair.number - 1], vocabularies) for pair in encoded]
    return [AlignedPair(*both) for both in zip(encoded, found, strict=True)]


def read_gold(
    pair: EncodedPair, line: str, vocabularies: tuple[Vocabulary, Vocabulary]
) -> Alignment:
    """Return the gold links of a pair, sure or possible; refuse links of words beyond its end."""
    links = parse_gold_links(line)
    lay_out_gold(links, find_pair_words(vocabularies, *pair_ids(pair)), pair.number)
    return Alignment(tuple(sorted(links.all)))


def pair_ids(pair: EncodedPair) -> tuple[list[int], list[int]]:
    """Return the ids of both sides of a pair."""
    return pair.source, pair.target


@torch.inference_mode()
def build_survey(
    translator: Translator,
    pairs: Sequence[AlignedPair],
    on_head: Callable[[int, int], None],
    alignment: str,
) -> HeadSurvey:
    """Return the survey of aligned pairs; `alignment` is "gold", or "" if the model aligned."""
    (model,), sums = translator.models, SurveySums()
    heads = list_heads(model)
    log_probs = dict.fromkeys(heads, 0.0)
    base, tokens, done = 0.0, 0, 0
    batches = split_pairs(pairs)
    for batch in batches:
        source, target = pack(model, batch)
        inputs = target.shift_right(BEGIN)
        memory = model.eval().encode(source)
        for view, one in zip(build_views(translator, batch), batch, strict=True):
            sums.add(view)
            add_alignment(translator, sums, view, one)
        states = model.decode(inputs, memory)
        base += sum_log_probs(model, states, target)
        for head in heads:
            states = decode_without_head(model, source, inputs, memory, head)
            log_probs[head] += sum_log_probs(model, states, target)
            done += 1
            on_head(done, len(heads) * len(batches))
        tokens += len(target.ids)
    found = [describe(sums, head, (base - log_probs[head]) / tokens) for head in heads]
    own = str(translator.aligner.find_heads()) if isinstance(translator.task, TextToText) else ""
    named = name_model(translator), translator.recipe.data.task
    return HeadSurvey(*named, len(pairs), tokens, -base / tokens, alignment or own, tuple(found))


def list_heads(model: Transformer) -> list[Head]:
    """Return kind, layer and number of each head; without self-attention only those of "cross"."""
    sizes = model.sizes
    has_self = sizes.mixing == "self-attention"
    kinds = ("encoder", "decoder", "cross") if has_self else ("cross",)
    return [
        (kind, layer, head)
        for kind in kinds
        for layer in range(1, sizes.layers + 1)
        for head in range(1, sizes.heads + 1)
    ]


def split_pairs(pairs: Sequence[AlignedPair]) -> list[list[AlignedPair]]:
    """Return the pairs in batches of similar length."""
    ours, theirs = (
        np.array([len(ids) for ids in side], np.int64)
        for side in zip(*(pair_ids(one.pair) for one in pairs), strict=True)
    )
    limit = max(TOKENS, int((ours + theirs).max()))
    return [
        [pairs[n] for n in batch]
        for batch in split_update(np.arange(len(pairs)), ours, theirs, limit)
    ]


def pack(model: Transformer, batch: Sequence[AlignedPair]) -> tuple[Packed, Packed]:
    """Return the sources and the targets of a batch, packed, on the model's device."""
    sides = zip(*(pair_ids(one.pair) for one in batch), strict=True)
    ours, theirs = (Packed.from_sentences(side).to(model.output.weight.device) for side in sides)
    return ours, theirs


def build_views(translator: Translator, batch: Sequence[AlignedPair]) -> Iterator[AttentionView]:
    """Yield all attention weights of each pair of a batch, from one pass."""
    (model,), task = translator.models, translator.task
    source, target = pack(model, batch)
    record = capture_attention(model, source, target.shift_right(BEGIN))
    kinds = {"encoder": record.encoder, "decoder": record.decoder, "cross": record.cross}
    is_tokenised = find_task_kind(translator.recipe.data).is_tokenised
    for index, one in enumerate(batch):
        ids = one.pair.target
        yield AttentionView(
            model=name_model(translator),
            task=translator.recipe.data.task,
            source=read_sequence(task.source, one.pair.source, is_tokenised=is_tokenised),
            input=read_sequence(task.target, [BEGIN, *ids[:-1]], is_tokenised=False),
            output=read_sequence(task.target, ids, is_tokenised=False),
            layers=tuple(range(1, model.sizes.layers + 1)),
            weights={
                kind: torch.stack([layer[index] for layer in layers]).float().cpu().numpy()
                for kind, layers in kinds.items()
                if layers
            },
            steps=(),
            is_given=True,
        )


def add_alignment(
    translator: Translator, sums: SurveySums, view: AttentionView, one: AlignedPair
) -> None:
    """Add a pair's cross-attention weights on aligned words to `sums`, if it has an alignment."""
    if one.alignment is None:
        return
    vocabularies = translator.task.source, translator.task.target
    rows = slice(1, None) if translator.aligner.find_heads().shifted else slice(None, -1)
    words = find_pair_words(vocabularies, one.pair.source, one.pair.target)
    sums.add_aligned(view.weights["cross"][:, :, rows, :-1], words, one.alignment)


def sum_log_probs(model: Transformer, states: torch.Tensor, target: Packed) -> float:
    """Return the log-probability of all target pieces of a batch, in nats."""
    log_probs = model.target_log_probs(states, target.ids)
    return float(log_probs.double().sum())


def describe(sums: SurveySums, head: Head, loss: float) -> SurveyedHead:
    """Return a head's averages from `sums`, and `loss`, the growth of the loss without the head."""
    kind, layer, number = head
    tendency, distance = sums.kinds[kind].describe(layer - 1, number - 1)
    aligned = None
    if kind == "cross" and sums.linked:
        aligned = float(np.asarray(sums.aligned)[layer - 1, number - 1]) / sums.linked
    share, entropy = tendency.share, tendency.entropy
    return SurveyedHead(*head, tendency.label, share, entropy, distance, aligned, loss)
