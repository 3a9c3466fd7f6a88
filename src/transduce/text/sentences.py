"""Long text into sentences, and long sentences into clauses, for input longer than a model takes.

A sentence ends at a blank after . ? ! or … (quotes and brackets may follow the mark) when the next
word starts with a capital, a digit or a letter that has no case. A full stop does not end it after
an abbreviation, a single letter ("J. S. Bach", "z. B.") or a number below 100 ("am 3. Mai"). Where
it is in doubt it does not split: two sentences in one part cost little, half a sentence a lot.

A clause ends at a blank after , ; : or a dash, but not inside brackets that are closed.

All functions take text that `text.clean.normalise` has made regular, and give parts that are the
text again when they are joined with single blanks.
"""

import itertools

CLOSING = "\"'”’“‘»«)]}"
OPENING = "\"'“‘„‚”’«»([{¿¡–—-"
OPENING_BRACKETS, CLOSING_BRACKETS = "([{（", ")]}）"
CLAUSE_ENDS = (",", ";", ":", "–", "—", "،", "؛")  # a hyphen only where it stands alone
# only such as seldom end a sentence: "etc.", "usw." and words like "no", "sun", "max" are not here
ENGLISH = """mr mrs ms dr prof rev hon sen rep gov gen capt lt sgt st mt messrs vs viz cf eg ie
    e.g i.e a.m p.m u.s u.k nos vol vols fig figs eq sec ch pp eds dept approx
    jan feb apr jun jul aug sep sept oct nov dec tue thu fri"""
GERMAN = """hr hrn fr frl dipl bzw bspw ca evtl ggf inkl nr sog str tel vgl z.b d.h u.a u.ä s.o s.u
    i.d.r z.t o.ä o.g v.a bd aufl hrsg jh mio mrd allg geb"""
FRENCH = """mm mme mmes mlle mlles mgr av boul chap env réf tél p.ex c.-à-d
    janv févr avr juil déc"""
ABBREVIATIONS = frozenset(f"{ENGLISH} {GERMAN} {FRENCH}".split())


def split_sentences(normalised: str) -> list[str]:
    """Split a normalised text into its sentences."""
    words = normalised.split()
    pairs = zip(words, [*words[1:], ""], strict=False)
    return join_words(words, [can_end_sentence(a) and can_start_sentence(b) for a, b in pairs])


def split_clauses(normalised: str) -> list[str]:
    """Split a normalised sentence after commas, semicolons, colons and dashes outside brackets."""
    words = normalised.split()
    depths = zip(words, bracket_depths(words), strict=True)
    return join_words(words, [can_end_clause(word) and depth == 0 for word, depth in depths])


def join_words(words: list[str], is_last: list[bool]) -> list[str]:
    """Join words with blanks into parts, given which words are the last of their part."""
    parts, part = list[str](), list[str]()
    for word, last in zip(words, is_last, strict=True):
        part.append(word)
        if last:
            parts.append(" ".join(part))
            part = []
    return [*parts, " ".join(part)] if part else parts


def can_end_sentence(word: str) -> bool:
    """Return whether a sentence may end with this word."""
    core = word.rstrip(CLOSING)
    if not core.endswith("."):
        return core.endswith(("?", "!", "…"))
    core = core[:-1].lstrip(OPENING)
    if core.isdigit():
        return len(core) > 2
    return len(core) != 1 and core.lower() not in ABBREVIATIONS


def can_start_sentence(word: str) -> bool:
    """Return whether a sentence may start with this word."""
    first = word.lstrip(OPENING)[:1]
    return first.isdigit() or (first.isalpha() and not first.islower())


def can_end_clause(word: str) -> bool:
    """Return whether a clause may end with this word: a comma, semicolon, colon or dash ends it."""
    return word == "-" or word.rstrip(CLOSING).endswith(CLAUSE_ENDS)


def bracket_depths(words: list[str]) -> list[int]:
    """Return, for each word, how many brackets are open after it that a later word closes."""
    changes, openings = [0] * len(words), list[int]()
    for index, word in enumerate(words):
        for character in word:
            if character in OPENING_BRACKETS:
                openings.append(index)
            elif character in CLOSING_BRACKETS and openings:
                changes[openings.pop()] += 1
                changes[index] -= 1
    return list(itertools.accumulate(changes))
