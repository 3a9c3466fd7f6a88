"""A made treebank in every form that commands read, and models of few updates on it."""

from pathlib import Path

from tests.datasets.made_trees import (
    Node,
    base_noun_phrases,
    generate_trees,
    one_line,
    without_traces,
    words_and_tags,
)

from transduce.cli.main import transduce
from transduce.cli.outcome import run

SETTINGS = {
    "architecture.layers": 1,
    "architecture.d_model": 32,
    "architecture.d_ff": 64,
    "architecture.heads": 2,
    "architecture.d_k": 16,
    "architecture.d_v": 16,
    "data.vocabulary_size": 300,
    "data.source_tokens": 1024,
    "data.target_tokens": 1024,
    "training.threads": 1,
    "training.steps": 10,
    "training.warmup": 5,
    "training.snapshot_every": 5,
    "training.average_last": 2,
    "training.validate_every": 10,
    "training.validate_lines": 2,
    "search.beam": 2,
    "search.extra_length": 10,
}
TINY = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
COUNTS = {"train": 60, "dev": 6, "test": 6}


def write_treebank(folder: Path) -> Path:
    """Write train, dev and test as .trees, .txt (words), .tags, .pos and .np (two columns)."""
    for split, count in COUNTS.items():
        trees = [(tree, without_traces(tree)) for tree in generate_trees(split, count)]
        clean = [tree for _, tree in trees if tree]
        write(folder / f"{split}.trees", [one_line(tree) for tree, _ in trees])
        write(folder / f"{split}.txt", [join(tree, 0) for tree in clean])
        write(folder / f"{split}.tags", [join(tree, 1) for tree in clean])
        write(folder / f"{split}.pos", [columns(words_and_tags(tree)) for tree in clean])
        write(folder / f"{split}.np", [columns(noun_phrases(tree)) for tree in clean])
    return folder


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def join(tree: Node, side: int) -> str:
    """The words of a tree (side 0) or its tags (side 1)."""
    return " ".join(leaf[side] for leaf in words_and_tags(tree))


def noun_phrases(tree: Node) -> list[tuple[str, str]]:
    words = [word for word, _ in words_and_tags(tree)]
    return list(zip(words, base_noun_phrases(tree), strict=True))


def columns(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{token}\t{label}\n" for token, label in pairs)


def train(folder: Path, recipe: str, form: str) -> Path:
    """Train on the files of a form, trees or tags; return the averaged model's folder."""
    option = "trees" if form == "trees" else "tags"
    files = [f"--{option}={folder}/train.{form}", f"--dev-{option}={folder}/dev.{form}"]
    arguments = ["train", recipe, *files, *TINY, "-o", f"{folder}/{form}.run", "--quiet"]
    assert run(transduce, arguments) == 0
    assert run(transduce, ["average", f"{folder}/{form}.run", "-o", f"{folder}/{form}.model"]) == 0
    return folder / f"{form}.model"
