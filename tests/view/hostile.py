"""Strings that have run code in other tools' pages, or that break markup, JSON or layout."""

import random

MARK = "window.stolen = (window.stolen || 0) + 1"
HANDLERS = [
    "onerror",
    "onload",
    "onclick",
    "onmouseover",
    "onfocus",
    "onanimationstart",
    "onbegin",
    "ontoggle",
]
TAGS = [
    "img",
    "svg",
    "body",
    "iframe",
    "video",
    "audio",
    "details",
    "input",
    "marquee",
    "object",
    "embed",
    "math",
]
ENDS = ["script", "SCRIPT", "ScRiPt", "style", "title", "textarea", "noscript", "template"]


def attacks() -> list[str]:
    """Return over two hundred strings; if one runs as code, `window.stolen` is set."""
    ends = [f"</{end}{gap}>" for end in ENDS for gap in ("", " ", "\t", "\n", "/", " x='")]
    return [
        *(f"{end}<script>{MARK}</script>" for end in ends),
        *(f'<{tag} src=x href=x {handler}="{MARK}">' for tag in TAGS for handler in HANDLERS),
        *(f"{quote}><svg/onload={MARK}>" for quote in ("'", '"', "`", "]]>", "-->", "--!>")),
        f"javascript:{MARK}",
        f"<a href='javascript:{MARK}' autofocus onfocus='{MARK}'>",
        *(f"{{{{{MARK}}}}}", f"${{{MARK}}}", f"<%= {MARK} %>", f"#{{{MARK}}}"),
        *("<!--<script>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;script&gt;", "&#60;script&#62;"),
        *("\u2028", "\u2029", "\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\ufeff", "\ufffe"),
        *("\u202e\u202d\u2066evil\u2069", "\u200b\u200d\u200c", "\ud800", "\udfff\ud800", "\\"),
        *("\\u003c/script>", "\\x3c/script>", '"', "'", "`", "\\'", '\\"', "');", '");', "`);"),
        *("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "NaN", "null"),
        *("مرحبا بالعالم", "שלום", "日本語", "é\u0301" * 30, "👩\u200d👩\u200d👧", "a" * 5000),
        *("TITLE", "%s", "{0}", "{}", "$&", "$1", "\r\n", "\n", "\t", " ", ""),
    ]


def make_words(rng: random.Random, count: int, most: int = 6) -> list[str]:
    """Return words joined from 1 to `most` parts of attacks, markup and any characters."""
    whole = [one for one in attacks() if one.isprintable() and len(one) < 200]
    marks = ["<", ">", "</", "/>", '"', "'", "`", "=", "&", ";", "\\", "script", "<!--", "-->"]
    parts = [*whole, *marks, *TAGS, *HANDLERS, f'"{MARK}"', "{{", "}}", "${", "\u05d0", "\u0639"]
    return ["".join(rng.choices(parts, k=rng.randint(1, most))) for _ in range(count)]
