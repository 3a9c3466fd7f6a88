"""Choose the recipe of a training and prepare its corpus, from the caller's arguments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

from transduce.checkpoint.run_file import is_run, read_run
from transduce.checkpoint.stored_model import StoredModel
from transduce.corpus.store import read_data_facts
from transduce.errors import InputError
from transduce.recipes.choice import customise_recipe
from transduce.runs.adapt import choose_adaptation, mix_old_pairs, read_parent, require_same_parent
from transduce.runs.choice import (
    Choice,
    Opened,
    choose_recipe,
    choose_texts,
    find_corpus_name,
    hold_out,
    hold_out_like_store,
    open_texts,
)
from transduce.runs.duration import fit_to_minutes, require_minutes
from transduce.runs.machine_settings import require_trainable
from transduce.runs.prepared_corpus import (
    STORE,
    OnProgress,
    PreparedCorpus,
    is_prepared,
    open_prepared,
    prepare_corpus,
    require_prepared_for,
)
from transduce.runs.recommend import recommend_for_corpus
from transduce.runs.text_names import (
    copy_names,
    describe_languages,
    has_default_name,
    keep_names,
    list_primary,
    name_languages,
    name_text,
    read_name,
    to_language_settings,
)
from transduce.runs.texts import Pairs
from transduce.settings import Data, Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, build_title
from transduce.training.distributed.rank import ProcessRank

# settings that a training without a development set does not read
OF_VALIDATION = [f"training.{name}" for name in ("validate_every", "validate_lines", "patience")]


@final
@dataclass(frozen=True, kw_only=True)
class TrainingInputs:
    """All arguments of a training as its caller gave them; its texts need not be open yet."""

    folder: Path
    recipe: Recipe | None = None
    train: object = None  # a text of any kind that `open_texts` accepts
    dev: object = None  # False: no development set; None: the default one, if there is one
    store: Path | None = None  # the folder of a prepared corpus
    settings: Mapping[str, Value] = field(default_factory=dict)
    parent: Path | None = None  # the folder of a model to go on from
    old: object = None  # text to mix into the new one, so that the parent's skills are kept
    languages: Sequence[str] | None = None  # codes of source and target; by default detected
    name: str | None = None  # what the model is called; by default a title or the recipe's name
    minutes: float | None = None  # how long a new run without a recipe may take
    rank: ProcessRank = field(default_factory=ProcessRank)  # the rank of this process
    old_share: float | None = None  # share of old pairs among all pairs read; by default 0.5
    is_corpus_only: bool = False  # whether `folder` is for the corpus alone, and nothing is trained

    @property
    def own_store(self) -> Path:
        """The folder of a corpus that is prepared from these texts."""
        return self.folder if self.is_corpus_only else self.folder / STORE


@final
@dataclass(frozen=True, kw_only=True)
class PreparedTraining:
    """A chosen recipe with reasons, a prepared corpus and any parent, ready for training."""

    recipe: Recipe
    reasons: list[str]  # sentences on what was chosen, guessed or held out, and warnings
    corpus: PreparedCorpus
    is_new_corpus: bool
    parent: StoredModel | None = None  # the model whose weights the run begins with


def prepare_training(inputs: TrainingInputs, on_progress: OnProgress) -> PreparedTraining:
    """Choose the recipe of a training, and prepare its corpus or open a prepared one."""
    inputs = replace(inputs, settings={**inputs.settings, **to_language_settings(inputs.languages)})
    require_consistent_inputs(inputs)
    is_begun = is_run(inputs.folder)
    require(
        inputs.minutes is None or is_begun or (inputs.recipe is None and inputs.parent is None),
        "the minutes decide sizes and updates, and so does a recipe or a model to go on from",
        "leave out one, or set the updates: --set training.steps=2000",
    )
    if inputs.minutes is not None:
        require_minutes(inputs.minutes)
    prepared = choose_and_prepare(inputs, on_progress)
    if inputs.minutes is None:
        return prepared
    if is_begun:
        kept = "the run keeps its sizes and updates: minutes shape a new run, in another folder"
        return replace(prepared, reasons=[*prepared.reasons, kept])
    recipe, told = fit_to_minutes(
        prepared.recipe, prepared.corpus, inputs.minutes, inputs.settings, inputs.rank
    )
    if has_default_name(recipe):  # a title contains the number of updates
        recipe = replace(recipe, name=build_title(recipe))
    return replace(prepared, recipe=recipe, reasons=[*prepared.reasons, told])


def choose_and_prepare(inputs: TrainingInputs, on_progress: OnProgress) -> PreparedTraining:
    """Choose a training's recipe, without regard to `minutes`; open or prepare its corpus."""
    parent = None if inputs.parent is None else read_parent(inputs.parent, inputs.folder)
    known = None if inputs.store is None else open_prepared(inputs.store)
    fact = f"{inputs.store} has a development set, and none is wanted"
    is_ignored = known is not None and known.dev is not None and inputs.dev is False
    require(not is_ignored, fact, "leave out --no-dev, or prepare the corpus with it")
    if is_run(inputs.folder):
        chosen = choose_stored_recipe(inputs, parent)
    elif parent is not None:
        chosen = choose_adapted_recipe(inputs, parent, known, on_progress)
    else:
        chosen = choose_new_recipe(inputs, known, on_progress)
    recipe = chosen.recipe
    if inputs.languages is not None:
        recipe = name_languages(recipe, inputs.languages)
    if inputs.name is not None:
        recipe = replace(recipe, name=read_name(inputs.name))
    if not inputs.is_corpus_only:  # refuse before the corpus is prepared
        require_trainable(recipe, inputs.rank.local_size)
    is_new = known is None and not (inputs.own_store / "train").is_dir()
    if known is not None:
        require_prepared_for(known, recipe.data)
    corpus = known or open_or_prepare(inputs, recipe.data, on_progress, chosen.texts, parent)
    reasons = [*chosen.reasons, *warn_of_no_validation(inputs, corpus)]
    return PreparedTraining(
        recipe=recipe, reasons=reasons, corpus=corpus, is_new_corpus=is_new, parent=parent
    )


def warn_of_no_validation(inputs: TrainingInputs, corpus: PreparedCorpus) -> Iterator[str]:
    """Yield a warning if a new run changes validation settings, but has no development set."""
    unused = sorted({*OF_VALIDATION} & {*inputs.settings})
    if unused and corpus.dev is None and not is_run(inputs.folder):
        verb = "changes" if len(unused) == 1 else "change"
        yield f"warning: without a development set {' and '.join(unused)} {verb} nothing"


def choose_stored_recipe(inputs: TrainingInputs, parent: StoredModel | None) -> Choice:
    """Return a begun run's recipe, or the named one; refuse another parent than the run's."""
    run, settings = read_run(inputs.folder), inputs.settings
    require_same_parent(inputs.folder, run, parent)
    recipe = customise_recipe(inputs.recipe or run.recipe, settings)
    return Choice(recipe=keep_names(recipe, run.recipe, settings), reasons=[])


def choose_new_recipe(
    inputs: TrainingInputs, known: PreparedCorpus | None, on_progress: OnProgress
) -> Choice:
    """Return the recipe of a new run: a named one, or one that fits corpus or texts."""
    recipe, settings = inputs.recipe, inputs.settings
    if known is None:
        texts = (inputs.train, inputs.dev)
        return choose_recipe(recipe, texts, settings, inputs.own_store, on_progress)
    reasons = list[str]()
    if recipe is None:
        recipe, reasons = recommend_for_corpus(known, settings)
    recipe = copy_names(customise_recipe(recipe, settings), known.data, settings)
    return Choice(recipe=recipe, reasons=[*reasons, describe_languages(recipe.data)])


def choose_adapted_recipe(
    inputs: TrainingInputs,
    parent: StoredModel,
    known: PreparedCorpus | None,
    on_progress: OnProgress,
) -> Choice:
    """Choose the recipe of a new run that continues from a parent model, and open its texts."""
    start = inputs.recipe or parent.recipe
    texts = None if inputs.train is None else open_new_and_old(inputs, start.data)
    train = known if texts is None else texts[0]
    assert train is not None
    recipe, reasons = choose_adaptation(
        parent,
        inputs.recipe,
        train,
        inputs.settings,
        on_progress,
        is_corpus_only=inputs.is_corpus_only,
    )
    if texts is not None:
        corpus_name = find_corpus_name(inputs.train)
        before = parent.recipe.data
        languages = before.source_language, before.target_language
        recipe, told = name_text(recipe, texts[0], corpus_name, inputs.settings, languages)
        reasons = [*reasons, *told]
        if inputs.dev is None and inputs.recipe is None:
            texts, told = hold_out(texts, recipe.data, inputs.own_store)
            reasons += told
    elif known is not None:
        recipe = copy_names(recipe, known.data, inputs.settings)
    ours, theirs = recipe.data.languages, parent.recipe.data.languages
    if len(ours) == len(theirs) and list_primary(ours) != list_primary(theirs):
        reasons.append(
            f"warning: {parent.folder} translates {' to '.join(theirs)}, and the new text is "
            f"{' to '.join(ours)}: it will forget its own languages"
        )
    return Choice(recipe=recipe, reasons=reasons, texts=texts)


def require_consistent_inputs(inputs: TrainingInputs) -> None:
    """Refuse texts beside a prepared corpus, and arguments without the others that they need."""
    texts = (inputs.train, None if inputs.dev is False else inputs.dev, inputs.old)
    is_one = inputs.store is None or all(text is None for text in texts)
    require(is_one, "texts and a prepared corpus were named", "leave out one of them")
    require(
        inputs.old is None or (inputs.parent is not None and inputs.train is not None),
        "old text is mixed into new text when a trained model goes on",
        "name the model and the new text: --from MODEL, --pairs FILE",
    )
    require(
        inputs.parent is None
        or any(one is not None for one in (inputs.train, inputs.store))
        or is_run(inputs.folder),
        "a model goes on with new text, and none was named",
        "--pairs FILE, or --source FILE --target FILE",
    )
    require(
        inputs.old is not None or inputs.old_share is None,
        "a share of old text was named, but no old text",
        "--old-pairs FILE",
    )


def open_new_and_old(inputs: TrainingInputs, data: Data) -> Opened:
    """Open the new text, with any old text mixed in, and the development set."""
    train, dev = choose_texts(data, inputs.train, inputs.dev)
    if inputs.old is None:
        return train, dev
    share = 0.5 if inputs.old_share is None else inputs.old_share
    return mix_old_pairs(train, open_texts("old", inputs.old, data), share), dev


def require_same_text(run: Path, text: Pairs) -> None:
    """Refuse a training text other than the run's, before a corpus is prepared in the run."""
    if text.fingerprint() != read_data_facts(run).inputs["train"]:
        hint = "name that text, or choose another folder"
        raise InputError("this run was begun on another text", hint, file=run)


def open_or_prepare(
    inputs: TrainingInputs,
    data: Data,
    on_progress: OnProgress,
    given: Opened | None,
    parent: StoredModel | None,
) -> PreparedCorpus:
    """Open or prepare the corpus of a training whose caller named no prepared one; return it.

    `given` are the training text and the development set, if they are open already. With a
    `parent`, texts are encoded with the parent's vocabularies.
    """
    own = inputs.own_store
    if is_run(inputs.folder) and own.is_dir() and inputs.train is None and not inputs.dev:
        prepared = open_prepared(own)
        is_kept = inputs.dev is None or prepared.dev is None
        require(is_kept, f"{inputs.folder} has a development set", "leave out --no-dev")
        return prepared
    texts = given or open_new_and_old(inputs, data)
    if inputs.dev is None:
        begun = read_data_facts(inputs.folder).inputs["train"] if is_run(inputs.folder) else None
        texts = hold_out_like_store(texts, data, own, begun)
    if is_run(inputs.folder) and not is_prepared(own):
        require_same_text(inputs.folder, texts[0])
    vocabularies = None if parent is None else parent.vocabularies
    return prepare_corpus(own, data, *texts, on_progress, vocabularies)
