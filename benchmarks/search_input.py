"""The model and sentences of a search: random ones, or a trained model and a text."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.shapes import SHAPES, V, sentences
from transduce.inference.load import load_task_model
from transduce.paper.model import Transformer, build_transformer
from transduce.settings import Architecture
from transduce.text.files import read_lines

SAME = (
    "tie_embeddings",
    "norm",
    "mixing",
    "encoder_neighbourhood",
    "decoder_neighbourhood",
)


def load_search_input(shape: str, what: str) -> tuple[Transformer, list[list[int]]]:
    """Load a model and sources: by shape and count, or by model folder and text file."""
    if shape in SHAPES:
        return build_transformer(SHAPES[shape], V, V, 1).eval(), sentences(int(what))
    model = load_task_model(Path(shape))
    mine, papers = model.recipe.architecture, Architecture()
    differs = any(getattr(mine, name) != getattr(papers, name) for name in SAME)
    if differs or mine.positions == "learned" or mine.d_k != mine.d_v:
        raise SystemExit(f"{shape}: it differs from the paper in more than sizes, as no peer does")
    sources = model.task.encode_sources(list(map(model.task.normalise, read_lines(what))))
    if max(map(len, sources)) > model.recipe.data.max_length:
        raise SystemExit(f"{what}: a line has more than {model.recipe.data.max_length} pieces")
    return model.transformer, sources


def split_into_batches(sources: list[list[int]], size: int) -> Iterator[list[list[int]]]:
    """Split the sources into batches of a size."""
    return (sources[first : first + size] for first in range(0, len(sources), size))
