"""From parallel text to a folder that training reads: vocabulary, train store, dev store.

    prepared.json      what it is made from, written first
    vocabulary.json    or source.vocabulary.json and target.vocabulary.json
    train/  dev/       stores of ids

Each part is whole or absent. The same command again takes the parts that stand and makes the rest.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.corpus.build import Origin, build
from transduce.corpus.store import BUDGETS, Store, made_from
from transduce.durable import (
    ensure_folder,
    from_checksummed_json,
    read_regular,
    remove_folder,
    to_checksummed_json,
    write_atomically,
)
from transduce.errors import FolderError, InputError
from transduce.runs.output_folder import require_own
from transduce.runs.texts import Pairs, cleaned, first
from transduce.settings import Data
from transduce.tasks import build_task
from transduce.text.clean import Cleaner
from transduce.vocabulary import learn_vocabulary
from transduce.vocabulary.files import (
    LIMIT,
    SHARED,
    SOURCE,
    TARGET,
    Vocabularies,
    read_vocabularies,
    vocabulary_file_names,
)

INTENT = "prepared.json"
STORE = "store"  # in the folder of a run that has its own
ELSEWHERE = "choose another folder, or delete this one"
Told = Callable[[str, int], None]  # what is being done, and how many pairs were read for it


@final
@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    folder: Path
    data: Data
    vocabularies: Vocabularies
    train: Store
    dev: Store | None


def prepare(folder: Path, data: Data, train: Pairs, dev: Pairs | None, told: Told) -> Prepared:
    """Make what is missing in the folder, and open it."""
    inputs = {"train": train.fingerprint()} | ({"dev": dev.fingerprint()} if dev else {})
    declare(folder, data, inputs)
    vocabularies = learned(folder, data, train, told)
    for split, pairs in (("train", train), ("dev", dev)):
        if pairs is not None and not (folder / split).is_dir():
            encode(folder / split, vocabularies, data, pairs, inputs[split], told)
    return open_prepared(folder)


def open_prepared(folder: Path) -> Prepared:
    """Open a prepared folder; every part is verified against what it should be made from."""
    data, inputs = read_intent(folder)
    vocabularies = vocabularies_in(folder, data)
    stores = {}
    for split, fingerprint in inputs.items():
        stores[split] = Store.open(folder / split)
        stores[split].require(made_from({split: fingerprint}, vocabularies, data))
    return Prepared(folder, data, vocabularies, stores["train"], stores.get("dev"))


def require_prepared_for(prepared: Prepared, data: Data) -> None:
    """Refuse a corpus that was prepared with other settings; budgets may differ."""
    wanted, found = (decisive(one) for one in (data, prepared.data))
    differ = [name for name in wanted if wanted[name] != found[name]]
    if differ:
        name = differ[0]
        raise InputError(
            f"was prepared with data.{name} = {found[name]}, the recipe says {wanted[name]}",
            "prepare it anew, or --set the recipe to what was prepared",
            file=prepared.folder,
        )


def decisive(data: Data) -> dict[str, object]:
    """The settings that decide what is stored."""
    every = dataclasses.asdict(data)
    return {name: value for name, value in every.items() if name not in BUDGETS}


def declare(folder: Path, data: Data, inputs: Mapping[str, str]) -> None:
    """Say what this folder is made from, or find that it is made from the same.

    What was begun from something else and never finished makes room: the input was mended.
    """
    require_corpus_place(folder)
    if (folder / INTENT).exists():
        stands, known = read_intent(folder)
        if decisive(stands) == decisive(data) and known == dict(inputs):
            return
        if all(
            (folder / part).exists()
            for part in (*vocabulary_file_names(shared=stands.shared_vocabulary), *known)
        ):
            what = "settings" if decisive(stands) != decisive(data) else "input"
            raise InputError(f"was prepared from other {what}", ELSEWHERE, file=folder)
        clear(folder)
    ensure_folder(folder)
    intent = {"data": dataclasses.asdict(data), "inputs": dict(inputs)}
    write_atomically(folder / INTENT, to_checksummed_json(intent))


def require_corpus_place(folder: Path) -> None:
    """Refuse a folder that holds anything but a corpus."""
    require_own(folder, INTENT, ("lock",), "prepared corpus")


def clear(folder: Path) -> None:
    """Take away the parts that stand; what the folder is made from goes last."""
    for split in ("train", "dev"):
        if (folder / split).is_dir():
            remove_folder(folder / split)
    for name in (SHARED, SOURCE, TARGET, INTENT):
        (folder / name).unlink(missing_ok=True)


def read_intent(folder: Path) -> tuple[Data, dict[str, str]]:
    """What a prepared folder is made from."""
    file = folder / INTENT
    if not file.exists():
        raise FolderError("is no prepared corpus", "`transduce prepare` makes one", file=folder)
    values = from_checksummed_json(read_regular(file, 1 << 20), file)
    try:
        return Data(**values["data"]), dict(values["inputs"])
    except (KeyError, TypeError, ValueError, InputError) as error:
        fact = "is not as it was written"
        raise FolderError(fact, "delete the folder and prepare it again", file=file) from error


def learned(folder: Path, data: Data, train: Pairs, told: Told) -> Vocabularies:
    """The vocabularies that lie here already, or new ones from the training text."""
    for side, name in enumerate(vocabulary_file_names(shared=data.shared_vocabulary)):
        if not (folder / name).exists():
            lines = lines_of(train, data, None if data.shared_vocabulary else side, told)
            vocabulary = learn_vocabulary(lines, data.vocabulary_size, data.vocabulary)
            write_atomically(folder / name, vocabulary.to_bytes())
    return vocabularies_in(folder, data)


def vocabularies_in(folder: Path, data: Data) -> Vocabularies:
    """The vocabularies that lie in a folder."""
    return read_vocabularies(
        folder, lambda name: read_regular(folder / name, LIMIT), shared=data.shared_vocabulary
    )


def lines_of(pairs: Pairs, data: Data, side: int | None, told: Told) -> Iterator[str]:
    """The lines that a vocabulary is learned from: cleaned, of one side or both."""
    kept = cleaned(Cleaner(data), first(pairs, data.max_pairs))
    for number, pair in enumerate(kept, start=1):
        yield from pair if side is None else pair[side : side + 1]
        if number % 10_000 == 0:
            told("learning the vocabulary", number)


def encode(
    folder: Path,
    vocabularies: Vocabularies,
    data: Data,
    pairs: Pairs,
    fingerprint: str,
    told: Told,
) -> None:
    """Clean, encode and store one split."""
    rules = data if folder.name == "train" else lenient(data)
    cleaner = Cleaner(rules)
    build(
        folder,
        cleaned(cleaner, first(pairs, data.max_pairs if folder.name == "train" else 0)),
        build_task(data, vocabularies),
        data,
        origin=Origin({folder.name: fingerprint}, lambda: cleaner.report.as_json()),
        progress=lambda read: told(f"encoding {folder.name}", read),
    )


def lenient(data: Data) -> Data:
    """The rules for a development set: all of it counts but what is empty or too long."""
    return dataclasses.replace(
        data, max_length_ratio=math.inf, drop_identical=False, drop_duplicates=False
    )
