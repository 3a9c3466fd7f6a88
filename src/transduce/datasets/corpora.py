"""The parallel corpora: WMT's training data and test sets, and small ones to train on in minutes.

Tables beside this module describe them:

    corpora.tsv    name and languages, splits that other corpora have, licence, description
    splits.tsv     a split's filter of pairs, sha256 of both texts, lines (0: those of its parts)
    parts.tsv      the parts of splits in their order, with the file and reader of both texts
    downloads.tsv  size, checksums and addresses of each file; 0 or nothing if they are not known

A part with two rows in parts.tsv has the same text in two places, and the first row is tried first.
Each archive of the training data (section 5.1) is on WMT's own site and on one with repackaged
archives. The second comes first for the United Nations, since the hash of WMT's archive is unknown.
The texts of newstest2013 and newstest2014, the paper's development and test sets, are downloaded
from a fixed commit of a public repository, with known hashes, else from WMT's archives, with the
md5 that sacreBLEU lists. Tatoeba's first archive is in a public repository and never changes. The
second one, the publisher's own, is updated from time to time; an update changes the splits.
"""

from collections import defaultdict

from transduce.datasets.readers import (
    drop_every,
    drop_runs,
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    read_sgml_segments,
    split_by_hash,
    take_every,
)
from transduce.datasets.values import (
    Corpus,
    Download,
    LineReader,
    PairFilter,
    Part,
    Split,
    Text,
    TextPair,
    read_table,
    strip_newlines,
)

DOWNLOADS = {
    name: Download(tuple(addresses.split()), int(size), sha256, md5)
    for name, size, sha256, md5, addresses in read_table("downloads.tsv")
}
READERS: dict[str, tuple[LineReader, LineReader]] = {  # of source and target
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
    "evaluated": drop_runs(FILTERED_OUT),
    "23rd": take_every(EACH),
    "no 23rd": drop_every(EACH),
    **{f"hash {split}": split_by_hash(split) for split in ("train", "dev", "test")},
}


def read_parts() -> dict[str, list[Part]]:
    """Return the parts of each split, such as "multi30k en-de dev", by parts.tsv."""
    rows = defaultdict[tuple[str, str, str], list[TextPair]](list)
    for splits, name, one, in_one, other, in_other, reader, lines in read_table("parts.tsv"):
        read_one, read_other = READERS[reader]
        texts = TextPair(
            Text(DOWNLOADS[one], in_one, read_one), Text(DOWNLOADS[other], in_other, read_other)
        )
        rows[splits, name, lines].append(texts)
    found = defaultdict[str, list[Part]](list)
    for (splits, name, lines), pairs in rows.items():
        part = Part(name, tuple(pairs), int(lines))
        for split in splits.split(","):
            found[split].append(part)
    return found


def read_corpora() -> tuple[Corpus, ...]:
    """Return all corpora, by corpora.tsv, with their splits."""
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


CORPORA = read_corpora()
