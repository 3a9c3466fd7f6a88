"""`transduce.align`: which words of a source and a target belong together."""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from transduce.inference.load import load
from transduce.inference.outputs import Alignment
from transduce.inference.translator import Texts, Translator


@overload
def align(model: Translator | Path | str, source: str, target: str) -> Alignment: ...
@overload
def align(model: Translator | Path | str, source: Texts, target: Texts) -> list[Alignment]: ...
def align(
    model: Translator | Path | str, source: str | Sequence[str], target: str | Sequence[str]
) -> Alignment | list[Alignment]:
    """Return the alignment of the words of `source` and `target`, from the model's attention.

        alignment = transduce.align("model", "A dog runs.", "Ein Hund läuft.")
        print(alignment, alignment.links)

    `model` is a translator, a model folder or a run folder. For two lists of texts, a list of
    alignments is returned. The attention is that of the heads stored with the model.
    `transduce.average` chooses these heads by counting words that occur together, and
    `transduce.choose_alignment_heads` by gold links. If none were chosen, all heads of the middle
    layer are used.
    """
    translator = model if isinstance(model, Translator) else load(model)
    return translator.align(source, target)  # type: ignore[arg-type]  # two strings or two lists
