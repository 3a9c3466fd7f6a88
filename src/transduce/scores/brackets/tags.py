"""The part-of-speech tags of an output tree, taken from the gold tree before it is scored.

EVALB deletes punctuation by its tag. If all leaves of an output are tagged XX, EVALB keeps the
output's punctuation but not the gold tree's, and each sentence with a full stop fails.
"""

from collections.abc import Sequence

from transduce.errors import InputError
from transduce.scores.brackets.reading import TERMINALS

TRACE = "-NONE-"


def copy_tags(output_line: str, gold_line: str) -> str:
    """Return an output tree's line with the gold tree's part-of-speech tags on its leaves.

    Traces of the gold tree (-NONE-) are not words. Raise InputError if the words differ.
    """
    gold = [leaf for leaf in TERMINALS.finditer(gold_line) if leaf["tag"] != TRACE]
    words = [leaf["word"] for leaf in TERMINALS.finditer(output_line)]
    require_equal_words(words, [leaf["word"] for leaf in gold])
    tags = iter(gold)
    return TERMINALS.sub(lambda leaf: f"({next(tags)['tag']} {leaf['word']})", output_line)


def copy_tags_where_words_agree(outputs: Sequence[str], gold: Sequence[str]) -> list[str]:
    """Return output trees with the gold trees' tags; a tree whose words differ stays unchanged."""
    tagged = []
    for output_line, gold_line in zip(outputs, gold, strict=False):
        try:
            tagged.append(copy_tags(output_line, gold_line))
        except InputError:
            tagged.append(output_line)
    return [*tagged, *outputs[len(tagged) :]]


def require_equal_words(output: list[str], gold: list[str]) -> None:
    """Raise InputError if the words of an output differ from those of the gold tree."""
    if len(output) != len(gold):
        fact = f"the output has {len(output):,} words, the gold tree {len(gold):,}"
        raise InputError(fact, "tags can be copied only between trees of the same words")
    for number, (ours, theirs) in enumerate(zip(output, gold, strict=True), start=1):
        if ours != theirs:
            fact = f"word {number} of the output is {ours!r}, of the gold tree {theirs!r}"
            raise InputError(fact, "tags can be copied only between trees of the same words")
