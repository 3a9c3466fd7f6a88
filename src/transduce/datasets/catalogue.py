"""The public corpora that `transduce fetch` can download, by name."""

from transduce.datasets import mtdata
from transduce.datasets.news import NEWS
from transduce.datasets.small import SMALL
from transduce.datasets.values import Corpus
from transduce.datasets.wmt14 import WMT14
from transduce.errors import InputError, suggest_names

CORPORA: tuple[Corpus, ...] = (*WMT14, *NEWS, *SMALL)


def find_corpora(name: str) -> tuple[Corpus, ...]:
    """Return the corpora with a name, one for each language pair; raise InputError if unknown."""
    if name.startswith(mtdata.PREFIX):
        return (mtdata.parse_corpus_name(name),)
    found = tuple(corpus for corpus in CORPORA if corpus.name == name)
    if not found:
        raise InputError(
            f"unknown corpus {name!r}", suggest_names(name, {one.name for one in CORPORA})
        )
    return found


def is_public(name: str) -> bool:
    """Return whether a name is that of a corpus which `transduce fetch` can download."""
    return name.startswith(mtdata.PREFIX) or name in {corpus.name for corpus in CORPORA}


def resolve_texts(corpus: Corpus) -> Corpus:
    """Return a corpus with its splits; those of an mtdata corpus are read from mtdata's index."""
    return mtdata.resolve_index_texts(corpus) if corpus.name.startswith(mtdata.PREFIX) else corpus


def find_corpus(name: str, languages: tuple[str, str]) -> Corpus:
    """Return the corpus with a name for two languages in either order; else raise InputError."""
    found = find_corpora(name)
    for corpus in found:
        if set(corpus.languages) == set(languages):
            return corpus
    have = " and ".join("-".join(corpus.languages) for corpus in found)
    raise InputError(f"{name} is {have}, not {'-'.join(languages)}", "name another corpus")


def list_split_corpora(corpus: Corpus) -> tuple[Corpus, ...]:
    """Return a tuple of a corpus and the separate corpora that are its other splits (dev, test)."""
    others = (find_corpus(name, corpus.languages) for _, name in corpus.other_splits)
    return (corpus, *others)
