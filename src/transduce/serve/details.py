"""The details of an output that a request may ask for: pieces, log P of each, word links."""

from collections.abc import Sequence
from typing import Any

import torch

from transduce.inference.align_block import add_alignments, align_texts
from transduce.inference.combine_parts import Combination
from transduce.inference.likelihood import token_log_probs
from transduce.inference.lines import EncodedLine, Line
from transduce.inference.outputs import Output
from transduce.inference.pairs import Pair, encode_pairs, find_unscorable
from transduce.inference.translator import Translator
from transduce.packed import Packed
from transduce.vocabulary import END


def describe_output(translator: Translator, line: EncodedLine, best: Combination) -> dict[str, Any]:
    """Return the best output's pieces, log P of each target piece, and word links.

    For a line that was split, the lists of its parts are joined.
    """
    targets = [[*part.ids, END] for part in best]
    sources = [list(source) for source in line.sources]
    return {
        **describe_pieces(translator, sources, targets),
        **align_best(translator, line, best),
    }


def describe_pair(translator: Translator, text: str, output: str) -> dict[str, Any]:
    """Return the same details of a text and an output that the model did not write word by word.

    The lists are empty if one of them is too long for the model.
    """
    (pair,) = encode_pairs([Pair(1, text, output)], translator.task)
    is_short = find_unscorable(pair, translator.recipe) is None
    sources, targets = ([pair.source], [pair.target]) if is_short else ([], [])
    ((alignment, _),) = align_texts(translator, [Pair(1, text, output)])
    return {**describe_pieces(translator, sources, targets), **alignment.as_json()}


def describe_pieces(
    translator: Translator, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> dict[str, Any]:
    """Return the pieces of sources and targets, given by ids, and log P of each target piece."""
    task = translator.task
    return {
        "source_pieces": [task.source.piece(one) for ids in sources for one in ids[:-1]],
        "target_pieces": [task.target.piece(one) for ids in targets for one in ids],
        "log_probs": [round(one, 4) for one in find_log_probs(translator, sources, targets)],
    }


@torch.inference_mode()
def find_log_probs(
    translator: Translator, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> list[float]:
    """Return log P of every target piece, for all pairs of source and target ids in one pass."""
    if not sources:
        return []
    (model,) = translator.models
    packed = Packed.from_sentences(sources), Packed.from_sentences(targets)
    found: list[float] = token_log_probs(model, *packed).float().cpu().tolist()
    return found


def align_best(translator: Translator, line: EncodedLine, best: Combination) -> dict[str, Any]:
    """Return the word links between a line and its best output, and a weight for each link."""
    if not best:
        return {"alignment": [], "weights": []}
    text = Line(1, " ".join(line.texts))
    empty = [[Output("", 0.0, 0.0)]]  # `add_alignments` reads only the number of outputs
    ((output,),) = add_alignments(translator, [text], [(line, [best])], empty)
    return output.alignment.as_json() if output.alignment else {"alignment": [], "weights": []}
