"""The attention page, one HTML file that shows an attention view and requests nothing."""

from transduce.settings.recipe import shorten_name
from transduce.view.attention.encode import WeightEncoding, encode_view
from transduce.view.attention.record import AttentionView
from transduce.view.page.data import DataBlock, json_block
from transduce.view.page.document import build_page
from transduce.view.page.parts import PageParts

SCRIPTS = (
    *("data", "state", "units", "colours", "bipartite", "matrix", "panels", "grid", "align"),
    *("lists", "stage", "export", "controls", "keys", "main"),
)
PARTS = PageParts(
    scripts=("page/dom.js", *(f"attention/script/{name}.js" for name in SCRIPTS)),
    styles=("page/theme.css", "attention/attention.css"),
    markup="attention/attention.html",
)


def build_attention_page(view: AttentionView, encoding: WeightEncoding | None = None) -> str:
    """Return an HTML page that shows all attention weights of a view.

    It is one file that requests nothing. Equal views give equal bytes.
    """
    encoding = encoding or WeightEncoding()
    encoded = encode_view(view, encoding)
    data = [
        json_block("header", encoded.header),
        DataBlock("weights", "text/plain", encoded.weights),
    ]
    is_packed = encoding.compression != "none"
    return build_page(
        f"Attention of {shorten_name(view.model.name)}", PARTS, data, is_packed=is_packed
    )
