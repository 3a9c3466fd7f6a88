"""A tree under construction: constituents are opened and closed while words are added."""

from typing import final

from transduce.text.trees.tree import Tree


@final
class TreeBuilder:
    """A tree under construction; its methods open and close constituents and add words."""

    def __init__(self) -> None:
        self.words, self.tags = list[str](), list[str]()
        self.labels, self.starts, self.ends = list[str](), list[int](), list[int]()
        self.open_indices = list[int]()  # indices of the open constituents, outermost first

    def open_constituent(self, label: str) -> None:
        """Open a constituent that starts at the next word."""
        self.open_indices.append(len(self.labels))
        self.labels.append(label)
        self.starts.append(len(self.words))
        self.ends.append(-1)

    def add_word(self, word: str, tag: str) -> None:
        """Add a word to every constituent that is open."""
        self.words.append(word)
        self.tags.append(tag)

    def close_constituent(self) -> None:
        """Close the innermost open constituent after the latest word."""
        self.ends[self.open_indices.pop()] = len(self.words)

    def build(self) -> Tree:
        """Return the finished tree; every constituent must have been closed."""
        assert not self.open_indices
        return Tree(
            tuple(self.words),
            tuple(self.tags),
            tuple(self.labels),
            tuple(self.starts),
            tuple(self.ends),
        )
