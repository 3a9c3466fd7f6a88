"""The public corpora that `transduce fetch` can download, and how they are found by name.

The parallel corpora are WMT's training data and test sets, and small ones to train on in minutes.
The treebanks are CRAFT, annotated by hand, and GUM, with automatically parsed trees. Tables beside
this module describe them:

    corpora.tsv    name and languages, corpora used as its dev and test sets, licence, description
    splits.tsv     pair filter, sha256 of both texts, line count (0 means the sum over its parts)
    parts.tsv      the parts of splits in their order, with the file and reader of both texts
    treebanks.tsv  name, repository, commit, folder and ending of the files, licence, description
    craft.tsv      CRAFT's documents, each with split, trees, size, sha256 and licence
    gum.tsv        GUM's documents
    downloads.tsv  size, checksums and addresses of each file; 0 or nothing if they are not known

A part with two rows in parts.tsv has the same text in two places, and the first row is tried first.
Each archive of the training data (section 5.1) is on WMT's own site and, repackaged, on a second
site. For the United Nations corpus the second site is tried first, because no hash is known of
WMT's archive.
The texts of newstest2013 and newstest2014, the paper's development and test sets, are downloaded
from a fixed commit of a public repository, with known hashes, else from WMT's archives, with the
md5 that sacreBLEU lists. Tatoeba's first archive is in a public repository and never changes. The
second one, the publisher's own, is updated from time to time; an update changes the splits.

Treebanks have their publishers' splits: CRAFT's lists of articles (articles/ids), and GUM's
splits.md, where test2 is the out-of-domain corpus GENTLE. GUM's reddit documents are left out,
because GUM's files have underscores in place of their words.
"""

from collections import defaultdict

from transduce.datasets import mtdata
from transduce.datasets.readers import (
    read_bracketed_trees,
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    read_sgml_segments,
    select_pairs,
    split_by_hash,
)
from transduce.datasets.values import (
    Corpus,
    Download,
    LineReader,
    PairFilter,
    Part,
    Split,
    Text,
    Texts,
    read_table,
    strip_newlines,
)
from transduce.errors import InputError, short_repr, suggest_names
from transduce.settings.fields import require

# suffixes of tagging corpora made from a treebank: part-of-speech tags, base noun phrases
TREEBANK_TAGS = ("pos", "chunks")
DOWNLOADS = {
    name: Download(tuple(addresses.split()), int(size), sha256, md5)
    for name, size, sha256, md5, addresses in read_table("downloads.tsv")
}
READERS: dict[str, tuple[LineReader, LineReader]] = {  # (source, target) by name in parts.tsv
    "": (strip_newlines, strip_newlines),
    "sgml": (read_sgml_segments, read_sgml_segments),
    "iwslt": (read_iwslt_segments, read_iwslt_segments),
    "iwslt training": (read_iwslt_training, read_iwslt_training),
    "columns": (read_column(0), read_column(1)),
}
EACH = 23  # every 23rd pair is in the development set of IWSLT, as in published results
# Line ranges (first and last line, from 1) of newstest2014 en-de that WMT's evaluation left out.
FILTERED_OUT = (
    *((162, 168), (582, 611), (630, 648), (744, 785), (866, 883), (970, 978)),
    *((1001, 1010), (1101, 1108), (1226, 1246), (1436, 1455), (1554, 1568), (2231, 2297)),
)
FILTERS: dict[str, PairFilter] = {
    "": iter,
    "evaluated": select_pairs(lambda n: not any(a <= n <= b for a, b in FILTERED_OUT)),
    "23rd": select_pairs(lambda n: n % EACH == 0),
    "no 23rd": select_pairs(lambda n: n % EACH != 0),
    **{f"hash {split}": split_by_hash(split) for split in ("train", "dev", "test")},
}


def read_parts() -> dict[str, list[Part]]:
    """Read parts.tsv; return {split: its parts}, with keys such as "multi30k en-de dev"."""
    ways = defaultdict[tuple[str, str, str], list[Texts]](list)
    for splits, name, one, in_one, other, in_other, reader, lines in read_table("parts.tsv"):
        read_one, read_other = READERS[reader]
        source = Text(DOWNLOADS[one], in_one, read_one)
        target = Text(DOWNLOADS[other], in_other, read_other)
        ways[splits, name, lines].append((source, target))
    found = defaultdict[str, list[Part]](list)
    for (splits, name, lines), pairs in ways.items():
        part = Part(name, tuple(pairs), int(lines))
        for split in splits.split(","):
            found[split].append(part)
    return found


def read_corpora() -> tuple[Corpus, ...]:
    """Read corpora.tsv and splits.tsv; return all corpora with their splits."""
    parts, splits = read_parts(), defaultdict[str, list[Split]](list)
    for corpus, name, pair_filter, source, target, lines in read_table("splits.tsv"):
        own = tuple(parts[f"{corpus} {name}"])
        split = Split(name, own, int(lines), FILTERS[pair_filter], (source, target))
        splits[corpus].append(split)
    found = []
    for corpus, elsewhere, licence, about in read_table("corpora.tsv"):
        name, languages = corpus.split()
        source, target = languages.split("-")
        others = [one.partition("=") for one in elsewhere.split()]
        other_splits = tuple((split, other) for split, _, other in others)
        own_splits = tuple(splits[corpus])
        found.append(Corpus(name, (source, target), about, licence, own_splits, other_splits))
    return tuple(found)


def read_treebanks() -> tuple[Corpus, ...]:
    """Read treebanks.tsv, and a table of documents for each treebank; return all treebanks."""
    found = []
    for name, repository, commit, folder, ending, licence, about in read_table("treebanks.tsv"):
        documents = defaultdict[str, list[Part]](list)
        for split, document, trees, size, sha256, own_licence in read_table(f"{name}.tsv"):
            path = f"{commit}/{folder}/{document}{ending}"
            addresses = (
                f"https://raw.githubusercontent.com/{repository}/{path}",
                f"https://github.com/{repository}/raw/{path}",
            )
            text = Text(Download(addresses, int(size), sha256), reader=read_bracketed_trees)
            documents[split].append(Part(document, ((text,),), int(trees), own_licence))
        source = f"https://github.com/{repository}/tree/{commit}/{folder}"
        splits = tuple(Split(split, tuple(parts)) for split, parts in documents.items())
        found.append(Corpus(name, ("en",), about, licence, splits, source=source))
    return tuple(found)


CORPORA = read_corpora()
TREEBANKS = read_treebanks()


def list_public() -> tuple[Corpus, ...]:
    """Return all public corpora: parallel corpora first, then treebanks."""
    return (*CORPORA, *TREEBANKS)


def find_corpora(name: str) -> tuple[Corpus, ...]:
    """Return the corpora of this name, one for each language pair; raise InputError if unknown.

    A well-formed name that begins with mtdata/ gives a corpus without splits, even if mtdata's
    index lacks it.
    """
    require(isinstance(name, str), f"a corpus' name must be text, not {short_repr(name)}")
    if name.startswith(mtdata.PREFIX):
        return (mtdata.parse_corpus_name(name),)
    found = tuple(corpus for corpus in list_public() if corpus.name == name)
    if not found:
        known = {one.name for one in list_public()}
        raise InputError(f"unknown corpus {short_repr(name)}", suggest_names(name, known))
    return found


def is_public(name: str) -> bool:
    """Return whether a name is in the catalogue of public corpora, or begins with mtdata/."""
    return name.startswith(mtdata.PREFIX) or name in {corpus.name for corpus in list_public()}


def is_treebank(name: str) -> bool:
    """Return whether a name means a public treebank (gum) or its tagging corpus (gum-pos)."""
    treebank, _ = split_treebank_name(name)
    return treebank in {one.name for one in TREEBANKS}


def split_treebank_name(name: str) -> tuple[str, str]:
    """Split a name into treebank and suffix: gum-pos into ("gum", "pos"), gum into ("gum", "")."""
    treebank, _, form = name.partition("-")
    return (treebank, form) if form in TREEBANK_TAGS else (name, "")


def find_corpus(name: str, languages: tuple[str, ...]) -> Corpus:
    """Return the corpus of this name in these languages, in any order; else raise InputError."""
    found = find_corpora(name)
    for corpus in found:
        if sorted(corpus.languages) == sorted(languages):
            return corpus
    have = " and ".join("-".join(corpus.languages) for corpus in found)
    kind = " trees" if is_treebank(name) else ""
    raise InputError(f"{name} is {have}{kind}, not {'-'.join(languages)}", "name another corpus")


def list_split_corpora(corpus: Corpus) -> tuple[Corpus, ...]:
    """Return a corpus and the other corpora that serve as its dev and test sets, if any."""
    others = (find_corpus(name, corpus.languages) for _, name in corpus.other_splits)
    return (corpus, *others)
