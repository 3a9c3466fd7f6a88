"""Readers that extract text from a file's lines, and filters that select a split's pairs."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.etree import ElementTree as Xml

from transduce.datasets.languages import shorten_code
from transduce.datasets.values import LineReader, Lines, PairFilter, WrongFileError
from transduce.errors import InputError
from transduce.text.pair_files import LANGUAGE, join_text, parse_units
from transduce.text.xml import unescape_references

# (?>…) tries only a line's first tag; trying every later one could take quadratic time
SEGMENT = re.compile(rb"(?>.*?<seg[^<>]*>)(.*?)</seg>", re.IGNORECASE)
TITLE_OR_DESCRIPTION = re.compile(rb"(?>.*?<(title|description)>)(.*?)</\1>")
HELD_OUT = 2_000  # sentences in each of Tatoeba's development and test sets


def read_sgml_segments(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the text of each line's first `<seg>`, if any, as sacreBLEU reads WMT's SGML."""
    for line in lines:
        found = SEGMENT.match(line)
        if found:
            yield b" ".join(found[1].split())


def read_iwslt_segments(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the text of each line's first `<seg>`, if any, with IWSLT's XML entities resolved."""
    for line in read_sgml_segments(lines):
        yield unescape_references(line.decode()).encode()


def read_iwslt_training(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield an IWSLT training file's untagged lines, and the texts of titles and descriptions."""
    for line in lines:
        found = TITLE_OR_DESCRIPTION.match(line)
        if found or not line.lstrip().startswith(b"<"):
            yield (found[2] if found else line).strip()


def read_column(index: int) -> LineReader:
    """Return a reader of tab-separated column `index`, from 0; InputError if a line lacks it."""

    def read(lines: Iterator[bytes]) -> Iterator[bytes]:
        for count, line in enumerate(lines, start=1):
            columns = line.removesuffix(b"\n").removesuffix(b"\r").split(b"\t")
            if len(columns) <= index:
                raise InputError(f"line {count} has no column {index + 1}", "is it the right file?")
            yield columns[index]

    return read


def read_bracketed_trees(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield each bracketed tree as one line with single spaces; InputError if the last has no end.

    A tree must begin on a new line.
    """
    parts, depth = list[bytes](), 0
    for line in lines:
        parts += line.split()
        depth += line.count(b"(") - line.count(b")")
        if parts and depth == 0:
            yield b" ".join(parts)
            parts = []
    if parts:
        raise InputError("the last tree has no end", "is it the right file?")


def read_tmx(languages: Sequence[str], side: int) -> LineReader:
    """Return a reader of TMX texts in `languages[side]`, from units that have both languages.

    It raises WrongFileError if there is no such unit.
    """
    wanted = [language.partition("_")[0] for language in languages]

    def read(lines: Iterator[bytes]) -> Iterator[bytes]:
        found = False
        for unit, _ in parse_units(lines, {"tu"}, "the TMX file"):
            texts = {variant_language(one): join_text(one.find("seg")) for one in unit.iter("tuv")}
            if all(texts.get(language) for language in wanted):
                found = True
                yield texts[wanted[side]].encode()
        if not found:
            fact = f"no unit of it is in {wanted[0]} and in {wanted[1]}"
            hint = "its languages may go by other names in it: name another corpus"
            raise WrongFileError(fact, hint)

    return read


def variant_language(variant: Xml.Element) -> str:
    """Return a TMX variant's (<tuv>) language: de for DE-AT and for deu; "" if it has none."""
    code = variant.get(LANGUAGE) or variant.get("lang") or ""
    return shorten_code(code.replace("_", "-").partition("-")[0].lower())


def select_pairs(is_kept: Callable[[int], bool]) -> PairFilter:
    """Build a filter that keeps the pairs whose line number, from 1, `is_kept` accepts."""
    return lambda pairs: (pair for line, pair in enumerate(pairs, start=1) if is_kept(line))


def split_by_hash(split: str) -> PairFilter:
    """Build the filter that keeps a corpus's train, dev or test pairs, chosen by text hashes.

    The distinct source sentences are sorted by the sha256 of their text. The first 2,000 are the
    test set, the next 2,000 the development set, each with the translation of smallest sha256.
    All other pairs whose target translates none of these 4,000 sentences are the training set.
    """

    def take(pairs: Iterable[Lines]) -> Iterator[Lines]:
        translations: dict[bytes, set[bytes]] = defaultdict(set)
        for source, target in pairs:
            translations[normalise_line(source)].add(normalise_line(target))
        order = sorted(translations, key=hash_text)
        held = {"test": order[:HELD_OUT], "dev": order[HELD_OUT : 2 * HELD_OUT]}
        if split in held:
            return ((one, min(translations[one], key=hash_text)) for one in held[split])
        seen = set().union(*(translations[one] for one in order[: 2 * HELD_OUT]))
        rest = ((s, t) for s in order[2 * HELD_OUT :] for t in translations[s] if t not in seen)
        return iter(sorted(rest, key=lambda pair: hash_text(b"\t".join(pair))))

    return take


def normalise_line(line: bytes) -> bytes:
    """Return a line in Unicode form NFC with single spaces between words."""
    return " ".join(unicodedata.normalize("NFC", line.decode()).split()).encode()


def hash_text(text: bytes) -> bytes:
    """Return the sha256 of a text; sorting by sha256 gives a reproducible pseudo-random order."""
    return hashlib.sha256(text).digest()
