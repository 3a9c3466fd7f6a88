"""The majority baseline of tagging: every token gets its most frequent label in training text."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from transduce.inference.test_set import find_task_files, read_both_sides
from transduce.inference.translator import Translator
from transduce.tasks import require_task
from transduce.tasks.tagging import Tagging, read_tagged_pairs
from transduce.text.words import split_words
from transduce.vocabulary.tag_lexicon import most_frequent


def label_by_majority(
    train: Path | str, sentences: Sequence[str], translator: Translator
) -> list[str]:
    """Return a line of labels for each sentence: the most frequent one of each token in `train`.

    `train` is tagged text, as a file or as the name CORPUS or CORPUS:SPLIT of a fetched one. A
    token that it lacks gets its most frequent label of all. Raises InputError if `translator` is
    not a tagger.
    """
    data = translator.recipe.data
    require_task(translator.task, Tagging, data, "a baseline of most frequent labels")
    sides = read_both_sides(find_task_files(str(train), data, "train"), read_tagged_pairs)
    return label_tokens(zip(*sides, strict=True), sentences)


def label_tokens(tagged: Iterable[tuple[str, str]], sentences: Sequence[str]) -> list[str]:
    """Label each token of sentences with its most frequent label in (tokens, labels) lines."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tokens, labels in tagged:
        for token, label in zip(split_words(tokens), split_words(labels), strict=True):
            counts[token][label] += 1
    known = {token: most_frequent(found) for token, found in counts.items()}
    unknown = most_frequent(sum(counts.values(), Counter()))
    return [
        " ".join(known.get(token, unknown) for token in split_words(line)) for line in sentences
    ]
