"""The page of the translation server: one HTML file, which sends requests to its server only."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from transduce.text.languages import DOUBTFUL, SURE
from transduce.view.page.document import (
    FITTED,
    build_page,
    json_block,
    list_parts,
    read_texts,
    texts_block,
)

SCRIPTS = (
    *("texts", "language", "state", "answers", "detection", "words", "choices", "controls"),
    *("history", "main"),
)
PARTS = replace(
    list_parts("translation", [f"script/{name}" for name in SCRIPTS], FITTED),
    connect="'self'",
    forms="'self'",
)
AUTO = "auto"  # the form's value for a source whose language is to be detected
MARKS = ("<!--sources-->", "<!--targets-->", "<!--text-->", "<!--translation-->")


@final
@dataclass
class TranslationPage:
    """A server's translation page; all but the contents of its form is built once."""

    pairs: Sequence[tuple[str, str]]
    names: Mapping[str, str]  # of languages, by code
    models: Mapping[tuple[str, str], str]  # the name of each pair's model
    characters: int  # the most characters of a text
    texts: int  # the most texts of a request
    needs_key: bool = False
    can_detect: bool = False  # whether the language of a text can be detected

    def __post_init__(self) -> None:
        header = {
            "pairs": [list(pair) for pair in self.pairs],
            "names": dict(self.names),
            "models": [self.models.get(pair, "") for pair in self.pairs],
            "characters": self.characters,
            "texts": self.texts,
            "needsKey": self.needs_key,
            "sure": 100 * SURE,
            "doubtful": 100 * DOUBTFUL,
        }
        data = [texts_block(read_texts("translation")), json_block("server", header)]
        # a mark cannot occur in the data, which has no `<`
        page = build_page("Translate", PARTS, data)
        if self.needs_key:  # without JavaScript nothing shows the field later
            page = page.replace('id="key-label" hidden', 'id="key-label"', 1)
        self.parts = re.split("|".join(MARKS), page)

    def write(
        self,
        text: str = "",
        translation: str = "",
        source: str = "",
        target: str = "",
        detected: str = "",
    ) -> str:
        """Return the page as HTML; its form, for browsers without JavaScript, has these contents.

        `detected` is the detected source language, "" if none was to be detected.
        """
        sources = {one: self.names.get(one, one) for one, _ in self.pairs}
        targets = {one: self.names.get(one, one) for _, one in self.pairs}
        source = source or next(iter(sources))
        if self.can_detect:
            name = self.names.get(detected, detected)
            sources = {AUTO: f"detected: {name}" if detected else "detect language", **sources}
        filled = (
            write_options(sources, source),
            write_options(targets, target),
            html.escape(text),
            html.escape(translation),
        )
        both = zip(self.parts[1:], filled, strict=True)
        return self.parts[0] + "".join(one + part for part, one in both)


def write_options(texts: Mapping[str, str], chosen: str) -> str:
    """Return an HTML option for each (value, text) in `texts`; the value `chosen` is selected."""
    return "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == chosen else ""}>'
        f"{html.escape(text)}</option>"
        for value, text in texts.items()
    )
