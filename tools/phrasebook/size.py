"""A lower bound on the number of sentences that the phrasebook can generate."""

from tools.phrasebook.adjectives import adjectives_for
from tools.phrasebook.nouns import nouns_of
from tools.phrasebook.times import MONTHS
from tools.phrasebook.verbs import DOING


def at_least() -> int:
    """Return a lower bound on the number of different English sentences.

    Only sentences of one pattern are counted, with one article and in the present: "The tired
    teacher repairs the old bicycle on the third of May." All other sentences are left out.
    """
    people = nouns_of("man woman boy girl child neighbour student teacher doctor guest")
    subjects = sum(len(adjectives_for(person)) for person in people)
    deeds = sum(
        len(adjectives_for(thing))
        for verb in DOING
        for thing in nouns_of(verb.what)
        if thing.english and "person" not in thing.kinds and "owned" not in thing.kinds
    )
    days = sum(length for _, _, length in MONTHS)
    return subjects * deeds * days
