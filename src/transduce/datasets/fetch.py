"""From a corpus as a value to a folder of its texts, whole or absent.

    CACHE/wmt14-en-de/en-de/     train.en train.de dev.en dev.de … manifest.json
    CACHE/downloads/             the files that they were made from

The manifest says where every part came from, how many lines it has, and how many it should have.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, final

from transduce.datasets.catalogue import of_languages, with_texts
from transduce.datasets.downloads import NOT_YOURS, Found, Places, find, forget
from transduce.datasets.transfer import Told
from transduce.datasets.units import OTHER_NAMES
from transduce.datasets.unpack import lines_of
from transduce.datasets.values import WHOLE, Corpus, Pair, Part, Split, Text, Way
from transduce.durable import FolderWriter, VerifiedFolder, atomic_folder, open_folder
from transduce.errors import InputError

KIND = "corpus"
Chosen = dict[Part, tuple[Way, dict[Text, Found]]]
AGAIN = "the same command goes on where it was; --from FOLDER takes copies that you have"


@final
@dataclass
class Record:
    """What is written down of a corpus while it is made."""

    about: dict[str, Any] = field(default_factory=dict)
    unlike: list[str] = field(default_factory=list)  # what is not as it was expected


def place_of(corpus: Corpus, cache: Path) -> Path:
    """The folder of its texts."""
    return cache / corpus.name / "-".join(corpus.languages)


def texts_of(
    name: str, split: str, languages: tuple[str, str], cache: Path
) -> tuple[Path, Path] | None:
    """The verified files of both sides of a split, if the corpus has it; it must be here."""
    elsewhere = dict(of_languages(name, languages).elsewhere)
    lies_in, split = (elsewhere[split], "test") if split in elsewhere else (name, split)
    here = corpus_here(lies_in, languages, cache, brought_by=name)
    have = here.about["splits"]
    if split not in have and split in ("train", "test"):
        split = WHOLE
    if split not in have:
        return None
    source, target = (here.verified_path(f"{split}.{language}") for language in languages)
    return source, target


def corpus_here(
    name: str, languages: tuple[str, str], cache: Path, *, brought_by: str = ""
) -> VerifiedFolder:
    """The folder of a corpus that was fetched, by its own name or by another's."""
    folder = place_of(of_languages(name, languages), cache)
    if not folder.is_dir():
        fact = f"the corpus {name} is not here: {folder} does not exist"
        raise InputError(fact, f"transduce fetch {brought_by or name}")
    return open_folder(folder, KIND)


def fetch(corpus: Corpus, cache: Path, places: Places, told: Told) -> VerifiedFolder:
    """The corpus, fetched if it is not here yet."""
    folder = place_of(corpus, cache)
    if folder.is_dir():
        here = open_folder(folder, KIND)
        here.verify()
        return here
    corpus = with_texts(corpus)
    record = Record({"name": corpus.name, "languages": list(corpus.languages)})
    record.about |= {"licence": corpus.licence, "splits": {}, "unlike": record.unlike}
    chosen = choose_all(corpus, places, told)
    with atomic_folder(folder, kind=KIND, about=record.about) as writer:
        for split in corpus.splits:
            told(f"unpacking {split.name}", 0, 0)
            write(split, corpus.languages, chosen, writer, record)
    return open_folder(folder, KIND)


def choose_all(corpus: Corpus, places: Places, told: Told) -> Chosen:
    """A way for each part; without a network, all that is missing is said at once."""
    chosen, missing = {}, []
    for part in dict.fromkeys(part for split in corpus.splits for part in split.parts):
        try:
            chosen[part] = choose(part, places, told)
        except InputError as error:
            if places.network or error.hint != AGAIN:
                raise
            missing += [text.download.name for text in (part.ways[0].source, part.ways[0].target)]
    if missing:
        fact = f"{corpus.name} needs what is not here: {', '.join(dict.fromkeys(missing))}"
        raise InputError(fact, "without --offline they are fetched; --from FOLDER takes your own")
    return chosen


def choose(part: Part, places: Places, told: Told) -> tuple[Way, dict[Text, Found]]:
    """The first way whose files can be had."""
    said = []
    for way in part.ways:
        try:
            return way, found_by(way, places, told)
        except InputError as error:
            if error.hint in (NOT_YOURS, OTHER_NAMES):  # no other file will do
                raise
            said.append(error.fact)
    raise InputError(f"{part.name} cannot be had: " + "; ".join(said), AGAIN)


def found_by(way: Way, places: Places, told: Told) -> dict[Text, Found]:
    """The files of both sides, looked into if no hash says that they are right."""
    texts = (way.source, way.target)
    files = {one: find(one, places, told) for one in dict.fromkeys(t.download for t in texts)}
    for text in texts:
        path = files[text.download].path
        try:
            if not text.download.is_known:
                next(lines_of(text, path), None)
        except InputError as error:
            if path.parent == places.folder and error.hint != OTHER_NAMES:
                forget(path)
            raise
    return {text: files[text.download] for text in texts}


def write(
    split: Split,
    languages: tuple[str, str],
    chosen: Chosen,
    writer: FolderWriter,
    record: Record,
) -> None:
    """Both files of a split, and a line about them."""
    names = [f"{split.name}.{language}" for language in languages]
    parts: list[dict[str, object]] = []
    with ExitStack() as stack:
        source, target = (stack.enter_context(writer.open(name)) for name in names)
        count = 0
        for one, other in split.taking(joined(split, chosen, parts, record)):
            source.write(one + b"\n")
            target.write(other + b"\n")
            count += 1
    record.about["splits"][split.name] = {"lines": count, "parts": parts}
    compare(f"{split.name}", split.expected, count, record)
    for name, known in zip(names, split.sha256, strict=True):
        if known and writer.files[name]["sha256"] != known:
            record.unlike.append(f"{name} is another text than the one that was expected")


def joined(
    split: Split, chosen: Chosen, parts: list[dict[str, object]], record: Record
) -> Iterator[Pair]:
    """The pairs of all parts; what was found of each is added to the list."""
    for part in split.parts:
        way, found = chosen[part]
        count = 0
        for pair in pairs_of(part, way, found):
            yield pair
            count += 1
        compare(part.name, part.lines, count, record)
        origins = {one.origin: one.sha256 for one in found.values()}
        parts.append({"name": part.name, "lines": count, "from": origins})


def pairs_of(part: Part, way: Way, found: dict[Text, Found]) -> Iterable[Pair]:
    """Line i of one side with line i of the other."""
    sides = [lines_of(text, found[text].path) for text in (way.source, way.target)]
    for number, (source, target) in enumerate(zip_longest(*sides), start=1):
        if source is None or target is None:
            fact = f"{part.name}: one side ends before line {number:,}, the other does not"
            raise InputError(fact, "the files do not belong together: fetch them again")
        yield source, target


def compare(name: str, expected: int, found: int, record: Record) -> None:
    """Note a count that is not the expected one."""
    note = f"{name} has {found:,} lines, and {expected:,} were expected"
    if expected and expected != found and note not in record.unlike:
        record.unlike.append(note)
