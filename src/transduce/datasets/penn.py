"""Find files of trees in a user's folder: the Penn Treebank by its sections, or other treebanks.

    treebank_3/parsed/mrg/wsj/02/wsj_0201.mrg    a file of section 02; there are sections 00 to 24

Names may be in upper case and files compressed, such as .mrg.gz. The splits are the usual ones
(section 6.3 of the paper): sections 02 to 21 (train), 22 (dev) and 23 (test).
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from transduce.errors import InputError, suggest_names

SECTIONS = {
    "train": tuple(f"{number:02}" for number in range(2, 22)),
    "dev": ("22",),
    "test": ("23",),
}
MERGED = (".mrg",)  # the Penn Treebank's files of trees with tags; its .prd files have no tags
TREES = (*MERGED, ".trees", ".tree", ".ptb", ".txt")
PACKED = ("", ".gz", ".xz", ".zst")  # endings that compression adds
MAX_DEPTH = 6  # levels of subfolders that are searched
HINT = "name the folder that holds 00 to 24, with files such as 02/wsj_0201.mrg"


def find_penn_files(folder: Path, split: str) -> list[Path]:
    """Return a Penn Treebank split's .mrg files in order; InputError if a section is missing."""
    if split not in SECTIONS:
        raise InputError(f"unknown split {split!r}", suggest_names(split, SECTIONS))
    wanted = SECTIONS[split]
    sections = find_sections(folder)
    missing = [name for name in wanted if name not in sections]
    if missing:
        named = "section" if len(missing) == 1 else "sections"
        fact = f"has no {named} {', '.join(missing)} with .mrg files, of which {split} is made"
        raise InputError(fact, HINT, file=folder)
    return [path for name in wanted for path in sections[name]]


def has_penn_sections(folder: Path) -> bool:
    """Return whether a folder is, or holds within 6 levels, a two-digit folder of .mrg files."""
    return any(find_section_files(folder))


def find_tree_files(folder: Path) -> list[Path]:
    """Return a folder's files of trees, sorted, from up to 6 levels below; InputError if none.

    InputError, too, if two names differ only in case or in compression.
    """
    every = [path for _, paths in walk_folders(folder) for path in paths]
    found = sorted(filter_by_ending(every, TREES))
    if not found:
        hint = f"their names end in {', '.join(TREES)}, and then perhaps in .gz, .xz or .zst"
        raise InputError("holds no files of trees", hint, file=folder)
    require_single_copies(found)
    return found


def find_sections(folder: Path) -> dict[str, list[Path]]:
    """Return the .mrg files of each section, such as "02"; InputError if two folders hold some."""
    parents = defaultdict[Path, dict[str, list[Path]]](dict)
    for section, files in find_section_files(folder):
        require_single_copies(files)
        parents[section.parent][section.name] = sorted(files)
    if len(parents) > 1:
        first, second, *_ = sorted(parents)
        raise InputError(f"{first} and {second} both hold sections", "name one of them")
    return next(iter(parents.values()), {})


def find_section_files(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield (folder, .mrg files) for each folder that has .mrg files and a name of two digits."""
    for path, paths in walk_folders(folder):
        files = filter_by_ending(paths, MERGED)
        if files and len(path.name) == 2 and path.name.isdecimal():
            yield path, files


def walk_folders(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield (folder, its files) for a folder and those up to 6 levels below, sorted.

    Hidden files and folders are left out. InputError if a folder is missing or cannot be read.
    """
    if not folder.is_dir():
        raise InputError("is not a folder", "name a folder of files of trees", file=folder)
    seen = set[str]()  # a link may lead back to a folder above
    for name, folders, files in os.walk(folder, onerror=refuse_unreadable, followlinks=True):
        path, real = Path(name), os.path.realpath(name)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if len(path.relative_to(folder).parts) >= MAX_DEPTH:
            folders.clear()
        yield path, [path / one for one in sorted(files) if not one.startswith(".")]


def refuse_unreadable(error: OSError) -> None:
    """Raise InputError from the OSError of a folder whose files could not be listed."""
    fact = f"cannot be read ({error.strerror})"
    raise InputError(fact, "check its rights", file=error.filename) from error


def filter_by_ending(paths: Iterable[Path], endings: Sequence[str]) -> list[Path]:
    """Return the paths with one of these endings, upper or lower case, compressed or not."""
    every = tuple(ending + packed for ending in endings for packed in PACKED)
    return [path for path in paths if path.name.lower().endswith(every)]


def require_single_copies(paths: Iterable[Path]) -> None:
    """Raise InputError if two paths differ only in case or in compression (.gz, for example)."""
    known: dict[str, Path] = {}
    for path in paths:
        key = str(path).lower()
        for packed in PACKED:
            key = key.removesuffix(packed)
        if key in known:
            fact = f"{known[key].name} and {path.name} are two copies of one file"
            raise InputError(fact, "keep one of them", file=path.parent)
        known[key] = path
