"""The page of the translation server: one HTML file, which sends requests to its server only."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from transduce.text.languages import DOUBTFUL, SURE
from transduce.view.page.document import build_page, json_block, list_parts, read_texts, texts_block

SCRIPTS = (
    *("texts", "language", "state", "answers", "detection", "words", "choices", "controls"),
    *("history", "main"),
)
PARTS = replace(
    list_parts("translation", [f"script/{name}" for name in SCRIPTS]),
    connect="'self'",
    forms="'self'",
)
AUTO = "auto"  # the source's value in the form if its language is to be detected
MARKS = ("<!--sources-->", "<!--targets-->", "<!--text-->", "<!--translation-->")


@final
@dataclass(frozen=True)
class PageSettings:
    """Facts for the server's page: languages, models, limits, need of a key, language detection."""

    pairs: Sequence[tuple[str, str]]
    names: Mapping[str, str]  # of languages, by code
    models: Mapping[tuple[str, str], str]  # the name of each pair's model
    characters: int  # the most characters of a text
    texts: int  # the most texts of a request
    needs_key: bool = False
    can_detect: bool = False  # whether the language of a text can be detected


@final
@dataclass(frozen=True)
class Form:
    """The contents of the translation page's form, for browsers without JavaScript."""

    text: str = ""
    translation: str = ""
    source: str = ""
    target: str = ""
    detected: str = ""  # the source language that was detected, if it was to be


@final
class TranslationPage:
    """The translation page of a server; the HTML around the form's contents is built once."""

    def __init__(self, settings: PageSettings) -> None:
        self.settings = settings
        header = {
            "pairs": [list(pair) for pair in settings.pairs],
            "names": dict(settings.names),
            "models": [settings.models.get(pair, "") for pair in settings.pairs],
            "characters": settings.characters,
            "texts": settings.texts,
            "needsKey": settings.needs_key,
            "sure": 100 * SURE,
            "doubtful": 100 * DOUBTFUL,
        }
        data = [texts_block(read_texts("translation")), json_block("server", header)]
        rest, self.parts = build_page("Translate", PARTS, data), []
        for mark in MARKS:  # a mark cannot occur in the data, which has no `<`
            part, _, rest = rest.partition(mark)
            self.parts.append(part)
        self.parts.append(rest)

    def write(self, form: Form) -> str:
        """Return the translation page as HTML, with the contents of a form filled in."""
        sources = {source: self.name(source) for source, _ in self.settings.pairs}
        targets = {target: self.name(target) for _, target in self.settings.pairs}
        source = form.source or next(iter(sources))
        if self.settings.can_detect:
            found = f"detected: {self.name(form.detected)}" if form.detected else "detect language"
            sources = {AUTO: found, **sources}
        filled = (
            write_options(sources, source),
            write_options(targets, form.target),
            html.escape(form.text),
            html.escape(form.translation),
        )
        both = zip(self.parts[1:], filled, strict=True)
        return self.parts[0] + "".join(text + part for part, text in both)

    def name(self, code: str) -> str:
        """Return the name of a language, or its code if it has no name."""
        return self.settings.names.get(code, code)


def write_options(texts: Mapping[str, str], chosen: str) -> str:
    """Return an HTML option for each (value, text) in `texts`; the value `chosen` is selected."""
    return "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == chosen else ""}>'
        f"{html.escape(text)}</option>"
        for value, text in texts.items()
    )
