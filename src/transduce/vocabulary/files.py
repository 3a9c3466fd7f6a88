"""The files of a folder's vocabularies: one for both sides, or one for each."""

from collections.abc import Callable
from pathlib import Path

from transduce.errors import FolderError
from transduce.vocabulary.vocabulary import Vocabulary

SHARED, SOURCE, TARGET = "vocabulary.json", "source.vocabulary.json", "target.vocabulary.json"
LIMIT = 1 << 28  # bytes
Vocabularies = tuple[Vocabulary, Vocabulary]  # source and target; the same object if they share one


def names_of(*, shared: bool) -> tuple[str, ...]:
    """What the files are called."""
    return (SHARED,) if shared else (SOURCE, TARGET)


def vocabulary_files(vocabularies: Vocabularies) -> dict[str, Vocabulary]:
    """Vocabularies by the names of their files."""
    source, target = vocabularies
    return dict(zip(names_of(shared=source is target), vocabularies, strict=False))


def read_vocabularies(folder: Path, read: Callable[[str], bytes], *, shared: bool) -> Vocabularies:
    """The vocabularies whose files `read` gives; what makes one unusable is told with its file."""
    found = []
    for name in names_of(shared=shared):
        data = read(name)
        try:
            found.append(Vocabulary.from_bytes(data))
        except FolderError as fault:
            raise FolderError(fault.fact, fault.hint, file=folder / name) from fault
    return found[0], found[-1]
