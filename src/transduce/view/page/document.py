"""A self-contained HTML document: nothing is requested, and nothing runs but its own script."""

import base64
import hashlib
import html
from collections.abc import Sequence

from transduce.view.page.data import DataBlock
from transduce.view.page.pack import UNPACK, pack_blocks
from transduce.view.page.parts import PageParts, join_scripts, join_styles, read_part


def build_page(
    title: str,
    parts: PageParts,
    data: Sequence[DataBlock],
    language: str = "",
    *,
    is_packed: bool = False,
) -> str:
    """Return one HTML file: markup first, then the data blocks, then the script that reads them.

    The content security policy allows this script and this style by their SHA-256 and refuses every
    request. `language` is the code of the interface's language ("en" if empty). Equal arguments
    give equal bytes. With `is_packed` the script and its JSON are compressed.
    """
    script, style = join_scripts(parts.scripts), join_styles(parts.styles)
    scripts = [script]
    if is_packed:
        data, script = pack_blocks(data, script), join_scripts([UNPACK])
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
            f"<title>{escape_title(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            read_part(parts.markup),
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


def escape_title(title: str) -> str:
    """Return a title as HTML; characters that HTML cannot hold become U+FFFD."""
    held = "".join(c if c.isprintable() or c == " " else "\ufffd" for c in title)
    return html.escape(held, quote=False)
