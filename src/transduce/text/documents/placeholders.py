"""Placeholders of programs in their messages, such as %s, %(name)s, {0}, <b> and &amp;."""

import re
from collections import Counter

PRINTF = (
    r"%(?:\(\w+\)|\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[qjztL])?"
    r"[diouxXeEfFgGaAcsrpn@%]"
)
QT = r"%L?\d+"
BRACE = r"\$?\{[^{}\s]*\}"
TAG = r"</?[a-zA-Z][^<>]*>"
ENTITY = r"&(?:[a-zA-Z]+|#\d+|#x[0-9a-fA-F]+);"
PLACEHOLDER = re.compile("|".join((PRINTF, QT, BRACE, TAG, ENTITY)))


def has_words(text: str) -> bool:
    """Return whether a text has a letter outside of its placeholders."""
    return any(map(str.isalpha, PLACEHOLDER.sub("", text)))


def compare_placeholders(source: str, translation: str) -> str:
    """Name the placeholders, such as %s, that a translation lacks or adds; "" if there are none."""
    ours, theirs = (Counter(PLACEHOLDER.findall(text)) for text in (source, translation))
    facts = []
    for fact, some in (("lacks", ours - theirs), ("adds", theirs - ours)):
        if some:
            facts.append(f"{fact} {' '.join(some.elements())}")
    return " and ".join(facts)
