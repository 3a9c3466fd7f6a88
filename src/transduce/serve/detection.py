"""Detects the language of a text with py3langid, whose tables are loaded at the first text."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, final

from transduce.serve.refusal import Refusal
from transduce.text.languages import can_detect_languages, rank_languages

MIN_PROBABILITY = 0.05  # a ranking leaves out less probable languages, except the first


@final
@dataclass(frozen=True)
class Detection:
    """A language code, and the probability that a text is in this language."""

    language: str
    probability: float

    def as_json(self) -> dict[str, Any]:
        """Return language and confidence (in percent) as LibreTranslate's JSON object."""
        return {"language": self.language, "confidence": round(100 * self.probability, 1)}


@final
class LanguageDetector:
    """Detects languages by py3langid, one text at a time, in a thread beside the event loop."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    @property
    def is_available(self) -> bool:
        """Whether py3langid is installed."""
        return can_detect_languages()

    async def rank(self, text: str) -> list[Detection]:
        """Return the languages that a text may be in, most probable first; at least one."""
        found = await self.rank_all(text)
        return [one for one in found if one.probability >= MIN_PROBABILITY] or found[:1]

    async def rank_codes(self, text: str, codes: Iterable[str]) -> list[Detection]:
        """Return all languages of `codes`, most probable first; unknown ones have probability 0."""
        known = {one.language: one.probability for one in await self.rank_all(text)}
        both = [Detection(code, known.get(code.partition("-")[0], 0.0)) for code in codes]
        return sorted(both, key=lambda one: one.probability, reverse=True)

    async def rank_all(self, text: str) -> list[Detection]:
        """Return every language that py3langid knows, most probable first; refuse without it."""
        if not self.is_available:
            fact = "languages are not detected here: py3langid is not installed"
            raise Refusal(HTTPStatus.NOT_IMPLEMENTED, fact)
        async with self.lock:  # the tables, 78 MB, must be loaded only once
            ranked = await asyncio.to_thread(rank_languages, text)
        return [Detection(code, probability) for code, probability in ranked]
