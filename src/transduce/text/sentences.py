"""Splitting of text into sentences and clauses, for input that is longer than a model takes.

A sentence ends at a space after . ? ! or … (quotes and brackets may follow the mark) when the next
word starts with a capital, a digit or a letter that has no case. No sentence ends at the full stop
of an abbreviation, a single letter ("J. S. Bach", "z. B.") or a number below 100 ("am 3. Mai"). In
doubt, text is not split, because half a sentence costs more quality than two in one part.

A clause ends at a space after , ; : or a dash, but not inside a pair of brackets.

The text must be normalised by `text.clean.normalise`. Its sentences or clauses, joined with single
spaces, give the same text again.
"""

import itertools

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
    parts, part = list[str](), list[str]()
    for word, last in zip(words, is_last, strict=True):
        part.append(word)
        if last:
            parts.append(" ".join(part))
            part = []
    return [*parts, " ".join(part)] if part else parts


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
    return list(itertools.accumulate(changes))
