"""Picklable messages: orders from the server to its search processes, and their answers."""

from dataclasses import dataclass, field
from typing import final

from transduce.errors import TransduceError
from transduce.serve.interface import Details


@final
@dataclass(frozen=True)
class TranslationOrder:
    """An order to translate a sentence."""

    id: int
    text: str = field(repr=False)
    n: int = 1  # number of outputs
    prefix: str | None = field(default=None, repr=False)  # text that every output must begin with
    is_detailed: bool = False  # whether pieces, their log-probabilities and links are wanted


@final
@dataclass(frozen=True)
class AttentionRequest:
    """An order for the attention page of a text and its translation, within `most` bytes."""

    id: int
    text: str = field(repr=False)
    most: int  # bytes of memory that the page may need


@final
@dataclass(frozen=True)
class Cancel:
    """An order to stop work on sentences, given by their ids."""

    ids: frozenset[int]


@final
@dataclass(frozen=True)
class Ping:
    """An order to answer `Alive` before the next step of a search."""


@final
@dataclass(frozen=True)
class Alive:
    """The answer to `Ping`."""


@final
@dataclass(frozen=True)
class Ready:
    """The message that a process has loaded a model: name, languages, hash, beam and capacity."""

    name: str
    source: str
    target: str
    hash: str  # sha256 of the model's manifest
    beam: int  # the search's width
    capacity: int  # number of sentences searched at once


@final
@dataclass(frozen=True)
class LoadFailure:
    """The answer of a process that could not load its model: the reason, and a hint to users."""

    kind: type[TransduceError]
    fact: str
    hint: str


@final
@dataclass(frozen=True)
class SentenceOutputs:
    """A sentence's outputs, best first, its warnings, and the best one's details and lost URLs."""

    id: int
    outputs: tuple[tuple[str, float, float], ...] = field(repr=False)  # (text, score, log P)
    warnings: tuple[str, ...] = ()
    # pieces, log-probabilities and word links, if they were asked for
    details: Details | None = field(default=None, repr=False)
    # placeholders, URLs, addresses and numbers of the sentence that its best output lacks
    lost: tuple[str, ...] = field(default=(), repr=False)


@final
@dataclass(frozen=True)
class Page:
    """The answer to `AttentionRequest`: the attention page as HTML."""

    id: int
    html: str = field(repr=False)


@final
@dataclass(frozen=True)
class Failed:
    """The answer that a sentence could not be translated; the reason quotes none of its text."""

    id: int
    fact: str
    is_server_fault: bool = True  # a fault of the server, not of the request


Order = TranslationOrder | AttentionRequest | Cancel | Ping
Answer = Ready | LoadFailure | Alive | SentenceOutputs | Page | Failed
