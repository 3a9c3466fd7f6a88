"""Choice of the training text, development set and recipe of a run from a caller's arguments."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import is_public, is_treebank
from transduce.datasets.fetch import find_split_files, find_treebank_file
from transduce.errors import InputError
from transduce.recipes.choice import customise_recipe
from transduce.runs.development import divide_text
from transduce.runs.prepared_corpus import INPUTS_FILE, OnProgress, read_declared_inputs
from transduce.runs.recommend import choose_start_recipe, has_gpu, recommend_recipe
from transduce.runs.text_names import name_text, read_languages
from transduce.runs.texts import (
    GENERATED,
    FilePair,
    GeneratedCorpus,
    InMemoryPairs,
    MixedPairs,
    Pair,
    Pairs,
    TaskFiles,
)
from transduce.settings import Data, Recipe
from transduce.settings.data import CHANGES, UNNAMED
from transduce.settings.fields import require
from transduce.settings.recipe import Value
from transduce.tasks import find_task_kind
from transduce.text.arguments import check_pairs, describe_value, is_pair, read_path
from transduce.text.files import read_lines, read_pairs_tsv
from transduce.text.pair_files import is_exchange_file

PathName = str | PathLike[str]
Texts = Pairs | PathName | tuple[PathName, PathName] | Iterable[Pair]
Opened = tuple[Pairs, Pairs | None]  # a training text and a development set
HELD_OUT_PAIRS = 1_000  # number of pairs in the dev and test splits of a generated corpus
TRAIN_PAIRS = 100_000  # training pairs of a generated corpus if data.max_pairs is 0
PAIRS_HINT = "[('A dog runs.', 'Ein Hund rennt.'), …], or two files: ('a.en', 'a.de')"
KINDS_OF_TEXTS = "a pair of files, a TSV file, pairs of texts or a corpus name"


def choose_texts(data: Data, train: object, dev: object) -> Opened:
    """Return the training text, by default the recipe's corpus, and the development set or None.

    The development set is by default the split "dev" of the training text; if `dev` is False, None.
    """
    is_own = train is not None and find_corpus_name(train) is None
    own_train = open_texts("train", train, data) if is_own else None
    own_dev = None if dev is None or dev is False else open_texts("dev", dev, data)
    if own_train is not None:
        return own_train, None if dev is False else own_dev or find_dev_split(own_train)
    corpus = data.corpus if train is None else str(train)
    found = read_corpus(corpus, "train", data)
    if found is None:
        fact = f"{corpus} is a test set and has no training text"
        raise InputError(fact, "name another corpus: --set data.corpus=NAME")
    return found, None if dev is False else own_dev or read_corpus(corpus, "dev", data)


def open_texts(argument: str, texts: object, data: Data) -> Pairs:
    """Open `texts`: files, a corpus or pairs; refuse others. Errors call it `argument`.

    From a corpus with splits, "dev" and "test" read the split of that name, and any other argument
    reads "train".
    """
    split = argument if argument in ("dev", "test") else "train"
    if isinstance(texts, Pairs):
        return require_texts_of_task(argument, texts, data)
    if corpus := find_corpus_name(texts):
        found = read_corpus(corpus, split, data)
        require(found is not None, f"{argument}: {corpus} has no {split} split")
        assert found is not None
        return found
    if isinstance(texts, str | PathLike):
        files = TaskFiles(read_path(argument, texts), find_task_kind(data), split)
        require_two_columns(argument, files)
        return files
    if is_pair(texts) and all(isinstance(one, str | PathLike) for one in texts):
        return FilePair(*(read_path(argument, side) for side in texts))
    if isinstance(texts, Iterable) and not isinstance(texts, bytes | Mapping):
        return collect_pairs(argument, texts, find_task_kind(data).find_mismatch)
    raise InputError(f"{argument}: {KINDS_OF_TEXTS}, not {describe_value(texts)}")


def require_two_columns(argument: str, texts: TaskFiles) -> None:
    """Raise InputError if a file of tab-separated pairs has no tab in its first line."""
    is_plain = texts.kind.read_file is read_pairs_tsv and not is_exchange_file(texts.path)
    if not is_plain or not texts.path.is_file():
        return
    line = next(read_lines(texts.path), "\t")
    require(
        "\t" in line,
        f"{argument}: {texts.path} has no tab in its first line, and no second file was named",
        f"{argument}=('a.en', 'a.de'), or one file with a source, a tab and a target on each line",
    )


def require_texts_of_task(argument: str, texts: Pairs, data: Data) -> Pairs:
    """Return the texts unchanged; refuse files in the format of a task other than `data.task`."""
    kind = find_task_kind(data)
    if isinstance(texts, TaskFiles) and texts.kind.read_file is not kind.read_file:
        fact = f"{argument}: {texts.path} is for another task, and the recipe is for {data.task}"
        raise InputError(fact, "name a recipe of that task: `transduce recipes` lists them")
    if isinstance(texts, FilePair) and kind.read_test_file is not None:
        fact = f"{argument}: two files of lines are no text for {data.task}"
        raise InputError(fact, kind.options)
    return texts


def find_dev_split(train: Pairs) -> Pairs | None:
    """Return a treebank folder's development split, such as section 22; None if it has none."""
    gold = train.main if isinstance(train, MixedPairs) else train
    if not isinstance(gold, TaskFiles) or not gold.path.is_dir():
        return None
    found = replace(gold, split="dev")
    is_divided = found.list_files() != gold.list_files()  # else the folder has no splits
    return found if is_divided and found.list_files() else None


def collect_pairs(
    argument: str, texts: Iterable[object], find_mismatch: Callable[[str, str], str]
) -> InMemoryPairs:
    """Return texts as `InMemoryPairs`; InputError if there are none, or one does not fit the task.

    `argument` is the argument's name in errors. `find_mismatch` returns what is wrong with a pair,
    or ""; it is not called if the target is empty.
    """
    pairs = []
    for number, (source, target) in enumerate(check_pairs(argument, texts, PAIRS_HINT), start=1):
        mismatch = target and find_mismatch(source, target)
        require(not mismatch, f"{argument}: item {number}: {mismatch}")
        pairs.append((source, target))
    require(bool(pairs), f"{argument}: there are no pairs")
    return InMemoryPairs(tuple(pairs))


def read_corpus(corpus: str, split: str, data: Data) -> Pairs | None:
    """Return a split of a generated or fetched corpus; None if a fetched one has no such split."""
    kind = find_task_kind(data)
    has_lines = corpus in GENERATED or (is_public(corpus) and not is_treebank(corpus))
    fact = f"the corpus {corpus} is no text for {data.task}"
    require(kind.read_test_file is None or not has_lines, fact, kind.options)
    if corpus in GENERATED:
        count = (data.max_pairs or TRAIN_PAIRS) if split == "train" else HELD_OUT_PAIRS
        return GeneratedCorpus(corpus, split, count)
    if is_treebank(corpus):
        file = find_treebank_file(corpus, split, cache_folder())
        return TaskFiles(file, kind, split) if file else None
    if not is_public(corpus):
        raise InputError(f"where does the corpus {corpus} lie?", f"name its files: {kind.options}")
    languages = (data.source_language, data.target_language)
    texts = find_split_files(corpus, split, languages, cache_folder())
    return FilePair(*texts) if texts else None


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """A chosen recipe, the reasons in sentences, and the opened texts (None if none were named)."""

    recipe: Recipe
    reasons: list[str]
    texts: Opened | None = None

    def __post_init__(self) -> None:
        data = self.recipe.data
        changes = [name for name in CHANGES if getattr(data, name)]
        fact = f"data.{', data.'.join(changes)} would change text, and data.task is {data.task}"
        is_translation = find_task_kind(data).sides == ("", "")
        require(not changes or is_translation, fact, "leave them out; they are for translation")


def choose_recipe(
    recipe: Recipe | None,
    texts: tuple[object, object],
    settings: Mapping[str, Value],
    store: Path,
    on_progress: OnProgress,
) -> Choice:
    """Return the caller's recipe or one fitted to the texts, the reasons, and the opened texts.

    `texts` are the training text and the development set. If a recipe is fitted, and there is no
    development set, pairs are held out of the training text, unless the folder `store` holds a
    corpus prepared from the whole text.
    """
    train, dev = texts
    require_recipe_or_text(recipe, train)
    reasons, notes = list[str](), list[str]()
    if recipe is not None:
        recipe = customise_recipe(recipe, settings)
        if train is None:
            return Choice(recipe=recipe, reasons=[])
        opened = choose_texts(recipe.data, train, dev)
    else:
        _, start = choose_start_recipe(train, settings)
        opened = choose_texts(start.data, train, dev)
        if dev is None:
            opened, notes = hold_out(opened, start.data, store)
        recipe, reasons = recommend_recipe(
            opened[0], settings, has_gpu=has_gpu(), on_progress=on_progress
        )
    inherited = read_languages(opened[1]) if opened[1] else UNNAMED
    recipe, sentences = name_text(recipe, opened[0], find_corpus_name(train), settings, inherited)
    return Choice(recipe=recipe, reasons=[*reasons, *sentences, *notes], texts=opened)


def require_recipe_or_text(recipe: Recipe | None, train: object) -> None:
    """Refuse to train or prepare if neither a recipe nor a text was named."""
    require(
        recipe is not None or train is not None,
        "neither a recipe nor a text was named",
        "name a recipe, or --source FILE --target FILE; `transduce recipes` lists recipes",
    )


def hold_out(texts: Opened, data: Data, store: Path) -> tuple[Opened, list[str]]:
    """Hold out a development set if none is given; return the texts and a list of 0 or 1 notes.

    The list is empty if no pairs are held out. A text stays whole if it has too few pairs, or if
    the corpus in `store` was made of all of it.
    """
    train, dev = texts
    if dev is not None:
        return texts, []
    stored = read_inputs(store)
    part, held_out = divide_text(train, data)
    is_whole = stored is not None and stored == {"train": train.fingerprint()}
    if is_whole or not part.division.held_out:
        return texts, []
    items = find_task_kind(data).count(sum(part.division.held_out.values()))
    told = f"no development set was named, so {items} are held out"
    return (part, held_out), [f"{told}; --no-dev trains on them too"]


def hold_out_like_store(texts: Opened, data: Data, store: Path, begun: str | None = None) -> Opened:
    """Return the texts, with pairs held out if they were held out of the corpus in `store`.

    If there is no such corpus, `begun` is the fingerprint of the text that a run was begun on.
    """
    stored = read_inputs(store)
    if texts[1] is not None or (stored is None and begun is None):
        return texts
    part, held_out = divide_text(texts[0], data)
    parts = {"train": part.fingerprint(), "dev": held_out.fingerprint()}
    was_divided = parts["train"] == begun if stored is None else stored == parts
    return (part, held_out) if was_divided else texts


def read_inputs(store: Path) -> dict[str, str] | None:
    """Return the fingerprints of "train" and "dev" in a prepared corpus; None if there is none."""
    return read_declared_inputs(store)[1] if (store / INPUTS_FILE).exists() else None


def find_corpus_name(texts: object) -> str | None:
    """Return `texts` if they name a generated or public corpus, or None for any other value."""
    if not isinstance(texts, str):
        return None
    return texts if texts in GENERATED or is_public(texts) or is_treebank(texts) else None
