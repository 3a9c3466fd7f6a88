"""Public treebanks: CRAFT, annotated by hand, and GUM, with automatically parsed trees.

A treebank is many files of trees, one for each document. The tables `craft.tsv` and `gum.tsv`
beside this module list each document's name, split, number of trees, size, sha256 and licence, at
a fixed commit of the treebank's repository. The splits are the treebanks' own: CRAFT's lists of
articles (articles/ids), and GUM's splits.md, where test2 is the out-of-domain corpus GENTLE. GUM's
reddit documents are left out, because GUM's files have underscores in place of their words.
"""

from dataclasses import dataclass
from typing import final

from transduce.datasets.readers import read_bracketed_trees
from transduce.datasets.values import Download, Text, read_table

GITHUB = "https://raw.githubusercontent.com"
SECOND_ADDRESS = "https://github.com"


@final
@dataclass(frozen=True)
class Document:
    """One file of a treebank: its name, number of trees, and the licence of its text."""

    name: str
    text: Text
    trees: int
    licence: str


@final
@dataclass(frozen=True)
class TreebankSplit:
    """A train, dev or test split of a treebank: its documents, sorted by name."""

    name: str
    documents: tuple[Document, ...]


@final
@dataclass(frozen=True)
class Treebank:
    """A public treebank of one language: name, licence, source and splits."""

    name: str
    about: str
    licence: str
    source: str  # web address of the folder with the files
    splits: tuple[TreebankSplit, ...]
    languages: tuple[str] = ("en",)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents of all splits."""
        return tuple(document for split in self.splits for document in split.documents)

    @property
    def size(self) -> int:
        """The total size of all documents in bytes."""
        return sum(document.text.download.size for document in self.documents)


def build_splits(table: str, repository: str, path: str) -> tuple[TreebankSplit, ...]:
    """Build a treebank's splits from the .tsv file `table`; document names replace {} in `path`."""
    documents: dict[str, list[Document]] = {}
    for split, name, trees, size, sha256, licence in read_table(table):
        addresses = (
            f"{GITHUB}/{repository}/{path.format(name)}",
            f"{SECOND_ADDRESS}/{repository}/raw/{path.format(name)}",
        )
        text = Text(Download(addresses, int(size), sha256), reader=read_bracketed_trees)
        documents.setdefault(split, []).append(Document(name, text, int(trees), licence))
    return tuple(TreebankSplit(split, tuple(some)) for split, some in documents.items())


CRAFT_COMMIT = "2abe82b8bb8089448b84937d5f61d8c218011322"
CRAFT_FOLDER = "structural-annotation/treebank/penn"
CRAFT = Treebank(
    "craft",
    "trees of 97 biomedical articles, annotated by people; 60 articles, 7 and 30",
    "CC BY 3.0; name Verspoor et al. (2012), BMC Bioinformatics 13:207, and Cohen et al. (2017), "
    "Handbook of Linguistic Annotation",
    f"https://github.com/UCDenver-ccp/CRAFT/tree/{CRAFT_COMMIT}/{CRAFT_FOLDER}",
    build_splits("craft.tsv", "UCDenver-ccp/CRAFT", f"{CRAFT_COMMIT}/{CRAFT_FOLDER}/{{}}.tree"),
)
GUM_COMMIT = "72ce5ac14978a324c2fd18d49484e65292cbe316"
GUM = Treebank(
    "gum",
    "silver trees of many genres: a parser made them from gold tags; test2 is out of domain",
    "CC BY 4.0 for the trees; the texts by genre, some not for commercial use (the manifest "
    "names each licence); name Zeldes (2017), Language Resources and Evaluation 51(3)",
    f"https://github.com/amir-zeldes/gum/tree/{GUM_COMMIT}/const",
    build_splits("gum.tsv", "amir-zeldes/gum", f"{GUM_COMMIT}/const/{{}}.ptb"),
)
TREEBANKS = (CRAFT, GUM)
