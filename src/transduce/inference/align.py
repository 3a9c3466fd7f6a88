"""`transduce.align`: which words of a source and a target belong together."""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from transduce.errors import InputError
from transduce.inference.load import load
from transduce.inference.outputs import Alignment
from transduce.inference.translator import Texts, Translator
from transduce.text.arguments import check_lines, describe_value, require_lines


@overload
def align(model: Translator | Path | str, source: str, target: str) -> Alignment: ...
@overload
def align(model: Translator | Path | str, source: Texts, target: Texts) -> list[Alignment]: ...
def align(
    model: Translator | Path | str, source: str | Sequence[str], target: str | Sequence[str]
) -> Alignment | list[Alignment]:
    """Return which words of `source` and `target` belong together, by the model's attention.

        alignment = transduce.align("model", "A dog runs.", "Ein Hund läuft.")
        print(alignment, alignment.links)

    `model` is a translator, a model folder or a run folder. For two lists of texts a list of
    alignments is returned. Alignments are read from the attention of the heads that
    `transduce.choose_alignment_heads` stored with the model, by default all of its middle layer.
    """
    translator = model if isinstance(model, Translator) else load(model)
    if isinstance(source, str) and isinstance(target, str):
        (alignment,) = translator.align_pairs([(source, target)])
        return alignment
    if isinstance(source, str) or isinstance(target, str):
        wrong = target if isinstance(source, str) else source
        raise InputError(
            f"source and target must be two strings or two lists, not a string and "
            f"{describe_value(wrong)}"
        )
    texts = []
    for name, text in (("source", source), ("target", target)):
        require_lines(name, text)
        texts.append(list(check_lines(name, text)))
    sources, targets = texts
    if len(sources) != len(targets):
        fact = f"source has {len(sources):,} lines, but target has {len(targets):,}"
        raise InputError(fact, "line i of one must be the translation of line i of the other")
    return list(translator.align_pairs(zip(sources, targets, strict=True)))
