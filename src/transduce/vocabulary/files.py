"""The vocabulary files of a folder: one shared by both languages, or one for each language."""

from collections.abc import Callable
from pathlib import Path

from transduce.errors import FolderError
from transduce.vocabulary.vocabulary import Vocabulary

SHARED, SOURCE, TARGET = "vocabulary.json", "source.vocabulary.json", "target.vocabulary.json"
LIMIT = 1 << 28  # bytes
Vocabularies = tuple[Vocabulary, Vocabulary]  # source and target; the same object if they share one


def vocabulary_file_names(*, shared: bool) -> tuple[str, ...]:
    """Return the names of a folder's vocabulary files: the shared one, or source and target."""
    return (SHARED,) if shared else (SOURCE, TARGET)


def vocabulary_files(vocabularies: Vocabularies) -> dict[str, Vocabulary]:
    """Return a dict from file name to vocabulary, with one entry if both sides share theirs."""
    source, target = vocabularies
    return dict(zip(vocabulary_file_names(shared=source is target), vocabularies, strict=False))


def read_vocabularies(folder: Path, read: Callable[[str], bytes], *, shared: bool) -> Vocabularies:
    """Read and check a folder's vocabularies; `read` returns the bytes of a file by its name."""
    found = []
    for name in vocabulary_file_names(shared=shared):
        data = read(name)
        try:
            found.append(Vocabulary.from_bytes(data))
        except FolderError as error:
            raise FolderError(error.fact, error.hint, file=folder / name) from error
    return found[0], found[-1]
