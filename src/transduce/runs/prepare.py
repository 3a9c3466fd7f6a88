"""`transduce.prepare`: clean, encode and store a corpus for training."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from transduce.durable.lock import create_and_lock_folder
from transduce.recipes.choice import find_recipe
from transduce.runs.choice import Texts, choose_recipe, choose_texts, hold_out_like_store
from transduce.runs.prepared_corpus import (
    OnProgress,
    PreparedCorpus,
    prepare_corpus,
    require_corpus_folder,
)
from transduce.runs.text_names import LANGUAGES, list_names, to_language_settings
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, require_changes
from transduce.text.arguments import ignore_event, read_path


def prepare(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: str | PathLike[str],
    train: Texts | None = None,
    dev: Texts | Literal[False] | None = None,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    settings: Mapping[str, Value] | None = None,
    parent: str | PathLike[str] | None = None,
    old: Texts | None = None,
    old_share: float | None = None,
    languages: Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> PreparedCorpus:
    """Clean a parallel text, learn its vocabulary, and store both in a folder; return the corpus.

    `train`, `dev`, `recipe`, `settings`, `languages`, `old` and `old_share` are those of
    `transduce.train`; `transduce.train(..., store=folder)` trains on what this makes. With
    `parent`, a model folder or a run, the text is encoded with that model's vocabularies, for
    trainings that go on from it: `transduce.train(..., store=folder, parent=parent)`. `on_progress`
    is called with a description of the current activity and the number of pairs read, `on_message`
    with sentences on why a recipe was chosen. A second call after an interruption makes only the
    missing parts.

        corpus = transduce.prepare("store", ("a.en", "a.de"), recipe="demo")
    """
    folder = read_path("folder", folder)
    require_corpus_folder(folder)
    report = on_progress or ignore_event
    settings = {} if settings is None else settings
    require_changes(settings)
    changes = {**settings, **to_language_settings(languages)}
    explain = on_message or ignore_event
    named = None if recipe is None else find_recipe(recipe)
    if any(one is not None for one in (parent, old, old_share)):
        from transduce.runs.training_inputs import TrainingInputs, prepare_training

        inputs = TrainingInputs(
            folder=folder,
            recipe=named,
            train=train,
            dev=dev,
            settings={"training.steps": 1, **changes},  # each training has its own schedule
            parent=None if parent is None else read_path("parent", parent),
            old=old,
            old_share=old_share,
            is_corpus_only=True,
        )
        with create_and_lock_folder(folder):
            prepared = prepare_training(inputs, report)
        for reason in prepared.reasons:
            explain(reason)
        return prepared.corpus
    return prepare_store(folder, (train, dev), named, changes, report, explain)


def prepare_store(  # noqa: PLR0913 - the choices of `prepare` and of a sweep
    folder: Path,
    texts: tuple[Texts | None, Texts | Literal[False] | None],
    recipe: Recipe | None,
    settings: Mapping[str, Value],
    on_progress: OnProgress,
    on_message: Callable[[str], None],
    *,
    needs_dev: bool = False,
) -> PreparedCorpus:
    """Prepare a corpus in `folder` for `recipe`, or, if that is None, for one fitted to the text.

    `texts` are the training text and the development set: None for the recipe's corpus, False for
    no development set. If `needs_dev`, texts without a development set are refused.
    """
    require_corpus_folder(folder)
    with create_and_lock_folder(folder):
        chosen = choose_recipe(recipe, texts, settings, folder, on_progress)
        data = chosen.recipe.data
        train, dev = chosen.texts or choose_texts(data, *texts)
        if texts[1] is None:
            train, dev = hold_out_like_store((train, dev), data, folder)
        hint = "--dev-source FILE --dev-target FILE, for example"
        require(dev is not None or not needs_dev, "a sweep compares by a development set", hint)
        for reason in chosen.reasons:
            on_message(reason)
        prepared = prepare_corpus(folder, data, train, dev, on_progress)
        stored = list_names(prepared.data)
        fact = f"was prepared as {' to '.join(prepared.data.languages)}"
        is_same = all(settings.get(path, stored[path]) == stored[path] for path in LANGUAGES)
        require(is_same, f"{folder} {fact}", "`transduce train --languages` names a run's")
        return prepared
