"""What the server and its search processes tell each other: picklable values, and no others."""

from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(frozen=True)
class Sentence:
    """A sentence to translate: its number, text, how many outputs, and what else is wanted."""

    number: int
    text: str = field(repr=False)
    n: int = 1
    prefix: str | None = field(default=None, repr=False)  # forced beginning of the outputs
    is_detailed: bool = False  # whether pieces, their log-probabilities and links are wanted


@final
@dataclass(frozen=True)
class AttentionRequest:
    """A request for the attention page of a text and its translation."""

    number: int
    text: str = field(repr=False)


@final
@dataclass(frozen=True)
class Cancel:
    """The numbers of sentences whose results are no longer wanted."""

    numbers: frozenset[int]


@final
@dataclass(frozen=True)
class Ready:
    """The facts of a model that was loaded and verified, and now translates."""

    name: str
    source: str
    target: str
    hash: str  # sha256 of the model's manifest
    beam: int
    capacity: int  # sentences searched at once


@final
@dataclass(frozen=True)
class Unloadable:
    """Why a model could not be loaded: a sentence and a hint."""

    fact: str
    hint: str


@final
@dataclass(frozen=True)
class Found:
    """The outputs of a sentence, best first, as (text, score, log P), and what else was wanted."""

    number: int
    outputs: tuple[tuple[str, float, float], ...] = field(repr=False)
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] | None = field(default=None, repr=False)


@final
@dataclass(frozen=True)
class Page:
    """The attention page of a text."""

    number: int
    html: str = field(repr=False)


@final
@dataclass(frozen=True)
class Failed:
    """A sentence that could not be translated, and why; the reason holds nothing of the text."""

    number: int
    fact: str
    is_ours: bool = True  # a fault of the server, not of the request


Order = Sentence | AttentionRequest | Cancel
Answer = Ready | Unloadable | Found | Page | Failed
