"""What a search is given: random weights and made sentences, or a model and a text that exist."""

from pathlib import Path

from benchmarks.shapes import SHAPES, V, sentences
from transduce.model.transformer import Transformer, transformer
from transduce.tasks.load import load


def task(shape: str, what: str) -> tuple[Transformer, list[list[int]]]:
    """A shape and a number of sentences, or a model folder and a file of lines."""
    if shape in SHAPES:
        return transformer(SHAPES[shape], V, V, 1).eval(), sentences(int(what))
    translator = load(shape)
    if translator.recipe.architecture.tie != "all":
        raise SystemExit(f"{shape}: its matrices are not shared, and the peers' are")
    lines = Path(what).read_text(encoding="utf-8").splitlines()
    return translator.model, [list(ids) for ids in translator.task.read(lines)]
