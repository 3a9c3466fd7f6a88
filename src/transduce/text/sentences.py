"""Splitting of text into sentences and clauses.

A sentence ends at a space after . ? ! or … (quotes and brackets may follow the mark) when the next
word starts with a capital, a digit or a letter that has no case. No sentence ends at the full stop
of an abbreviation, a single letter ("J. S. Bach", "z. B.") or a number below 100 ("am 3. Mai"). In
doubt, text is not split, because half a sentence costs more quality than two in one part. A clause
ends at a space after , ; : or a dash, but not inside a pair of brackets.

`split_sentences` and `split_clauses` cut a line, normalised by `text.clean.normalise`, that is
longer than a model takes; the parts, joined with single spaces, give the same text again.

`split_text` keeps the text as it is: what is not a sentence (whitespace, invisible characters, list
dashes, numbers without words) keeps its place when the translated sentences are joined. Sentences
of languages for which there are no rules here are found by sentencex, if it is installed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate, chain, pairwise, zip_longest
from operator import add
from typing import final

from transduce.settings.data import UNNAMED
from transduce.text.clean import INVISIBLE

CLOSING = "\"'”’“‘»«)]}"
OPENING = "\"'“‘„‚”’«»([{¿¡–—-"
OPENING_BRACKETS, CLOSING_BRACKETS = "([{（", ")]}）"
CLAUSE_ENDS = (",", ";", ":", "–", "—", "،", "؛")  # a hyphen alone ends a clause, too
# Abbreviations that seldom end a sentence. Not listed are "etc." and "usw.", which often do, and
# "no", "sun" or "max", which are also words.
ENGLISH = """mr mrs ms dr prof rev hon sen rep gov gen capt lt sgt st mt messrs vs viz cf eg ie
    e.g i.e a.m p.m u.s u.k nos vol vols fig figs eq sec ch pp eds dept approx
    jan feb apr jun jul aug sep sept oct nov dec tue thu fri"""
GERMAN = """hr hrn fr frl dipl bzw bspw ca evtl ggf inkl nr sog str tel vgl z.b d.h u.a u.ä s.o s.u
    i.d.r z.t o.ä o.g v.a bd aufl hrsg jh mio mrd allg geb"""
FRENCH = """mm mme mmes mlle mlles mgr av boul chap env réf tél p.ex c.-à-d
    janv févr avr juil déc"""
ABBREVIATIONS = frozenset(f"{ENGLISH} {GERMAN} {FRENCH}".split())


def split_sentences(normalised: str) -> list[str]:
    """Split a normalised text into a list of its sentences."""
    words = normalised.split()
    pairs = zip(words, [*words[1:], ""], strict=False)
    return join_words(words, [can_end_sentence(a) and can_start_sentence(b) for a, b in pairs])


def split_clauses(normalised: str) -> list[str]:
    """Split a normalised sentence after each comma, semicolon, colon or dash outside brackets."""
    words = normalised.split()
    depths = zip(words, bracket_depths(words), strict=True)
    is_last = [
        depth == 0 and (word == "-" or word.rstrip(CLOSING).endswith(CLAUSE_ENDS))
        for word, depth in depths
    ]
    return join_words(words, is_last)


def join_words(words: list[str], is_last: list[bool]) -> list[str]:
    """Join words with spaces into parts (sentences or clauses); `is_last` marks each part's end."""
    ends = [index for index, last in enumerate(is_last, start=1) if last]
    cuts = pairwise([0, *ends, len(words)])
    return [" ".join(words[start:end]) for start, end in cuts if start < end]


def can_end_sentence(word: str) -> bool:
    """Return whether a word ends in . ? ! or … and is no abbreviation, letter or short number."""
    if word[-1:].isalnum():  # true for most words, and saves the time of the other tests
        return False
    core = word.rstrip(CLOSING)
    if not core.endswith("."):
        return core.endswith(("?", "!", "…"))
    core = core[:-1].lstrip(OPENING)
    if core.isdigit():
        return len(core) > 2
    return len(core) != 1 and core.lower() not in ABBREVIATIONS


def can_start_sentence(word: str) -> bool:
    """Return whether a word starts with a digit or with a letter that is not lower-case."""
    first = word.lstrip(OPENING)[:1]
    return first.isdigit() or (first.isalpha() and not first.islower())


def bracket_depths(words: list[str]) -> list[int]:
    """Return for each word how many brackets are open after it, without those never closed."""
    changes, openings = [0] * len(words), list[int]()
    for index, word in enumerate(words):
        for character in word:
            if character in OPENING_BRACKETS:
                openings.append(index)
            elif character in CLOSING_BRACKETS and openings:
                changes[openings.pop()] += 1
                changes[index] -= 1
    return list(accumulate(changes))


# --- Sentences of running text --------------------------------------------------------------------

WORD = re.compile(r"\S+")
BULLETS = "-–—*•·●▪■►▶#>|_~=+"  # a word of these characters does not start a sentence
OUR_LANGUAGES = ("", UNNAMED[0], "en", "de", "fr")  # these have rules here
WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")  # sentencex 1.0 panics at these
LINE_END = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@final
@dataclass(frozen=True)
class SplitText:
    """The sentences of a text, and the strings before, between and after them."""

    sentences: tuple[str, ...]
    between: tuple[str, ...]  # the strings before, between and after the sentences

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with each sentence replaced by its translation.

        Where nothing stood between two sentences, as in Chinese, a space follows a translation that
        ends in ASCII, unless the translation equals the sentence.
        """
        old = zip(self.between[1:-1], self.sentences, translations, strict=False)
        inner = [gap or " " * (new != one and new[-1:].isascii()) for gap, one, new in old]
        gaps = [self.between[0], *inner, *self.between[1:][-1:]]
        return "".join(chain(*zip_longest(gaps, translations, fillvalue="")))

    def list_lines(self) -> list[int]:
        """Return, for each sentence, the number of the line where it begins, from 1."""
        before = (a.count("\n") for a in self.between[:-1])
        inside = (one.count("\n") for one in ("", *self.sentences[:-1]))
        return list(accumulate(map(add, before, inside), initial=1))[1:]


def split_text(text: str, language: str = "", *, at_line_ends: bool = True) -> SplitText:
    """Split a text into its sentences; a line's end also ends a sentence if `at_line_ends`."""
    line_end = LINE_END if at_line_ends else None
    return cut_at_spans(text, find_sentences(text, WORD, line_end, language=language))


def cut_at_spans(text: str, spans: Iterator[tuple[int, int]]) -> SplitText:
    """Cut a text into the sentences at these (start, end) spans and the strings between them."""
    sentences, between, end = list[str](), list[str](), 0
    for start, stop in spans:
        between.append(text[end:start])
        sentences.append(text[start:stop])
        end = stop
    return SplitText(tuple(sentences), (*between, text[end:]))


def find_sentences(
    text: str,
    word: re.Pattern[str] = WORD,
    line_end: re.Pattern[str] | None = None,
    unescape: Callable[[str], str] = str,
    language: str = "",
) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence that has a letter; the pattern `word` matches a word.

    A match of `line_end` between two words ends a sentence, too. `unescape` resolves the escapes
    in a word, such as `Caf&eacute;.`.
    """
    from transduce.text.languages import read_primary_code  # here: few translations need it

    if line_end is not None and not line_end.search(text):
        line_end = None
    code, lengths = read_primary_code(language), [len(text)]
    is_ours = code in OUR_LANGUAGES or find_spec("sentencex") is None
    if not is_ours:
        from sentencex import segment

        lengths = list(map(len, segment(code, WIDE_BLANK.sub(" ", text))))
    for span in pairwise(accumulate(lengths, initial=0)):
        yield from find_sentences_in(text, span, word, line_end, unescape, by_punctuation=is_ours)


def find_sentences_in(
    text: str,
    span: tuple[int, int],
    word: re.Pattern[str],
    line_end: re.Pattern[str] | None,
    unescape: Callable[[str], str],
    *,
    by_punctuation: bool,
) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of a span's sentences; if `by_punctuation`, punctuation also ends one."""
    start, end, before, has_letter = span[0], span[0], "", False
    for match in word.finditer(text, *span):
        here = INVISIBLE.sub("", unescape(match.group())).strip()
        if not here:
            continue
        line_ends = line_end is not None and line_end.search(text, end, match.start())
        if line_ends or (by_punctuation and can_end_sentence(before) and can_start_sentence(here)):
            if has_letter:
                yield start, end
            before, has_letter = "", False
        if not before and not here.strip(BULLETS):
            end = match.end()
            continue
        start = start if before else match.start()
        end, before = match.end(), here
        has_letter = has_letter or any(map(str.isalpha, here))
    if has_letter:
        yield start, end
