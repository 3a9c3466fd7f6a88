"""A self-contained HTML document: nothing is requested, and nothing runs but its own script."""

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import final

import numpy as np

from transduce.view.page.squeeze import squeeze_script, squeeze_style

PACKAGE = "transduce.view"
UNPACK = ("page/seven.js", "page/unpack.js")
JSON = "application/json"
Texts = dict[str, str]
# Characters that could end a script element or a line of a script, and lone surrogates, which
# UTF-8 cannot hold; JSON reads all of them back from their \u codes.
UNSAFE = frozenset({*map(ord, "<>&\u2028\u2029\x7f"), *range(0xD800, 0xE000)})
ESCAPES = MappingProxyType({code: f"\\u{code:04x}" for code in UNSAFE})


@final
@dataclass(frozen=True)
class PageParts:
    """The files of a page, as paths below `view/`; scripts and styles are joined in this order."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    markup: str
    connect: str = "'none'"  # what the script may connect to: "'self'" for its own server
    forms: str = "'none'"  # where forms may be sent


def read_part(path: str) -> str:
    """Return the text of a file of the package, such as "page/theme.css"."""
    part = files(PACKAGE).joinpath(*path.split("/"))
    return part.read_text(encoding="utf-8").replace("\r\n", "\n")


def join_scripts(paths: Iterable[str]) -> str:
    """Join script modules to one strict-mode script, in which no name is global."""
    modules = squeeze_script("".join(map(read_part, paths)))
    return f'(()=>{{\n"use strict";\n{modules}}})();\n'


def join_styles(paths: Iterable[str]) -> str:
    """Return the style sheets at these paths, joined to one."""
    return "".join(squeeze_style(read_part(path)) for path in paths)


@final
@dataclass(frozen=True)
class DataBlock:
    """A script element that holds data: its id, its media type and a text without `<`."""

    identifier: str
    media_type: str
    text: str

    def to_html(self) -> str:
        """Return the data block as a script element; its text has no `<`, which could close it."""
        assert "<" not in self.text, self.identifier
        return f'<script type="{self.media_type}" id="{self.identifier}">{self.text}</script>'


def json_block(identifier: str, value: object) -> DataBlock:
    """Return a data block of JSON; equal values give equal bytes, NaN and infinity are refused."""
    return DataBlock(identifier, JSON, encode_json(value))


def base64_block(identifier: str, content: bytes) -> DataBlock:
    """Return a data block of bytes in base64, which the page decodes."""
    return DataBlock(identifier, "text/plain", base64.b64encode(content).decode("ascii"))


def encode_seven_bits(content: bytes) -> str:
    """Return bytes as text in which each character holds the next seven bits, filled up with zeros.

    The text has 1.17 times their size (base64: 1.33 times).

    Characters that HTML does not keep (NUL, CR) or that could end the block (<) are moved by 256.
    """
    padded = np.frombuffer(content + bytes(-len(content) % 7), np.uint8)
    sevens = np.packbits(np.unpackbits(padded).reshape(-1, 7), axis=1) >> 1
    text = sevens.tobytes().decode("ascii")
    for character in "\0\r<":
        text = text.replace(character, chr(ord(character) + 256))
    return text


def encode_json(value: object) -> str:
    """Return JSON that is safe inside of a script element, whatever its strings hold.

    `<`, `>`, `&`, U+2028, U+2029 and lone surrogates are written as \\u codes.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def pack_blocks(data: Sequence[DataBlock], script: str) -> list[DataBlock]:
    """Return a page's data blocks with the JSON ones and the script packed into one, the last.

    The packed block is a JSON list, compressed by zlib: type, id and text of each script element
    that `unpack.js` adds to the page, the script last.
    """
    values = [one for one in data if one.media_type == JSON]
    elements = [[one.media_type, one.identifier, one.text] for one in values]
    text = json.dumps([*elements, ["", "", script]], ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(text.encode("utf-8"), 9)
    # the last digit says how many zeros the bytes were filled up with
    block = DataBlock("packed", "text/plain", f"{encode_seven_bits(packed)}{-len(packed) % 7}")
    return [*(one for one in data if one.media_type != JSON), block]


def read_texts(page: str) -> dict[str, Texts]:
    """Return the texts of a page, such as "explainer", by the codes of its other languages."""
    folder = files(PACKAGE).joinpath(page, "texts")
    found = {one.name.removesuffix(".json"): one for one in folder.iterdir()}
    return {code: json.loads(found[code].read_text(encoding="utf-8")) for code in sorted(found)}


def texts_file(page: str, language: str) -> str:
    """Return the path of the file with a page's texts in a language."""
    return str(files(PACKAGE).joinpath(page, "texts", f"{language}.json"))


def texts_block(texts: Mapping[str, Texts], language: str = "") -> DataBlock:
    """Return the block of a page's texts by language; without a `language` the browser chooses."""
    return json_block("texts", {"language": language, "texts": texts})


def build_page(
    title: str,
    parts: PageParts,
    data: Sequence[DataBlock],
    language: str = "",
    *,
    is_packed: bool = False,
    body: str = "",
) -> str:
    """Return one HTML file: markup, `body`, the data blocks, and the script that reads them.

    The content security policy allows this script and this style by their SHA-256 and refuses every
    request. `language` is the code of the interface's language ("en" if empty). Equal arguments
    give equal bytes. With `is_packed` the script and its JSON are compressed.
    """
    script, style = join_scripts(parts.scripts), join_styles(parts.styles)
    held = "".join(c if c.isprintable() or c == " " else "\ufffd" for c in title)
    scripts = [script]
    if is_packed:
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
            f"<title>{html.escape(held, quote=False)}</title>\n",
            f"<style>{style}</style>\n</head>\n<body>\n",
            re.sub(r"\n +", "\n", read_part(parts.markup)),
            body,
            *(f"{block.to_html()}\n" for block in data),
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def build_policy(scripts: Sequence[str], style: str, parts: PageParts) -> str:
    """Return a content security policy that allows these scripts and this style, and no request.

    `parts` says what the script may connect to, and where forms may be sent.
    """
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
    """Return the HTML of a frame that shows a page in a notebook, `height` pixels high."""
    return (
        '<iframe sandbox="allow-scripts allow-downloads" '
        f'srcdoc="{html.escape(page, quote=True)}" width="100%" height="{height}" '
        f'style="border:0" title="{title}"></iframe>'
    )
