"""Trees of a small grammar of our own, laid out in files as the Penn Treebank is.

They have what its trees have: an outer bracket without a label, traces, function tags, indices,
escaped brackets. What is to be learnt is regular: a word has one tag, a phrase of "of" belongs to
the noun before it, every other one to the verb, and commas enclose relative clauses.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

Node = list[Any]  # [label, child, …], or [tag, word]

COUNTS = {"train": 300, "dev": 50, "test": 50}
SECTIONS = {
    "train": [f"{number:02}" for number in range(2, 22)],
    "dev": ["22"],
    "test": ["23"],
}
UNUSED = ("00", "01", "24")  # sections that no split has
WIDTH = 60  # a bracket that is longer is written over several lines
WORDS = {
    "DT": "the a this every some",
    "NN": "bank share dog market price plan company year",
    "NNP": "Acme Smith London Bonn",
    "PRP": "he she it they",
    "JJ": "new old large quiet",
    "VBD": "sold bought saw raised dropped",
    "VBN": "eaten known hidden broken",
    "VB": "see sell buy hide",
    "IN": "in at with under",
    "RB": "quickly never again",
    "CD": "3.5 10 1\\/2",
}


class Grammar:
    """Sentences of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.index = 0

    def leaf(self, tag: str) -> Node:
        return [tag, self.random.choice(WORDS[tag].split())]

    def sentence(self) -> Node:
        """A whole tree with its outer bracket."""
        self.index = 0
        subject, verb = self.noun_phrase("NP-SBJ", 2), self.verb_phrase(2)
        first: list[Node] = []
        if self.random.random() < 0.2:
            first = [["PP-TMP", ["IN", "in"], ["NP", self.leaf("CD")]], [",", ","]]
        return ["", ["S", *first, subject, verb, [".", "."]]]

    def noun_phrase(self, label: str, depth: int) -> Node:
        match self.random.randrange(8 if depth else 4):
            case 0:
                return [label, self.leaf("PRP")]
            case 1:
                return [label, self.leaf("NNP")]
            case 2:
                return [label, self.leaf("DT"), self.leaf("JJ"), self.leaf("NN")]
            case 4:
                of = ["PP", ["IN", "of"], self.noun_phrase("NP", depth - 1)]
                return [label, self.noun_phrase("NP", 0), of]
            case 5:
                return [label, self.noun_phrase("NP", 0), [",", ","], self.relative(depth - 1)]
            case 6:
                share = ["QP", self.leaf("CD"), ["CD", "million"]]
                return [label, ["$", "$"], share, ["-NONE-", "*U*"]]
            case _:
                return [label, self.leaf("DT"), self.leaf("NN")]

    def relative(self, depth: int) -> Node:
        """A relative clause: its subject is a trace with an index."""
        self.index += 1
        trace = ["NP-SBJ", ["-NONE-", f"*T*-{self.index}"]]
        who = [f"WHNP-{self.index}", ["WDT", "which"]]
        return ["SBAR", who, ["S", trace, self.verb_phrase(depth)]]

    def verb_phrase(self, depth: int) -> Node:
        verb = self.leaf("VBD")
        match self.random.randrange(6 if depth else 2):
            case 0:
                return ["VP", verb, self.noun_phrase("NP", depth and depth - 1)]
            case 2:
                place = ["PP-LOC", self.leaf("IN"), self.noun_phrase("NP", depth - 1)]
                return ["VP", verb, self.noun_phrase("NP", depth - 1), place]
            case 3:
                said = ["SBAR", ["-NONE-", "0"], ["S", *self.clause(depth - 1)]]
                return ["VP", ["VBD", "said"], said]
            case 4:
                to_see = ["VP", self.leaf("VB"), self.noun_phrase("NP", depth - 1)]
                empty = ["NP-SBJ", ["-NONE-", "*-1"]]
                return ["VP", ["VBD", "wanted"], ["S", empty, ["VP", ["TO", "to"], to_see]]]
            case 5:
                by = ["PP", ["IN", "by"], ["NP-LGS", self.leaf("NNP")]]
                passive = ["VP", self.leaf("VBN"), ["NP", ["-NONE-", "*-1"]], by]
                return ["VP", ["VBD", "was"], passive, self.aside()]
            case _:
                return ["VP", verb, ["ADVP-MNR", self.leaf("RB")]]

    def clause(self, depth: int) -> list[Node]:
        return [self.noun_phrase("NP-SBJ", depth), self.verb_phrase(depth)]

    def aside(self) -> Node:
        """A phrase in round brackets, which are escaped."""
        return ["PRN", ["-LRB-", "-LRB-"], ["NP=2", self.leaf("CD")], ["-RRB-", "-RRB-"]]


def one_line(node: Node) -> str:
    """A tree as one line."""
    label, *children = node
    inside = [child if isinstance(child, str) else one_line(child) for child in children]
    return f"({' '.join([label, *inside])})"


def pretty(node: Node, indent: int = 0) -> str:
    """A tree over several lines, as the Penn Treebank has it."""
    line = one_line(node)
    if indent + len(line) <= WIDTH or isinstance(node[1], str):
        return line
    label, first, *rest = node
    head = f"({label} {pretty(first, indent + 2)}" if not label else f"({label}"
    below = rest if not label else [first, *rest]
    margin = "\n" + " " * (indent + 2)
    return head + "".join(f" {margin}{pretty(child, indent + 2)}" for child in below) + ")"


def generate_trees(split: str, count: int, seed: int = 1) -> Iterator[Node]:
    """Trees of a split; no tree of one split stands in another."""
    grammar = Grammar(seed)
    others = set(COUNTS) - {split}
    while count:
        tree = grammar.sentence()
        line = one_line(tree)
        belongs = sorted(COUNTS)[sum(line.encode()) % len(COUNTS)]
        if belongs not in others:
            count -= 1
            yield tree


def write_penn_treebank(folder: Path, counts: dict[str, int] = COUNTS, seed: int = 1) -> None:
    """Write wsj/00 … wsj/24 with files of up to eight trees each."""
    for split, sections in SECTIONS.items():
        trees = list(generate_trees(split, counts[split], seed))
        for number, section in enumerate(sections):
            write_section(folder / "wsj" / section, trees[number :: len(sections)])
    for section in UNUSED:
        write_section(folder / "wsj" / section, list(generate_trees("train", 2, seed + 1)))


def write_section(folder: Path, trees: list[Node]) -> None:
    """Write the files of one section."""
    folder.mkdir(parents=True)
    for first in range(0, len(trees), 8):
        text = "".join(f"\n{pretty(tree)}\n" for tree in trees[first : first + 8])
        name = f"wsj_{folder.name}{first // 8 + 1:02}.mrg"
        (folder / name).write_text(text, encoding="utf-8")


def without_traces(node: Node) -> Node | None:
    """A tree without the leaves -NONE- and what they leave empty, its labels cut at - and =."""
    label, *children = node
    if isinstance(children[0], str):
        return None if label == "-NONE-" else node
    inner = [child for child in map(without_traces, children) if child]
    return [label.partition("-")[0].partition("=")[0], *inner] if inner else None


def words_and_tags(node: Node) -> list[tuple[str, str]]:
    """The leaves of a tree."""
    label, *children = node
    if isinstance(children[0], str):
        return [(children[0], label)]
    return [leaf for child in children for leaf in words_and_tags(child)]


def base_noun_phrases(node: Node) -> list[str]:
    """A BIO label for each leaf: an NP without an NP inside is a base noun phrase."""
    label, *children = node
    if isinstance(children[0], str):
        return ["O"]
    inside = [one for child in children for one in base_noun_phrases(child)]
    if label == "NP" and set(inside) == {"O"}:
        return ["B-NP", *["I-NP"] * (len(inside) - 1)]
    return inside
