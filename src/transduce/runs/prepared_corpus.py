"""Preparation of a corpus, from parallel text to a folder with vocabularies and stores of ids

    prepared.json      data settings and fingerprints of the texts, written first
    tags.json          a lexicon of part-of-speech tags, if the task needs one
    vocabulary.json    or source.vocabulary.json and target.vocabulary.json
    train/  dev/       stores of the encoded training text and development set

Each file and store is complete or absent. A second preparation makes only the missing parts.
While a large split is encoded, its segments lie in train.segments/ or dev.segments/.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

from transduce.checkpoint.run_file import is_run
from transduce.corpus.build import build_store
from transduce.corpus.segment import remove_segments
from transduce.corpus.store import (
    READING,
    SIDES,
    Store,
    build_provenance,
    parse_data_facts,
    require_consistent,
)
from transduce.durable.files import ensure_folder, require_folder, write_atomically
from transduce.durable.folder import MANIFEST, read_regular, remove_folder, require_own_folder
from transduce.durable.json import from_checksummed_json, parse_record, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.runs.development import (
    clean_text,
    clean_texts,
    find_mixture,
    find_whole_text,
    require_texts_agree,
)
from transduce.runs.texts import Pair, Pairs, build_dev_settings, hash_parts
from transduce.settings import Data, Recipe
from transduce.settings.data import CHANGES
from transduce.settings.fields import require
from transduce.tasks import build_task, find_task_kind
from transduce.text.arguments import ignore_event
from transduce.text.changes import change_pair, draw_changes
from transduce.text.clean import Cleaner
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.learn import learn_closed_list, learn_vocabulary
from transduce.vocabulary.tag_lexicon import learn_tag_lexicon
from transduce.vocabulary.vocabulary import (
    LEXICON,
    MOST_VOCABULARY_BYTES,
    SHARED,
    SOURCE,
    TARGET,
    Vocabularies,
    read_vocabularies,
    vocabulary_file_names,
)

if TYPE_CHECKING:
    from transduce.corpus.feed import Feed

INPUTS_FILE = "prepared.json"
NAMES = ("corpus", "source_language", "target_language")  # settings that name the text
STORE = "store"  # subfolder of a run that has prepared its own corpus
OTHER_FOLDER = "choose another folder, or delete this one"
GO_ON = "choose another folder, or name no text to go on with this run"
# called with the current activity and the number of pairs read so far
OnProgress = Callable[[str, int], None]


@final
@dataclass(frozen=True)
class PreparedCorpus:
    """A cleaned, encoded corpus in a folder: data settings, vocabularies, train and dev store."""

    folder: Path
    data: Data
    vocabularies: Vocabularies
    train: Store
    dev: Store | None

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        dev = "no dev set" if self.dev is None else f"{len(self.dev):,} of the dev set"
        pairs = find_task_kind(self.data).count(len(self.train))
        return f"<prepared corpus {self.folder}: {pairs}, {dev}>"


def prepare_corpus(
    folder: Path,
    data: Data,
    train: Pairs,
    dev: Pairs | None,
    on_progress: OnProgress,
    given_vocabularies: Vocabularies | None = None,
) -> PreparedCorpus:
    """Clean, encode and store a parallel text in a folder, and open the prepared corpus.

    The text is encoded with `given_vocabularies`, by default with ones learned from it.
    """
    texts = {"train": train} | ({"dev": dev} if dev else {})
    inputs = {split: text.fingerprint() for split, text in texts.items()}
    if not all((folder / split).is_dir() for split in inputs):
        require_texts_agree(train, dev, data)
    data = write_or_check_inputs(folder, data, inputs, texts)
    if given_vocabularies is not None:
        write_vocabularies(folder, given_vocabularies)
    vocabularies = learn_vocabularies(folder, data, train, on_progress)
    for split, pairs in texts.items():
        if not (folder / split).is_dir():
            encode_split(folder / split, vocabularies, data, pairs, inputs[split], on_progress)
            if pairs.fingerprint() != inputs[split]:
                remove_parts(folder)
                fact = f"the text changed while it was read: {split}"
                raise InputError(fact, "prepare it again when nothing writes to it any more")
        remove_segments(folder / split)
    return open_prepared(folder)


def open_prepared(folder: Path) -> PreparedCorpus:
    """Open and verify a prepared corpus; FolderError if it is damaged or unfinished."""
    data, inputs = read_declared_inputs(folder)
    for split in inputs:
        if not (folder / split).exists():  # the declaration is written first
            hint = "wait for the command that prepares it, or repeat it to finish it"
            raise FolderError(f"is not prepared to its end: {split} is missing", hint, file=folder)
    vocabularies = read_vocabularies_in(folder, data)
    stores = {}
    for split, fingerprint in inputs.items():
        stores[split] = Store.open(folder / split)
        stores[split].require_provenance(build_provenance({split: fingerprint}, vocabularies, data))
        require_sizes(stores[split], vocabularies, data)
    return PreparedCorpus(folder, data, vocabularies, stores["train"], stores.get("dev"))


def require_sizes(store: Store, vocabularies: Vocabularies, data: Data) -> None:
    """Raise FolderError if a store's sizes do not match its vocabularies and settings."""
    file = store.folder / MANIFEST
    parse_data_facts(store.about, file)
    found, wanted = store.about["symbols"], dict(zip(SIDES, map(len, vocabularies), strict=True))
    require_consistent(found == wanted, file, f"symbols {wanted}", str(found))
    longest = int(max(store.source_lengths.max(), store.target_lengths.max()))
    expected = f"sentences of at most {data.max_length:,} ids"
    require_consistent(longest <= data.max_length, file, expected, f"{longest:,}")


def require_prepared_for(prepared: PreparedCorpus, data: Data) -> None:
    """Refuse a corpus of other data settings; names, update sizes and text changes may differ."""
    fact = describe_other_settings(prepared.data, data)
    hint = "prepare it anew, or change these settings of the recipe"
    if fact:
        raise InputError(fact, hint, file=prepared.folder)


def describe_other_settings(
    prepared: Data, wanted: Data, free: Collection[str] = (*READING, *NAMES)
) -> str:
    """Return a sentence on the first data setting, not in `free`, that differs; "" if none does.

    Settings in `free` may differ: by default names, and how a store is read.
    """
    found, ours = (
        {name: one for name, one in dataclasses.asdict(data).items() if name not in free}
        for data in (prepared, wanted)
    )
    differ = (
        f"was prepared with data.{name} = {found[name]}, the recipe says {ours[name]}"
        for name in ours
        if ours[name] != found[name]
    )
    return next(differ, "")


def describe_other_inputs(
    known: Mapping[str, str], texts: Mapping[str, Pairs], settings: str
) -> str:
    """Return a sentence on why inputs differ: other files, else `settings`, else their division.

    `known` has the corpus' fingerprints by split; `settings` is a sentence on a setting, or "".
    """
    names = [
        name
        for split, text in texts.items()
        if split in known
        for name, digest in hash_parts(find_whole_text(text))
        if digest.partition(" ")[0] not in known[split]
    ]
    if names:
        return f"was prepared from another text than {' and '.join(dict.fromkeys(names))}"
    if settings:
        return settings
    if known.keys() != texts.keys():
        return f"was prepared {'with' if 'dev' in known else 'without'} a development set"
    return "was prepared from the same files, but divided, mixed or read by other columns"


def write_or_check_inputs(
    folder: Path, data: Data, inputs: Mapping[str, str], texts: Mapping[str, Pairs]
) -> Data:
    """Write a corpus folder's settings and fingerprints, or check those in it; return settings.

    A finished folder with other settings or texts is refused. An unfinished one is emptied, because
    the user has corrected the settings or texts.
    """
    require_corpus_folder(folder)
    if (folder / INPUTS_FILE).exists():
        stored, known = read_declared_inputs(folder)
        # the settings CHANGES must agree, too, because vocabularies are learned from changed text
        other = describe_other_settings(stored, data, {*READING, *NAMES} - {*CHANGES})
        if not other and known == dict(inputs):
            return stored
        if is_prepared(folder):
            fact = describe_other_inputs(known, texts, other)
            raise InputError(fact, choose_other_hint(folder), file=folder)
        remove_parts(folder)
    ensure_folder(folder)
    intent = {"data": dataclasses.asdict(data), "inputs": dict(inputs)}
    write_atomically(folder / INPUTS_FILE, to_checksummed_json(intent))
    return data


def choose_other_hint(folder: Path) -> str:
    """Return what to do about a folder with another corpus; a run's is not to be deleted."""
    is_of_run = folder.name == STORE and is_run(folder.parent)
    return GO_ON if is_of_run else OTHER_FOLDER


def is_prepared(folder: Path) -> bool:
    """Return whether a corpus folder has all that it declares: its preparation has ended."""
    if not (folder / INPUTS_FILE).exists():
        return False
    data, inputs = read_declared_inputs(folder)
    parts = (*vocabulary_file_names(shared=data.shared_vocabulary), *inputs)
    return all((folder / part).exists() for part in parts)


def require_corpus_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but a prepared corpus."""
    require_own_folder(folder, INPUTS_FILE, ("lock",), "prepared corpus", INPUTS_FILE)


def remove_parts(folder: Path) -> None:
    """Delete the parts of a prepared corpus, and last the record of its inputs."""
    for split in ("train", "dev"):
        remove_segments(folder / split)
        if (folder / split).is_dir():
            remove_folder(folder / split)
    for name in (SHARED, SOURCE, TARGET, LEXICON, INPUTS_FILE):
        (folder / name).unlink(missing_ok=True)


def read_declared_inputs(folder: Path) -> tuple[Data, dict[str, str]]:
    """Return a corpus folder's data settings and text fingerprints; FolderError if unusable."""
    file, hint = folder / INPUTS_FILE, "`transduce prepare` makes one"
    require_folder(folder, hint)
    if not file.exists():
        raise FolderError("is no prepared corpus", hint, file=folder)
    values = from_checksummed_json(read_regular(file, 1 << 20), file)
    try:
        data, inputs = parse_record(Data, values.get("data")), values.get("inputs")
    except (ValueError, InputError) as error:
        fact = f"is not as it was written: {error}"
        raise FolderError(fact, "delete the folder and prepare it again", file=file) from error
    match inputs:
        case {"train": str(train), **more} if all(
            name == "dev" and isinstance(value, str) for name, value in more.items()
        ):
            return data, {"train": train, **cast("dict[str, str]", more)}
    fact = "names no training text, or a text other than train and dev"
    raise FolderError(fact, "delete the folder and prepare it again", file=file)


def write_vocabularies(folder: Path, vocabularies: Vocabularies) -> None:
    """Write vocabularies into a corpus folder; refuse a folder that already has different ones."""
    for name, content in vocabularies.files().items():
        if not (folder / name).exists():
            write_atomically(folder / name, content)
        elif read_regular(folder / name, MOST_VOCABULARY_BYTES) != content:
            fact = "was prepared with a vocabulary of its own"
            raise InputError(fact, choose_other_hint(folder), file=folder)


def learn_vocabularies(
    folder: Path, data: Data, train: Pairs, on_progress: OnProgress
) -> Vocabularies:
    """Return a corpus folder's vocabularies; missing ones are learned from the text and stored."""
    for side, name in enumerate(vocabulary_file_names(shared=data.shared_vocabulary)):
        if not (folder / name).exists():
            vocabulary = learn_side(train, data, side, on_progress)
            write_atomically(folder / name, vocabulary.to_bytes())
    list_tagged_words = find_task_kind(data).list_tagged_words
    if list_tagged_words is not None and not (folder / LEXICON).exists():
        pairs = read_kept_pairs(train, data, on_progress)
        lexicon = learn_tag_lexicon(list_tagged_words(target) for _, target in pairs)
        write_atomically(folder / LEXICON, lexicon.to_bytes())
    return read_vocabularies_in(folder, data)


def learn_side(train: Pairs, data: Data, side: int, on_progress: OnProgress) -> Vocabulary:
    """Learn and return the vocabulary of source (side 0) or target (1), or both if shared."""
    require_learnable_vocabulary(data)
    kind = find_task_kind(data)
    symbols = kind.target_symbols
    if side == 1 and symbols is not None:
        targets = (target for _, target in read_kept_pairs(train, data, on_progress))
        checked = kind.check_targets(data, targets)
        return learn_closed_list(symbols(data, target) for target in checked)
    lines = read_side(train, data, side, on_progress)
    return learn_vocabulary(lines, data.vocabulary_size, data.vocabulary)


def require_learnable_vocabulary(data: Data) -> None:
    """Refuse to learn a SentencePiece vocabulary, or one of words from untokenised text."""
    require(
        data.vocabulary != "word" or find_task_kind(data).is_tokenised,
        f"a vocabulary of words needs tokenised text, which {data.task} does not have",
        "--set data.vocabulary=byte-pair",
    )
    require(
        data.vocabulary != "sentencepiece",
        "a SentencePiece vocabulary is imported with its model, and not learned",
        "--from MODEL goes on from an imported model; or --set data.vocabulary=byte-pair",
    )


def read_side(train: Pairs, data: Data, side: int, on_progress: OnProgress) -> Iterator[str]:
    """Yield the lines that a vocabulary is learned from: one side's, or both sides' if shared.

    Pairs are changed (to capitals, say) as in training; else changed text would be split into
    short pieces.
    """
    text = find_task_kind(data).source_text
    for number, pair in enumerate(read_kept_pairs(train, data, on_progress)):
        if data.has_changed_pairs:
            pair = change_pair(pair, draw_changes(data, f"vocabulary {number}"), data)
        yield from map(text, pair if data.shared_vocabulary else pair[side : side + 1])


def read_kept_pairs(pairs: Pairs, data: Data, on_progress: OnProgress) -> Iterator[Pair]:
    """Yield the cleaned training pairs that a vocabulary is learned from."""
    cleaner = Cleaner(data, find_task_kind(data).normalise)
    kept = clean_text(cleaner, pairs, data.max_pairs)
    for number, pair in enumerate(kept, start=1):
        yield pair
        if number % 10_000 == 0:
            on_progress("learning the vocabulary", number)


def encode_split(
    folder: Path,
    vocabularies: Vocabularies,
    data: Data,
    pairs: Pairs,
    fingerprint: str,
    on_progress: OnProgress,
) -> None:
    """Clean the pairs of one split, encode them as ids, and write them to the split's store."""
    rules = data if folder.name == "train" else build_dev_settings(data)
    cleaner = Cleaner(rules, find_task_kind(data).normalise)
    build_store(
        folder,
        clean_texts(cleaner, pairs, data.max_pairs if folder.name == "train" else 0),
        build_task(data, vocabularies),
        data,
        inputs={folder.name: fingerprint},
        cleaning=lambda: dataclasses.asdict(cleaner.report),
        shares=[text.share for text in find_mixture(pairs)],
        keeps_texts=folder.name != "train",
        progress=lambda read: on_progress(f"encoding {folder.name}", read),
    )


def read_vocabularies_in(folder: Path, data: Data) -> Vocabularies:
    """Return the source and target vocabularies in a corpus folder; a shared one is one object."""
    return read_vocabularies(
        folder,
        lambda name: read_regular(folder / name, MOST_VOCABULARY_BYTES),
        shared=data.shared_vocabulary,
        has_lexicon=find_task_kind(data).list_tagged_words is not None,
    )


def build_feed(
    recipe: Recipe,
    prepared: PreparedCorpus,
    limit: int,
    known_ends: Sequence[int] = (),
    on_epoch: Callable[[Sequence[int]], None] = ignore_event,
) -> "Feed":
    """Return a run's micro-batches of at most `limit` tokens, with the recipe's text changes.

    `Plan` says what the last two arguments are.
    """
    from transduce.corpus.feed import Augmentation, Feed  # imports torch
    from transduce.corpus.plan import Plan

    store, data, seed = prepared.train, recipe.data, recipe.training.seed
    augmentation = None
    if data.has_changed_pairs:
        encoder = build_task(data, prepared.vocabularies)
        augmentation = Augmentation(store, encoder, data, seed)
    plan = Plan(
        store.source_lengths,
        store.target_lengths,
        source_tokens=data.source_tokens,
        target_tokens=data.target_tokens,
        seed=seed,
        mixture=store.mixture,
        measure=augmentation and augmentation.measure,
        known_ends=known_ends,
        on_epoch=on_epoch,
    )
    return Feed(store, plan, limit, augmentation)
