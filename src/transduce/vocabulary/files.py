"""The vocabulary files of a folder: one shared, or source and target, and a lexicon of tags."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import FolderError
from transduce.vocabulary.tag_lexicon import TagLexicon
from transduce.vocabulary.vocabulary import Vocabulary

SHARED, SOURCE, TARGET = "vocabulary.json", "source.vocabulary.json", "target.vocabulary.json"
LEXICON = "tags.json"
LIMIT = 1 << 28  # largest size of a vocabulary or lexicon file, in bytes


@final
@dataclass(frozen=True)
class Vocabularies:
    """The source and target vocabularies (one object if shared), and a tag lexicon for parsers.

    Iteration yields the source vocabulary and the target vocabulary.
    """

    source: Vocabulary
    target: Vocabulary
    lexicon: TagLexicon | None = None  # part-of-speech tags, for tasks whose outputs need them

    def __iter__(self) -> Iterator[Vocabulary]:
        return iter((self.source, self.target))

    def files(self) -> dict[str, bytes]:
        """Return a dict from file name to content; a shared vocabulary is one file."""
        names = vocabulary_file_names(shared=self.source is self.target)
        found = {name: each.to_bytes() for name, each in zip(names, self, strict=False)}
        return found | ({} if self.lexicon is None else {LEXICON: self.lexicon.to_bytes()})

    def hashes(self) -> Mapping[str, str]:
        """Return the sha256 of "source" and "target" vocabulary, and of any lexicon ("tags")."""
        found = {"source": self.source.hash, "target": self.target.hash}
        return found | ({} if self.lexicon is None else {"tags": self.lexicon.hash})


def vocabulary_file_names(*, shared: bool) -> tuple[str, ...]:
    """Return the names of a folder's vocabulary files: one if shared, or source and target."""
    return (SHARED,) if shared else (SOURCE, TARGET)


def read_vocabularies(
    folder: Path, read: Callable[[str], bytes], *, shared: bool, has_lexicon: bool
) -> Vocabularies:
    """Read a folder's vocabularies and any tag lexicon; `read` returns a file's bytes by name."""
    found = []
    for name in vocabulary_file_names(shared=shared):
        data = read(name)
        try:
            found.append(Vocabulary.from_bytes(data))
        except FolderError as error:
            raise FolderError(error.fact, error.hint, file=folder / name) from error
    lexicon = TagLexicon.from_bytes(read(LEXICON), folder / LEXICON) if has_lexicon else None
    return Vocabularies(found[0], found[-1], lexicon)
