"""Long text into sentences, for input that is longer than a model takes.

A sentence ends at a blank after . ? ! or … (quotes and brackets may follow the mark) when the next
word starts with a capital, a digit or a letter that has no case. A full stop does not end it after
an abbreviation, a single letter ("J. S. Bach", "z. B.") or a number below 100 ("am 3. Mai"). Where
it is in doubt it does not split: one sentence more in a piece costs little, half a sentence a lot.
"""

import itertools

from transduce.text.clean import normalise

CLOSING = "\"'”’“‘»«)]}"
OPENING = "\"'“‘„‚”’«»([{¿¡–—-"
# only such as seldom end a sentence: "etc.", "usw." and words like "no", "sun", "max" are not here
ENGLISH = """mr mrs ms dr prof rev hon sen rep gov gen capt lt sgt st mt messrs vs viz cf eg ie
    e.g i.e a.m p.m u.s u.k nos vol vols fig figs eq sec ch pp eds dept approx
    jan feb apr jun jul aug sep sept oct nov dec tue thu fri"""
GERMAN = """hr hrn fr frl dipl bzw bspw ca evtl ggf inkl nr sog str tel vgl z.b d.h u.a u.ä s.o s.u
    i.d.r z.t o.ä o.g v.a bd aufl hrsg jh mio mrd allg geb"""
FRENCH = """mm mme mmes mlle mlles mgr av boul chap env réf tél p.ex c.-à-d
    janv févr avr juil déc"""
ABBREVIATIONS = frozenset(f"{ENGLISH} {GERMAN} {FRENCH}".split())


def split(text: str) -> list[str]:
    """The sentences of a text, regular; joined with blanks they are `normalise(text)`."""
    words = normalise(text).split()
    sentences, sentence = [], []
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        sentence.append(word)
        if not following or (ends(word) and starts(following)):
            sentences.append(" ".join(sentence))
            sentence = []
    return sentences


def ends(word: str) -> bool:
    """Whether a sentence may end with this word."""
    core = word.rstrip(CLOSING)
    if not core.endswith("."):
        return core.endswith(("?", "!", "…"))
    core = core[:-1].lstrip(OPENING)
    if core.isdigit():
        return len(core) > 2
    return len(core) != 1 and core.lower() not in ABBREVIATIONS


def starts(word: str) -> bool:
    """Whether a sentence may start with this word."""
    first = word.lstrip(OPENING)[:1]
    return first.isdigit() or (first.isalpha() and not first.islower())
