"""All corpora by their names: a look-up, no registry."""

from transduce.datasets import mtdata
from transduce.datasets.news import NEWS
from transduce.datasets.small import SMALL
from transduce.datasets.values import Corpus
from transduce.datasets.wmt14 import WMT14
from transduce.errors import InputError, suggest_names

CORPORA: tuple[Corpus, ...] = (*WMT14, *NEWS, *SMALL)


def named(name: str) -> tuple[Corpus, ...]:
    """The corpora of a name, one for each pair of languages, or a hint at the nearest names."""
    if name.startswith(mtdata.PREFIX):
        return (mtdata.outline(name),)
    found = tuple(corpus for corpus in CORPORA if corpus.name == name)
    if not found:
        raise InputError(
            f"unknown corpus {name!r}", suggest_names(name, {one.name for one in CORPORA})
        )
    return found


def is_public(name: str) -> bool:
    """Whether `fetch` knows where to look for it."""
    return name.startswith(mtdata.PREFIX) or name in {corpus.name for corpus in CORPORA}


def with_texts(corpus: Corpus) -> Corpus:
    """What is needed to fetch it: a corpus of mtdata's index is looked up there."""
    return mtdata.looked_up(corpus) if corpus.name.startswith(mtdata.PREFIX) else corpus


def of_languages(name: str, languages: tuple[str, str]) -> Corpus:
    """The one of these languages; a parallel text can be read in both directions."""
    found = named(name)
    for corpus in found:
        if set(corpus.languages) == set(languages):
            return corpus
    have = " and ".join("-".join(corpus.languages) for corpus in found)
    raise InputError(f"{name} is {have}, not {'-'.join(languages)}", "name another corpus")


def with_elsewhere(corpus: Corpus) -> tuple[Corpus, ...]:
    """A corpus and those that hold its other splits."""
    others = (of_languages(name, corpus.languages) for _, name in corpus.elsewhere)
    return (corpus, *others)
