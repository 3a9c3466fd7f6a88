"""The names in a run's recipe: of its corpus, of its languages, and of the recipe itself

A recipe names the text that it was made for. Other text is another corpus, perhaps in other
languages. The languages are taken from the files' names, guessed from the text if a detector is
installed, or left open, and a sentence tells the user.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from transduce.datasets.languages import SHORT_CODES, shorten_code
from transduce.datasets.penn import has_penn_sections
from transduce.errors import short_repr
from transduce.recipes.catalogue import RECIPES, find_original_name
from transduce.runs.development import find_whole_text
from transduce.runs.prepared_corpus import NAMES
from transduce.runs.texts import FilePair, GeneratedCorpus, MixedPairs, Pairs, TaskFiles, hash_parts
from transduce.settings import Data, Recipe
from transduce.settings.data import OWN, UNNAMED
from transduce.settings.fields import require
from transduce.settings.recipe import TITLE, UNSHOWN, Value, build_title, shorten_name, with_changes
from transduce.tasks import find_task_kind
from transduce.text.files import FEWEST_LINES, describe_records, read_lines
from transduce.text.languages import (
    FORM,
    NO_LANGUAGE,
    SAMPLE_CHARACTERS,
    SAMPLE_LINES,
    SURE,
    can_detect_languages,
    find_wrong_side,
    is_language_code,
    rank_languages,
    read_primary_code,
)
from transduce.text.pair_files import detect_languages

FITTED = "fitted"  # the name of a recipe that was chosen to fit a text, until it has a title
GUESSED = "the languages were guessed from the text by py3langid"
TEXT_NAMES = CORPUS, *LANGUAGES = [f"data.{name}" for name in NAMES]  # paths of settings
KNOWN = {*SHORT_CODES, *SHORT_CODES.values()}
SIDE = re.compile(r"(?:.*[-_](?=..\Z))?([a-z]{2,3})")  # a part of a name such as en, eng, train_en
BOTH = re.compile(r"(?:.*[-_])?([a-z]{2,3})[-_]([a-z]{2,3})")  # en-fr, tatoeba-en-fr
QUOTED = re.compile('".*"')
SAMPLE_PAIRS = 500  # pairs read to guess a text's languages
LONGEST_NAME = 100


def name_text(
    recipe: Recipe,
    text: Pairs,
    corpus: str | None,
    settings: Mapping[str, Value],
    inherited: tuple[str, str] = UNNAMED,
) -> tuple[Recipe, list[str]]:
    """Return a recipe that names the text's corpus and languages, and sentences on these names.

    `corpus` is the name of the public or generated corpus that the text was read from; None for the
    user's own text. Names that the caller's `settings` set are kept, and not reported. A language
    that nothing names is the `inherited` one, of a parent model or in the names of a development
    set's files, unless a guess contradicts.
    """
    text = find_whole_text(text)
    if isinstance(text, GeneratedCorpus):
        corpus = text.corpus
    gold = text.main if isinstance(text, MixedPairs) else text
    if isinstance(gold, TaskFiles) and gold.path.is_dir() and has_penn_sections(gold.path):
        corpus = recipe.data.corpus if recipe.data.corpus.startswith("wsj") else "wsj"
    if corpus is not None:
        recipe = with_names(recipe, {CORPUS: corpus}, settings)
        return (give_title(recipe) if recipe.name == FITTED else recipe), []
    has_languages = find_task_kind(recipe.data).has_languages
    languages = find_languages(recipe, text, settings) if has_languages else UNNAMED
    is_guessed = has_languages and can_detect_languages()
    guesses = guess_languages(text, languages) if is_guessed else languages
    filled = tuple(
        (theirs or ours) if ours in UNNAMED else ours
        for ours, theirs in zip(languages, inherited, strict=True)
    )
    if guesses == languages or list_primary(guesses) == list_primary(filled):
        languages = guesses = filled[0], filled[1]
    names = {CORPUS: describe_text(text), **dict(zip(LANGUAGES, guesses, strict=True))}
    because = [recipe.because, GUESSED if guesses != languages else ""]
    recipe = with_names(recipe, names, settings)
    recipe = replace(recipe, because=" · ".join(filter(None, because)))
    said = [describe_languages(recipe.data, are_guessed=guesses != languages)]
    if {*LANGUAGES} <= {*settings} or not has_languages:
        named, chosen = read_languages(text), recipe.data.languages
        swapped = f"the files' names say {' to '.join(named)}, the options {' to '.join(chosen)}"
        said = [swapped] if named == chosen[::-1] else []
    records = [*warn_of_records(text)]
    wrong = records or warn_of_wrong_sides(text, recipe.data)
    return give_title(recipe), [*said, *wrong, *warn_of_other_languages(text)]


def warn_of_records(text: Pairs) -> Iterator[str]:
    """Yield a warning for each file named as a side of a text but written as records or pairs.

    Warn also of a file of pairs whose sides are all in quotes, as spreadsheets write them.
    """
    for one in [each.pairs for each in text.texts] if isinstance(text, MixedPairs) else [text]:
        for file in (one.source, one.target) if isinstance(one, FilePair) else ():
            if records := describe_records([*islice(read_lines(file), SAMPLE_LINES)]):
                yield f"warning: {file} is no plain text: {records}; --pairs reads pairs"
        if isinstance(one, TaskFiles) and one.kind.is_text:
            sides = [side for pair in islice(one.read(), SAMPLE_LINES) for side in pair]
            if len(sides) >= FEWEST_LINES and all(QUOTED.fullmatch(side) for side in sides):
                fact = f"each side in {one.path} stands in quotes, which are learned as text"
                yield f"warning: {fact}; in a file named .csv they are none"


def warn_of_wrong_sides(text: Pairs, data: Data) -> Iterator[str]:
    """Yield a warning for each text with a side that is surely not in the language in `data`."""
    languages, texts = (data.source_language, data.target_language), {"": text}
    if isinstance(text, MixedPairs):
        texts = {f" of {one.share.name}": one.pairs for one in text.texts}
    for place, pairs in texts.items() if find_task_kind(data).is_text else ():
        sides = zip(*islice(pairs.read(), SAMPLE_LINES), strict=True)
        named = dict(zip((f"source{place}", f"target{place}"), sides, strict=False))
        if found := find_wrong_side(languages, named):
            yield f"warning: {found}; are the sides exchanged? --languages en-fr names others"


def warn_of_other_languages(text: Pairs) -> Iterator[str]:
    """Yield a warning for each mixed text in other languages than the first, by its file names."""
    languages = read_languages(text)
    for one in text.texts[1:] if isinstance(text, MixedPairs) and all(languages) else ():
        named = read_languages(one.pairs)
        if all(named) and list_primary(named) != list_primary(languages):
            yield (
                f"warning: {one.share.name} is {' to '.join(named)}, and the first text is "
                f"{' to '.join(languages)}"
            )


def list_primary(languages: Iterable[str]) -> list[str]:
    """Return the first parts of languages' codes, such as "pt" for "pt-BR"."""
    return [*map(read_primary_code, languages)]


def with_names(recipe: Recipe, names: Mapping[str, Value], settings: Mapping[str, Value]) -> Recipe:
    """Return a recipe with `names` (values by path), except at paths that `settings` set."""
    return with_changes(
        recipe, {path: name for path, name in names.items() if path not in settings}
    )


def list_names(data: Data) -> dict[str, Value]:
    """Return the corpus and languages of `data`, keyed by the paths of their settings."""
    names = (data.corpus, data.source_language, data.target_language)
    return dict(zip(TEXT_NAMES, names, strict=True))


def copy_names(recipe: Recipe, data: Data, settings: Mapping[str, Value]) -> Recipe:
    """Return a recipe with the corpus and language names of `data`, except any in `settings`.

    A recipe without a name of its own gets a title.
    """
    recipe = with_names(recipe, list_names(data), settings)
    has_no_name = recipe.name == FITTED or data.corpus.startswith(OWN)
    return give_title(recipe) if has_no_name else recipe


def keep_names(recipe: Recipe, stored: Recipe, settings: Mapping[str, Value]) -> Recipe:
    """Return a recipe with `stored`'s corpus, languages and name, except those in `settings`.

    The description and its reason are those of `stored`, too. If `stored` has a default name, a new
    title is built; if its name is of the catalogue, the name of `recipe` is kept.
    """
    kept = with_names(recipe, list_names(stored.data), settings)
    kept = replace(kept, about=stored.about, because=stored.because)
    if has_default_name(stored):
        return replace(kept, name=build_title(kept))
    if find_original_name(stored) in RECIPES:  # its name lists the changed settings
        return kept
    return replace(kept, name=stored.name)


def has_default_name(recipe: Recipe) -> bool:
    """Return whether a recipe's name is a default: "fitted", or a title as `give_title` sets it."""
    is_title = TITLE.fullmatch(recipe.name) is not None
    return is_title or find_original_name(recipe) == FITTED


def give_title(recipe: Recipe) -> Recipe:
    """Return a recipe with a catalogue name or "fitted" replaced by languages, layers and updates.

    A name that is neither in the catalogue nor "fitted" is the user's, and stays.
    """
    if find_original_name(recipe) == FITTED:
        return replace(recipe, name=build_title(recipe))
    if find_original_name(recipe) not in RECIPES:
        return recipe
    about = f"{shorten_name(recipe.name)}, on {OWN} text"
    return replace(recipe, name=build_title(recipe), about=about)


def read_name(name: object) -> str:
    """Return the name that a user gives a model; refuse a recipe's name, or too long a name."""
    fact = f"{short_repr(name)} is no name of a model"
    found = " ".join(filter(None, name.split(" "))) if isinstance(name, str) else ""
    usable = 0 < len(found) <= LONGEST_NAME and found.isprintable()
    require(usable, fact, f"at most {LONGEST_NAME} letters, digits and signs")
    origin = found.partition(" ")[0]
    require(
        origin not in {*RECIPES, FITTED},
        f"the name {origin!r} belongs to a recipe",
        "a recipe's name never changes meaning: choose a name of your own",
    )
    return found


def to_language_settings(codes: Sequence[str] | None) -> dict[str, Value]:
    """Return settings for a user's language codes ({} for None); refuse words that are no codes."""
    if codes is None:
        return {}
    fact = f"{short_repr(codes)} does not name a source and a target"
    require(isinstance(codes, tuple | list) and 1 <= len(codes) <= 2, fact, FORM)
    for code in codes:
        fact = f"{short_repr(code)} is no code of a language"
        require(is_language_code(code), fact, FORM)
    return dict(zip(LANGUAGES, codes, strict=False))


def name_languages(recipe: Recipe, codes: Sequence[str]) -> Recipe:
    """Return a recipe with other language codes; refuse too many or too few.

    A task whose outputs are trees or labels has one language, that of the source.
    """
    changes, count = to_language_settings(codes), 1 if has_symbol_outputs(recipe.data) else 2
    what = f"a model for {recipe.data.task} has {'one language' if count == 1 else 'two languages'}"
    form = "--languages en" if count == 1 else FORM
    named = "1 was" if len(changes) == 1 else f"{len(changes)} were"
    require(len(changes) == count, f"{what}, but {named} named", form)
    because = [one for one in recipe.because.split(" · ") if one != GUESSED]
    return replace(with_changes(recipe, changes), because=" · ".join(because))


def rename_corpus_of_new_languages(renamed: Recipe, recipe: Recipe, text: str) -> Recipe:
    """Return `renamed`; if it has new languages, name its corpus "your own: …" and retitle it.

    `recipe` has the former languages, `text` the fingerprint of the training text. A
    generated corpus keeps its name, and so does one whose languages differ only in their variants.
    """
    codes = [list_primary(one.data.languages) for one in (recipe, renamed)]
    corpus = recipe.data.corpus
    is_known = corpus.startswith(OWN) or text.startswith(f"{corpus} ")  # a generated corpus
    if is_known or codes[0] == codes[1]:
        return renamed
    hashes = " and ".join(f"sha256 {part[:12]}" for part in text.split() if len(part) == 64)
    return give_title(with_changes(renamed, {CORPUS: f"{OWN}: {hashes}"}))


def has_symbol_outputs(data: Data) -> bool:
    """Return whether the outputs of a task are symbols, such as trees or labels, and not text."""
    return find_task_kind(data).target_symbols is not None


def describe_text(text: Pairs) -> str:
    """Return a name for a user's own text: its files and the beginnings of their sha256."""
    return f"{OWN}: " + " and ".join(
        f"{UNSHOWN.sub('?', name)}, sha256 {digest[:12]}" for name, digest in hash_parts(text)
    )


def find_languages(recipe: Recipe, text: Pairs, settings: Mapping[str, Value]) -> tuple[str, str]:
    """Return (source, target) languages by settings, file names or the user's recipe, else UNNAMED.

    A recipe of the catalogue names the languages of its own corpus, and nothing about this text.
    """
    stated, default = list_names(recipe.data), list_names(Data())
    is_own = find_original_name(recipe) not in {*RECIPES, FITTED}
    found = []
    for path, named, unnamed in zip(LANGUAGES, read_languages(text), UNNAMED, strict=True):
        is_label = path == LANGUAGES[1] and has_symbol_outputs(recipe.data)  # such as "trees"
        is_stated = is_own and not named and stated[path] != default[path]
        keeps = path in settings or is_label or is_stated
        found.append(str(stated[path]) if keeps else named or unnamed)
    return found[0], found[1]


def read_languages(text: Pairs) -> tuple[str, str]:
    """Return (source, target) languages in file names, such as a.en and a.fr; "" for unknown."""
    match text:
        case MixedPairs():
            return read_languages(text.texts[0].pairs)
        case FilePair():
            source, target = read_language(text.source), read_language(text.target)
            if source != target:
                return source, target
            both = read_language_pair(text.source)
            return both if both == read_language_pair(text.target) else ("", "")
        case TaskFiles() if text.kind.target_symbols is not None:
            return read_language(text.path), ""
        case TaskFiles():
            named = text.columns or ("", "")
            if all(isinstance(name, str) and is_language_code(name) for name in named):
                return str(named[0]), str(named[1])
            known = read_language_pair(text.path)
            return known if any(known) else detect_languages(text.path)
    return "", ""


def read_language(file: Path) -> str:
    """Return the language in a file's name, such as fr in train.fr.gz and train_fr.txt, or ""."""
    for part in reversed(file.name.split(".")):
        if (found := SIDE.fullmatch(part)) and found[1] in KNOWN:
            return shorten_code(found[1])
    return ""


def read_language_pair(file: Path) -> tuple[str, str]:
    """Return both languages in a file's name, such as small.en-fr.tsv, or ("", "")."""
    for part in reversed(file.name.split(".")):
        if (found := BOTH.fullmatch(part)) and {*found.groups()} <= KNOWN:
            source, target = map(shorten_code, found.groups())
            return (source, target) if source != target else ("", "")
    return "", ""


def guess_languages(text: Pairs, languages: tuple[str, str]) -> tuple[str, str]:
    """Return (source, target) languages, unnamed ones replaced by sure guesses from the text.

    Nothing is guessed if both sides would have the same language, or if py3langid cannot unpack its
    tables into the folder for temporary files.
    """
    if not {*languages} & {*UNNAMED}:
        return languages
    sides = zip(*islice(text.read(), SAMPLE_PAIRS), strict=True)
    samples = [" ".join(side)[:SAMPLE_CHARACTERS] for side in sides]
    try:
        found = [rank_languages(sample)[0] for sample in samples]
    except OSError:
        return languages
    guesses = list(languages)
    for side, (code, probability) in enumerate(found):
        if languages[side] in UNNAMED and probability >= SURE and code != NO_LANGUAGE:
            guesses[side] = code
    return (guesses[0], guesses[1]) if len({*guesses}) == 2 else languages


def describe_languages(data: Data, *, are_guessed: bool = False) -> str:
    """Return a sentence on the languages of a text, and how to name others."""
    names = [data.source_language, data.target_language]
    if has_symbol_outputs(data):
        del names[1]
    what, codes = ("languages", "en-fr") if len(names) == 2 else ("language", "en")
    if {*names} & {*UNNAMED}:
        if len(names) == 1:  # that of a tagger or parser, which is neither served nor exported
            return f"the language is not known: --languages {codes} names it"
        name = f"name them with --languages {codes} (`serve` and `export` need them)"
        return f"the languages are not known: {name}"
    if len(names) == 2 and names[0] == names[1]:
        fact = f"warning: the text says that both of its languages are {names[0]}"
        return f"{fact}; if one is another, --languages {codes} names it"
    said = f"{what}: {' to '.join(names)}"
    guess = f", guessed from the text by py3langid; --languages {codes} says otherwise"
    return said + guess if are_guessed else said
