"""A unigram tagger: it gives each word its most frequent part-of-speech tag in a treebank.

By default a parser's trees have no tags. `transduce parse` writes the tags of this lexicon, because
EVALB recognises punctuation by its tag.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import final

from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError

SUFFIX_LENGTH = 3  # letters at the end of an unknown word that predict its tag
TAG = re.compile(r"[^() \t\n\v\f\r]+")  # other characters would end a tag or its line
RARE = 2  # a word that occurs at most this often is taken as an example of an unknown word


@final
@dataclass(frozen=True)
class TagLexicon:
    """A part-of-speech tagger with a tag per known word, per word ending, and for other words."""

    words: Mapping[str, str]  # from a known word to its most frequent tag
    endings: Mapping[str, str]  # from an ending to the most frequent tag of rare words with it
    unknown: str  # the most frequent tag of all rare words (or of all words), for unknown endings

    def tag(self, words: Sequence[str]) -> list[str]:
        """Return a tag for each word: the tag of the word, else of its ending, else `unknown`."""
        return [
            self.words.get(word) or self.endings.get(word[-SUFFIX_LENGTH:], self.unknown)
            for word in words
        ]

    def to_bytes(self) -> bytes:
        """Return the lexicon as JSON with a checksum; equal lexicons give equal bytes."""
        content = {"words": self.words, "endings": self.endings, "unknown": self.unknown}
        return to_checksummed_json(content)

    @cached_property
    def hash(self) -> str:
        """Return the sha256 of the lexicon's file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @staticmethod
    def from_bytes(data: bytes, file: Path) -> "TagLexicon":
        """Build a lexicon from the bytes of its file; raise FolderError if they are invalid."""
        match from_checksummed_json(data, file):
            case {"words": dict(words), "endings": dict(endings), "unknown": str(unknown)}:
                tags = [*words.values(), *endings.values(), unknown]
                if all(isinstance(tag, str) and TAG.fullmatch(tag) for tag in tags):
                    return TagLexicon(words, endings, unknown)
        raise FolderError("is no lexicon of tags", "copy the folder again", file=file)


def learn_tag_lexicon(sentences: Iterable[Iterable[tuple[str, str]]]) -> TagLexicon:
    """Learn a tag lexicon from tagged sentences, each a sequence of (word, tag) pairs."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, tag in sentence:
            counts[word][tag] += 1
    rare: Counter[str] = Counter()
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, tags in counts.items():
        if tags.total() <= RARE:
            rare.update(tags)
            endings[word[-SUFFIX_LENGTH:]].update(tags)
    words = {word: find_most_frequent(tags) for word, tags in sorted(counts.items())}
    by_ending = {ending: find_most_frequent(tags) for ending, tags in sorted(endings.items())}
    any_tags = rare or Counter(words.values())
    return TagLexicon(words, by_ending, find_most_frequent(any_tags) if any_tags else "NN")


def find_most_frequent(counts: Counter[str]) -> str:
    """Return the item with the highest count; among equals the first in alphabetical order."""
    return min(counts, key=lambda item: (-counts[item], item))
