"""The public corpora that `transduce fetch` can download, by name."""

from transduce.datasets import mtdata
from transduce.datasets.corpora import CORPORA
from transduce.datasets.treebanks import TREEBANKS, Treebank
from transduce.datasets.values import Corpus
from transduce.errors import InputError, short_repr, suggest_names
from transduce.settings.fields import require

# suffixes of tagging corpora made from a treebank: part-of-speech tags, base noun phrases
TREEBANK_TAGS = ("pos", "chunks")


def list_public() -> tuple[Corpus | Treebank, ...]:
    """Return all public corpora: parallel corpora first, then treebanks."""
    return (*CORPORA, *TREEBANKS)


def find_corpora(name: str) -> tuple[Corpus | Treebank, ...]:
    """Return the corpora of this name, one for each language pair; raise InputError if unknown."""
    require(isinstance(name, str), f"a corpus' name must be text, not {short_repr(name)}")
    if name.startswith(mtdata.PREFIX):
        return (mtdata.parse_corpus_name(name),)
    found = tuple(corpus for corpus in list_public() if corpus.name == name)
    if not found:
        known = {one.name for one in list_public()}
        raise InputError(f"unknown corpus {short_repr(name)}", suggest_names(name, known))
    return found


def is_public(name: str) -> bool:
    """Return whether `transduce fetch` can download a corpus of this name."""
    return name.startswith(mtdata.PREFIX) or name in {corpus.name for corpus in list_public()}


def is_treebank(name: str) -> bool:
    """Return whether a name means a public treebank (gum) or its tagging corpus (gum-pos)."""
    treebank, _ = split_treebank_name(name)
    return treebank in {one.name for one in TREEBANKS}


def split_treebank_name(name: str) -> tuple[str, str]:
    """Split a name into treebank and suffix: gum-pos into ("gum", "pos"), gum into ("gum", "")."""
    treebank, _, form = name.partition("-")
    return (treebank, form) if form in TREEBANK_TAGS else (name, "")


def find_corpus(name: str, languages: tuple[str, str]) -> Corpus:
    """Return the corpus of this name in two languages, in either order; else raise InputError."""
    found = find_corpora(name)
    for corpus in found:
        if isinstance(corpus, Corpus) and set(corpus.languages) == set(languages):
            return corpus
    have = " and ".join("-".join(corpus.languages) for corpus in found)
    kind = " trees" if is_treebank(name) else ""
    raise InputError(f"{name} is {have}{kind}, not {'-'.join(languages)}", "name another corpus")


def find_treebank(name: str) -> Treebank:
    """Return the public treebank of this name; raise InputError if the name is unknown."""
    for corpus in find_corpora(name):
        if isinstance(corpus, Treebank):
            return corpus
    known = ", ".join(treebank.name for treebank in TREEBANKS)
    raise InputError(f"{name} is no treebank", f"known: {known}")


def list_split_corpora(corpus: Corpus | Treebank) -> tuple[Corpus | Treebank, ...]:
    """Return a corpus and the other corpora that serve as its dev and test sets, if any."""
    if isinstance(corpus, Treebank):
        return (corpus,)
    others = (find_corpus(name, corpus.languages) for _, name in corpus.other_splits)
    return (corpus, *others)
