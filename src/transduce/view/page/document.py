"""A self-contained HTML document, which requests nothing and runs no script but its own."""

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from transduce.view.page.squeeze import squeeze_script, squeeze_style

VIEW = Path(__file__).parents[1]
SHARED = ("dom", "language")  # scripts of most pages
FITTED = (*SHARED, "fit")  # scripts of pages with a text box as high as its text
UNPACK = ("page/seven.js", "page/unpack.js")
JSON = "application/json"
Texts = dict[str, str]
# Characters that could end a script element or a line of a script, and lone surrogates, which
# UTF-8 cannot hold; JSON reads all of them back from their \u codes.
UNSAFE = frozenset({*map(ord, "<>&\u2028\u2029\x7f"), *range(0xD800, 0xE000)})
ESCAPES = {code: f"\\u{code:04x}" for code in UNSAFE}


@final
@dataclass(frozen=True)
class PageParts:
    """A page's files (paths below `view/`, in joining order) and what the page may contact."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    markup: str
    connect: str = "'none'"  # what the script may connect to: "'self'" for its own server
    forms: str = "'none'"  # where forms may be sent


def list_parts(folder: str, scripts: Iterable[str], shared: Sequence[str] = SHARED) -> PageParts:
    """Return the files of the page in `folder`; scripts shared by pages come before its own.

    Style and markup have the folder's name: "curves/curves.css", "curves/curves.html".
    """
    own = f"{folder}/{folder.rpartition('/')[2]}"
    return PageParts(
        scripts=(
            *(f"page/{name}.js" for name in shared),
            *(f"{folder}/{name}.js" for name in scripts),
        ),
        styles=("page/theme.css", f"{own}.css"),
        markup=f"{own}.html",
    )


def read_part(path: str) -> str:
    """Return the text of a file below `view/`, such as "page/theme.css"."""
    return (VIEW / path).read_text(encoding="utf-8")


def join_scripts(paths: Iterable[str]) -> str:
    """Join script modules to one strict-mode script, in which no name is global."""
    modules = squeeze_script("".join(map(read_part, paths)))
    return f'(()=>{{\n"use strict";\n{modules}}})();\n'


def join_styles(paths: Iterable[str]) -> str:
    """Return the style sheets at these paths, joined into one and without comments."""
    return "".join(squeeze_style(read_part(path)) for path in paths)


@final
@dataclass(frozen=True)
class DataBlock:
    """A script element that holds data: its id, its media type and a text without `<`."""

    identifier: str
    media_type: str
    text: str

    def to_html(self) -> str:
        """Return the data block as a script element; raise AssertionError if its text has a `<`."""
        assert "<" not in self.text, self.identifier
        return f'<script type="{self.media_type}" id="{self.identifier}">{self.text}</script>'


def json_block(identifier: str, value: object) -> DataBlock:
    """Return a data block of JSON; raise ValueError for NaN or infinity."""
    return DataBlock(identifier, JSON, encode_json(value))


def base64_block(identifier: str, content: bytes) -> DataBlock:
    """Return a data block of bytes in base64, which the page decodes."""
    return DataBlock(identifier, "text/plain", base64.b64encode(content).decode("ascii"))


def encode_seven_bits(content: bytes) -> str:
    """Encode bytes as text, seven bits a character; zeros pad them to a multiple of seven bytes.

    The text is 1.17 times as long as the bytes (base64: 1.33 times). Characters that HTML changes
    (NUL, CR) or that could end the block (<) get 256 added.
    """
    padded = np.frombuffer(content + bytes(-len(content) % 7), np.uint8)
    sevens = np.packbits(np.unpackbits(padded).reshape(-1, 7), axis=1) >> 1
    text = sevens.tobytes().decode("ascii")
    for character in "\0\r<":
        text = text.replace(character, chr(ord(character) + 256))
    return text


def encode_json(value: object) -> str:
    """Return JSON that is safe inside of a script element, whatever its strings hold.

    `<`, `>`, `&`, U+007F, U+2028, U+2029 and lone surrogates are written as \\u codes. Raises
    ValueError for NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def pack_blocks(data: Sequence[DataBlock], script: str) -> list[DataBlock]:
    """Pack JSON blocks and script into one block; return the other blocks, then the packed one.

    The packed block is a JSON list, compressed by zlib. It has type, id and text of each element
    that `unpack.js` adds to the page; the script is the last element.
    """
    values = [one for one in data if one.media_type == JSON]
    elements = [[one.media_type, one.identifier, one.text] for one in values]
    text = json.dumps([*elements, ["", "", script]], ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(text.encode("utf-8"), 9)
    # the last digit says how many zeros pad the bytes
    block = DataBlock("packed", "text/plain", f"{encode_seven_bits(packed)}{-len(packed) % 7}")
    return [*(one for one in data if one.media_type != JSON), block]


def read_texts(page: str) -> dict[str, Texts]:
    """Return the translated texts of a page, such as "explainer", by language code."""
    found = sorted((VIEW / page / "texts").glob("*.json"))
    return {one.stem: json.loads(one.read_text(encoding="utf-8")) for one in found}


def texts_block(texts: Mapping[str, Texts], language: str = "") -> DataBlock:
    """Return the block of a page's texts by language; the browser chooses if `language` is ""."""
    return json_block("texts", {"language": language, "texts": texts})


def build_page(
    title: str,
    parts: PageParts,
    data: Sequence[DataBlock],
    language: str = "",
    *,
    is_compressed: bool = False,
    body: str = "",
) -> str:
    """Return one HTML file with the markup of `parts`, `body`, the data blocks and the script.

    The content security policy allows this script and this style by their SHA-256, and no request
    but those that `parts` names. `language` is the code of the interface's language ("en" if
    empty). Equal arguments give equal bytes. With `is_compressed` the script and JSON are packed.
    """
    script, style = join_scripts(parts.scripts), join_styles(parts.styles)
    shown_title = "".join(c if c.isprintable() or c == " " else "\ufffd" for c in title)
    scripts = [script]
    if is_compressed:
        data, script = pack_blocks(data, script), join_scripts(UNPACK)
        scripts.append(script)
    policy = build_policy(scripts, style, parts)
    for one in scripts:
        assert "</script" not in one.lower()
        assert "<!--" not in one
    assert "</style" not in style.lower()
    return "".join(
        [
            f'<!doctype html>\n<html lang="{html.escape(language or "en")}">\n<head>\n',
            '<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '\n<meta name="viewport" content="width=device-width,initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{html.escape(shown_title, quote=False)}</title>\n",
            f"<style>{style}</style>\n</head>\n<body>\n",
            re.sub(r"\n +", "\n", read_part(parts.markup)),
            body,
            *(f"{block.to_html()}\n" for block in data),
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def build_policy(scripts: Sequence[str], style: str, parts: PageParts) -> str:
    """Return a content security policy for these scripts, this style, and the rules in `parts`."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(hash_source, scripts))}",
            f"style-src {hash_source(style)}",
            "img-src data: blob:",
            f"connect-src {parts.connect}",
            "base-uri 'none'",
            f"form-action {parts.forms}",
        ]
    )


def hash_source(text: str) -> str:
    """Return the SHA-256 of an inline script or style as a policy writes it: 'sha256-<base64>'."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def embed_page(page: str, height: int, title: str) -> str:
    """Return an HTML frame, `height` pixels high, that shows a page in a notebook."""
    return (
        '<iframe sandbox="allow-scripts allow-downloads allow-forms allow-modals" '
        f'srcdoc="{html.escape(page, quote=True)}" width="100%" height="{height}" '
        f'style="border:0" title="{title}"></iframe>'
    )
