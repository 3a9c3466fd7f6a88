"""Ranks the languages that a text may be in; the tables for it are loaded at the first text."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

OTHER_CODES = {"no": "nb"}  # where py3langid's code is not the usual one
MIN_PROBABILITY = 0.01  # of a language other than the first, to be named in a ranking


@final
@dataclass(frozen=True)
class Detection:
    """A language, and the probability that a text is in it, among all languages known."""

    language: str
    probability: float

    def as_json(self) -> dict[str, Any]:
        """Return the shape of LibreTranslate, whose confidence is in percent."""
        return {"language": self.language, "confidence": round(100 * self.probability, 1)}


@final
class LanguageDetector:
    """Detects languages by py3langid, in another thread than the event loop, a text at a time."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def rank(self, text: str) -> list[Detection]:
        """Return the languages that a text may be in, most probable first; always one at least."""
        found = await self.rank_all(text)
        return [one for one in found if one.probability >= MIN_PROBABILITY] or found[:1]

    async def choose(self, text: str, codes: Iterable[str]) -> Detection:
        """Return the most probable of some languages; the first one if none is known."""
        known = {one.language: one.probability for one in await self.rank_all(text)}
        both = [Detection(code, known.get(code.partition("-")[0], 0.0)) for code in codes]
        return max(both, key=lambda one: one.probability)

    async def rank_all(self, text: str) -> list[Detection]:
        """Return all languages known, most probable first."""
        async with self.lock:  # so that the tables, of 78 MB, are loaded once
            return await asyncio.to_thread(rank_languages, text)


def rank_languages(text: str) -> list[Detection]:
    """Return all languages known, the most probable first."""
    ranked = load_identifier().rank(text)
    return [Detection(OTHER_CODES.get(code, code), probability) for code, probability in ranked]


@cache
def load_identifier() -> Any:  # noqa: ANN401 - py3langid has no types
    """Load py3langid's tables, once."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
