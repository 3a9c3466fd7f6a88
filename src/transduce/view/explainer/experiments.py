"""Sentences that show something: their translation changes when a part of the model is changed.

Experiments are tried when a page is built, with the weights that it stores. Unless sentences are
given, the page opens with one that an experiment changes, if there is any.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, pairwise, product
from typing import Any, final

import torch
from torch import Tensor

from transduce.equip import choose_operations
from transduce.inference.attention_weights import AttentionBySentence
from transduce.inference.outputs import combine_models, fit_batch_size
from transduce.inference.translator import Translator
from transduce.mixing import RecomputingModel
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.paper.operations import AttentionMask, BatchAttention, Operations
from transduce.search.bounds import choose_beam_strategy, search_in_memory
from transduce.settings.alignment import AlignmentHeads, list_head_numbers
from transduce.view.explainer.reference import trace_model
from transduce.vocabulary import BEGIN, END

LONGEST = 40  # pieces of an output
MOST_ENDLESS = 2  # an experiment is given up after this many outputs of the greatest length
RESIDUAL = "encoder.1.self.residual"
MOST_TRIED = 16  # pairs of a change and a sentence that are tried for an experiment
MOST_SEARCHED = 60  # sentences and parts of sentences that are translated with another α
WORD_ORDER = (
    *("The dog sees the cat.", "The cat sees the dog.", "The teacher sees the girl."),
    *("The man helps the woman.", "The child sees the doctor.", "The girl visits the teacher."),
)
TWO_CLAUSES = (  # translations so long that, without the mask, words read later words
    "The dog sees the cat and the cat sees the dog.",
    "The teacher sees the girl and the man helps the woman.",
    "The child sees the doctor and the girl visits the teacher.",
)
Edit = tuple[int, int, int, int, float]  # decoder layer, head, row, column, weight


@final
@dataclass(frozen=True)
class Change:
    """What an experiment changes: parts switched off, cross-attention weights set, search.alpha."""

    off: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    alpha: float | None = None

    def name_edits(self) -> list[str]:
        """Return each edit as text: decoder.LAYER.cross.weights.HEAD:ROW:COLUMN=WEIGHT."""
        names = "decoder.{}.cross.weights.{}:{}:{}={:.6f}"
        return [names.format(*edit) for edit in self.edits]


@final
@dataclass(frozen=True)
class Experiment:
    """A change, and a sentence with its translations before and after it; "" if none was found."""

    off: list[str]
    edits: list[str]
    text: str = ""
    before: str = ""
    after: str = ""
    alpha: float | None = None
    twin: str = ""  # for positions: a text with the same pieces in another order, or ""


def list_changes(model: Transformer) -> dict[str, list[Change]]:
    """Return the changes that each experiment tries, by the experiment's name."""
    last, heads = model.sizes.decoder_depth, range(1, model.sizes.heads + 1)
    weights = product(heads, range(3), range(3))
    return {
        "positions": [Change(("source.position",))],
        "mask": [Change(("mask",))],
        "cross": [Change((f"decoder.{last}.cross",))],
        "residual": [Change((RESIDUAL,))],
        "weight": [
            Change(edits=((last, head, row, column, 10.0),)) for head, row, column in weights
        ],
    }


def find_experiments(
    translator: Translator,
    model: Transformer,
    outputs: Mapping[str, list[int]],
    tried: Mapping[str, Sequence[Change]],
) -> dict[str, Experiment]:
    """Return the `tried` experiments by name, with a text whose translation changes ("" if none).

    `outputs` are the ids of each text's translation by the unchanged model. At most `MOST_TRIED`
    pairs of a text and a change are tried. A text is preferred if its changed translation is not
    that of an earlier experiment and, for positions, has most words of the old translation in
    another order. Long translations are left out, because a changed model computes every step
    anew, and the translation of a hardly trained model never ends.
    """
    texts = [text for text, ids in outputs.items() if len(ids) <= LONGEST]
    earlier = set[str]()  # changed translations of earlier experiments

    def find(name: str, changes: Sequence[Change]) -> Experiment:
        found = Experiment(list(changes[0].off), changes[0].name_edits())
        pairs, endless = sorted(product(range(len(texts)), range(len(changes))), key=sum), 0
        for text, change in [(texts[i], changes[j]) for i, j in pairs[:MOST_TRIED]]:
            likeliest = partial(find_likeliest, translator, model, text, outputs[text])
            if likeliest(change) == likeliest(Change()):
                continue  # a search would hardly find another output
            changed = translate_with_change(translator, model, text, change)
            before = decode_output(translator, outputs[text])
            after = decode_output(translator, changed)
            if len(changed) >= LONGEST:
                endless += 1
                if endless == MOST_ENDLESS:
                    break
            elif before and after not in ("", before):
                one = Experiment(list(change.off), change.name_edits(), text, before, after)
                if after not in earlier and (name != "positions" or is_reordered(before, after)):
                    found = one
                    break
                found = found if found.text else one
        earlier.add(found.after)
        return found

    return {name: find(name, changes) for name, changes in tried.items()}


def find_alpha(
    outputs: Mapping[str, Sequence[int]],
    search: Callable[[str, float | None], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
) -> Experiment:
    """Return an experiment with a text whose output alpha = 0 shortens or alpha = 1 lengthens.

    The text is "" if none is found. For a sentence that a model knows well, one output is far
    likelier than all others. So whole sentences are tried first, then sentences without their
    third word, often the verb, and then beginnings of sentences, the longest first; at most 60 in
    all. `search` returns the ids of a text's output with this α, or with the recipe's if it is
    None; `decode` returns their text.
    """
    split = [text.split(" ") for text in outputs]
    without_third = [" ".join([*one[:2], *one[3:]]) for one in split if len(one) > 3]
    words = [text.rstrip(".?!").split(" ") for text in outputs]
    most = max(map(len, words), default=0)
    begun = [" ".join(one[:-cut]) for cut in range(1, most) for one in words if len(one) > cut + 1]
    for text in list(dict.fromkeys([*outputs, *without_third, *begun]))[:MOST_SEARCHED]:
        ids = outputs.get(text) or search(text, None)
        for alpha in (0.0, 1.0) if len(ids) <= LONGEST else ():
            found = search(text, alpha)
            before, after = decode(ids), decode(found)
            is_wanted = len(found) > len(ids) if alpha else len(found) < len(ids)
            if before and is_wanted and after not in ("", before):
                return Experiment([], [], text, before, after, alpha)
    return Experiment([], [], alpha=0.0)


def find_reordered_text(translator: Translator, text: str, texts: Sequence[str]) -> str:
    """Return the first of `texts` that has the pieces of a text in another order, "" if none."""
    own, *others = [sorted(ids) for ids in translator.task.encode_sources([text, *texts])]
    twins = (one for one, ids in zip(texts, others, strict=True) if ids == own and one != text)
    return next(twins, "")


def is_reordered(before: str, after: str) -> bool:
    """Return whether two texts share most words, equally often, but in another order."""
    words = [re.findall(r"\w+", text.lower()) for text in (before, after)]
    first, second = ([word for word in one if all(word in two for two in words)] for one in words)
    return first != second and sorted(first) == sorted(second) and len(first) > len(words[0]) / 2


def decode_output(translator: Translator, ids: Sequence[int]) -> str:
    """Return the text of an output's ids, which end with END."""
    return translator.task.normalise(translator.task.target.decode(ids[:-1]))


def translate_with_change(
    translator: Translator, model: Transformer, text: str, change: Change
) -> list[int]:
    """Translate a text as the explainer page does, with a change; return output ids and END.

    A changed model computes everything anew at every step. So its output has at most `LONGEST`
    pieces, or as many as the source if that has more.
    """
    (source,) = translator.task.encode_sources([text])
    operations = change_operations(model, change)
    is_same_model = not (change.off or change.edits)
    stepwise = combine_models([model]) if is_same_model else RecomputingModel(model, operations)
    search = replace(translator.recipe.search, constrained=False, stop="exact")
    if not is_same_model:
        room = max(1, LONGEST - len(source))
        search = replace(search, extra_length=min(room, search.extra_length))
    if change.alpha is not None:
        search = replace(search, alpha=change.alpha)
    search = fit_batch_size([model], [source], search, search.beam)
    fastest = choose_operations(model.sizes, stepwise.device, torch.float32)
    strategy = choose_beam_strategy(stepwise, [source], search, operations=fastest)
    with torch.no_grad(), change_modules(model, change):
        ((_, (best,)),) = search_in_memory(stepwise, [source], search, strategy)
    return [*best.ids, END]


def find_likeliest(
    translator: Translator, model: Transformer, text: str, output: Sequence[int], change: Change
) -> list[int]:
    """Return the id of a changed model's likeliest next piece at each step of an output."""
    (source,) = translator.task.encode_sources([text])
    operations = change_operations(model, change)
    inputs = Packed.from_sentences([[BEGIN, *output[:-1]]])
    with torch.no_grad(), change_modules(model, change):
        memory = model.encode(Packed.from_sentences([source]), operations)
        states = model.decode(inputs, memory, operations)
        return model.logits(states).argmax(dim=1).tolist()


@contextmanager
def change_modules(model: Transformer, change: Change) -> Iterator[None]:
    """Context manager: switch off source positions or the first residual, if in `change.off`."""

    def zero(_module: Any, _inputs: Any, rows: Tensor) -> Tensor:  # noqa: ANN401 - of a hook
        return torch.zeros_like(rows)

    def leave_out_x(_module: Any, inputs: Any, _sum: Tensor) -> Tensor:  # noqa: ANN401 - of a hook
        return inputs[1]  # y of the inputs x and y

    hooks = {
        "source.position": (model.source_positions, zero),
        RESIDUAL: (model.encoder[0].add_self.add, leave_out_x),
    }
    with ExitStack() as stack:
        for name, (module, hook) in hooks.items():
            if name in change.off:
                stack.enter_context(module.register_forward_hook(hook))
        yield


def change_operations(model: Transformer, change: Change) -> Operations:
    """Return a model's operations with changed attention; use them for one search or pass only."""
    calls = {True: count(), False: count(-model.sizes.encoder_depth)}  # the encoder's are below 0

    def build(queries: Sequence[int], keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        def change_weights(weights: list[Tensor]) -> None:
            call = next(calls[mask.causal])
            layer = call % model.sizes.decoder_depth + 1 if call >= 0 else 0
            is_off = layer and not mask.causal and f"decoder.{layer}.cross" in change.off
            edits = [edit for edit in change.edits if edit[0] == layer and not mask.causal]
            for one in weights:  # [H T S]
                for _, head, row, column, weight in edits:
                    if row < one.shape[1] and column < one.shape[2]:
                        one[head - 1, row, column] = weight
                if is_off:
                    one.zero_()

        is_open = mask.causal and "mask" in change.off
        seen = replace(mask, causal=False) if is_open else mask
        return AttentionBySentence(queries, keys, seen, change_weights)

    return replace(model.operations, build_attention=build)


# --- Which source piece belongs to a written one --------------------------------------------------


def align_pieces(heads: AlignmentHeads, rows: Mapping[str, Tensor]) -> list[int]:
    """Return the index of the most attended source piece for each output piece but END.

    `rows` are the named intermediates of `trace_model`.
    """
    names = [f"decoder.{heads.layer}.cross.weights.{head}" for head in heads.heads]
    weights = torch.stack([rows[name] for name in names]).mean(dim=0)[:, :-1]
    return weights[heads.shifted : len(weights) - 1 + heads.shifted].argmax(dim=1).tolist()


def choose_aligning_heads(
    translator: Translator, model: Transformer, outputs: Mapping[str, list[int]]
) -> tuple[AlignmentHeads, str, float]:
    """Return (best aligning heads, most reordered text, the reordered share of its output).

    `outputs` are the output ids of each text. The best heads are those that the model's folder has
    for word alignments, else those that align outputs with the most different source pieces. The
    share is as in `measure_reordering`.
    """
    every = list_head_numbers(model.sizes)
    layers = range(1, model.sizes.decoder_depth + 1)
    choices = [
        AlignmentHeads(layer, heads, shifted=shifted)
        for layer, heads, shifted in product(layers, [every, *zip(every)], (True, False))
    ]
    if translator.alignment_heads:
        choices = [translator.alignment_heads]
    texts = [*outputs]
    sources = translator.task.encode_sources(texts)
    traced = [
        trace_model(model, source, output)
        for source, output in zip(sources, outputs.values(), strict=True)
    ]

    def coverage(one: AlignmentHeads) -> float:
        aligned = [align_pieces(one, rows) for rows in traced]
        return sum(len(set(places)) / max(1, len(places)) for places in aligned)

    best = max(choices, key=coverage)
    turns = [measure_reordering(align_pieces(best, rows)) for rows in traced]
    most = max(range(len(texts)), key=lambda index: turns[index])
    return best, texts[most], turns[most]


def measure_reordering(places: Sequence[int]) -> float:
    """Return the share of adjacent output pieces whose source pieces are in reverse order."""
    pairs = list(pairwise(places))
    return sum(a > b for a, b in pairs) / max(1, len(pairs))
