"""`transduce.attend`: what a model attends to, for a notebook, a page, a folder or a figure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.allowance import PICTURE_BYTES
from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError, short_repr, suggest_names
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.text.arguments import require_count, require_string
from transduce.view.attention.figures import FIGURES, LAYER, draw_paper_figure
from transduce.view.attention.page import build_attention_page
from transduce.view.attention.record import AttentionView, save_record
from transduce.view.attention.recorder import record_attention
from transduce.view.page.document import embed_page

FRAME_HEIGHT = 640  # pixels of the page in a notebook


@final
@dataclass(frozen=True)
class Attention:
    """The attention weights of a model for one text.

        attention = transduce.load("model").attend("A dog runs.")
        attention.write_page("attention.html")
        attention.record.weights["cross"].shape  # layers, heads, output pieces, source pieces

    A notebook shows the page.
    """

    record: AttentionView = field(repr=False)

    def write_page(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained HTML page of all weights; return its path."""
        write_atomically(resolve_output(path), build_attention_page(self.record).encode())
        return Path(path)

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the attention record to a new folder, as safetensors and JSON; return its path."""
        save_record(self.record, folder)
        return Path(folder)

    def draw_figure(
        self, number: int, layer: int = LAYER, heads: Sequence[int] = (), *, word: str = ""
    ) -> str:
        """Return Figure 3, 4 or 5 of the paper as SVG, drawn from these weights.

        Figures 3 and 4 show what `word` attends to; it defaults to the word in the paper's figure.
        """
        if number not in FIGURES:
            raise InputError(f"unknown figure {number!r}", suggest_names(str(number), "345"))
        figure = FIGURES[number]
        if word and not figure.word:
            raise InputError(f"Figure {number} shows all words", "leave `word` out")
        figure = replace(figure, word=word or figure.word)
        return draw_paper_figure(self.record, figure, layer, heads)

    def __repr__(self) -> str:
        source, output = (
            short_repr(side.text) for side in (self.record.source, self.record.output)
        )
        model = self.record.model
        return f"<attention of {source} to {output}: {model.layers} layers, {model.heads} heads>"

    def _repr_html_(self) -> str:
        return embed_page(build_attention_page(self.record), FRAME_HEIGHT, "Attention")


def attend(
    model: Translator | Path | str,
    text: str,
    target: str | None = None,
    *,
    most: int = PICTURE_BYTES,
) -> Attention:
    """Return a model's attention weights for `text` and `target` (default: the model's output).

        attention = transduce.attend("model", "A dog runs.")

    `model` is a translator, a model folder or a run folder. The weights of every layer and head
    are those of one pass of the model over both texts. A long text is not split. Raises
    InputError if the weights may need more than `most` bytes of memory.
    """
    require_string("text", text)
    require_count("most", most)
    if target is not None:
        require_string("target", target)
    translator = model if isinstance(model, Translator) else load(model)
    return Attention(record_attention(translator, text, target, most))
