"""`transduce.evaluate`: translations of a test set, their scores, and the references' perplexity

A test set is files of lines, files in a task's format, or a fetched corpus. For tagging, a baseline
gives every token its most frequent label in a training text. For text, contrasts show what makes
translations worse: the source takes another form, such as upper case, and so does the reference if
a translation should keep the form. The scores are compared with those of the plain test set.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, final

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import find_corpus, is_treebank
from transduce.datasets.fetch import (
    find_split_files,
    find_treebank_file,
    open_fetched,
    read_splits,
)
from transduce.errors import InputError, suggest_names
from transduce.inference.load import describe_precision, load
from transduce.inference.pairs import TOKENS, number_pairs, require_matches, target_log_probs
from transduce.inference.translator import Translator
from transduce.machine.environment import describe_environment
from transduce.runs.development import are_sides_swapped
from transduce.scores.metrics import METRICS, WITHOUT_BLANKS
from transduce.scores.score import Perplexity, Score, format_scores
from transduce.scores.scoring import (
    compute_score,
    require_language,
    require_scorable,
    shorten_language,
    warn_of_mixed_forms,
)
from transduce.settings import Data
from transduce.settings.data import CHANGES
from transduce.settings.fields import require, require_flag
from transduce.tasks import TextToText, find_task_kind, require_task
from transduce.tasks.tagging import Tagging, read_tagged_pairs
from transduce.text.arguments import (
    Text,
    check_lines,
    read_text,
    require_equal_lines,
    require_lines,
)
from transduce.text.changes import CHANGE
from transduce.text.languages import (
    find_other_language,
    find_wrong_side,
    is_language_code,
    to_detected_code,
)
from transduce.text.pair_files import (
    NO_PAIR,
    PAIR_FILES,
    choose_main_codes,
    find_suffix,
    is_memory,
    read_pair_file,
)
from transduce.text.words import split_words
from transduce.vocabulary.tag_lexicon import find_most_frequent

SWAPPED = (
    "the source reads more like the translations than the reference does: were the two exchanged?"
)
SEED = 1  # of typing errors and copied tokens
FORMS = tuple(reversed(CHANGES[1:]))  # without short_input; single words take its place
WORDS = 200  # the most words that are translated alone
MOST_WORDS = 3  # the most words in one word's translation; a longer translation runs on
ShowLines = Callable[[Iterator[str], str], Iterator[str]]


@final
@dataclass(frozen=True)
class Contrast:
    """A test set's scores in a form such as upper case; `changed` counts lines, or single words."""

    form: str
    changed: int
    scores: Sequence[Score]


@final
@dataclass(frozen=True)
class Evaluation:
    """A model's translations of a test set, their scores, and the references' perplexity."""

    outputs: Sequence[str] = field(repr=False)
    scores: list[Score]
    perplexity: Perplexity
    left_out: int  # lines too long or with an unknown label, which the perplexity omits
    unknown_labels: Mapping[str, int] = field(default_factory=dict)  # label in references -> count
    baseline: Sequence[Score] = ()  # of giving each token its most frequent label, if asked for
    warning: str = ""  # such as that the sides seem to be exchanged; "" if none
    contrast: Sequence[Contrast] = ()  # scores in other forms, such as upper case, if asked for

    def __str__(self) -> str:
        warning = [f"warning: {self.warning}"] if self.warning else []
        return "\n".join((*format_scores(self.scores), str(self.perplexity), *warning))


@final
@dataclass(frozen=True)
class EvaluationText:
    """A test set, and how to score it: metrics, language, baseline, with contrasts or not."""

    sources: Sequence[str]
    references: Sequence[str]
    metrics: Sequence[str]
    language: str
    baseline: Sequence[str] = ()  # the outputs of the majority baseline, if it is asked for
    has_contrast: bool = False  # whether the set is translated in other forms, too


def evaluate(  # noqa: PLR0913 - one parameter for each choice of the caller
    model: Translator | Path | str,
    source: Text,
    reference: Text | None = None,
    *,
    metrics: Sequence[str] | None = None,
    language: str | None = None,
    baseline: Path | str | None = None,
    contrast: bool = False,
) -> Evaluation:
    """Translate and score a test set, with perplexity; `baseline` is a tagger's training text.

        found = transduce.evaluate("model", "test.en", "test.de", metrics=["bleu"])
        print(found.scores[0], found.perplexity)

    `model` is a translator, a model folder or a run folder. `source` and `reference` are files or
    lists of lines. A parser, a tagger or a model of signals is evaluated on a single file of trees,
    tagged tokens or signals. `source` alone may be a file of pairs, or a fetched test set, such as
    "newstest2014" or "CORPUS:SPLIT". `metrics` defaults to the metrics of the model's task.
    `language` is the language of the references and defaults to the recipe's target language.
    With a `baseline` the result also has the scores of giving each token its most frequent label
    there. With `contrast` the test set is also translated in other forms, such as upper case, and
    `found.contrast` has their scores.
    """
    translator = model if isinstance(model, Translator) else load(model)
    lines = read_test_set(source, reference, translator.recipe.data)
    text = build_evaluation_text(
        translator, lines, metrics, language, baseline, has_contrast=contrast
    )
    return score_translations(translator, text, list(translate_sources(translator, text)))


def build_evaluation_text(
    translator: Translator,
    lines: tuple[Sequence[str], Sequence[str]],
    metrics: Sequence[str] | None,
    language: str | None,
    baseline: Path | str | None = None,
    *,
    has_contrast: bool = False,
) -> EvaluationText:
    """Check the options; return them with `lines` (sources, references) and baseline outputs.

    None for `metrics` or `language` means the model's. `baseline` is a tagger's training text.
    """
    require_flag("contrast", has_contrast)
    if has_contrast:
        require_task(translator.task, TextToText, translator.recipe.data, "a contrast")
    if metrics is None:
        metrics = translator.task.metrics
    require_lines("metrics", metrics)
    metrics = list(check_lines("metrics", metrics))
    for name in metrics:
        require(
            name in METRICS, f"metrics: unknown score {name[:60]!r}", suggest_names(name, METRICS)
        )
    if language is None:
        language = translator.recipe.data.target_language
    else:
        require_language(language)
        kind = find_task_kind(translator.recipe.data)
        fact = f"a language is for scores of text, and the task is {translator.recipe.data.task}"
        require(kind.is_text, fact, "leave out --language")
    majority = () if baseline is None else label_by_majority(baseline, lines[0], translator)
    return EvaluationText(*lines, metrics, language, majority, has_contrast)


def translate_sources(translator: Translator, text: EvaluationText) -> Iterator[str]:
    """Refuse a text that cannot be scored; return an iterator over its sources' translations."""
    require_equal_lines(source=text.sources, reference=text.references)
    require(bool(text.sources), "there are no lines to score", "look at the files")
    pairs = zip(text.sources, text.references, strict=True)
    require_matches(number_pairs(pairs), translator.recipe.data)
    require_scorable(text.metrics, text.references, text.language)
    return replace(translator, keep=False).translate_lines(text.sources)


def score_translations(
    translator: Translator,
    text: EvaluationText,
    outputs: Sequence[str],
    show: ShowLines = lambda found, _: found,
) -> Evaluation:
    """Score the outputs by every metric, and compute the model's perplexity on the references.

    If `text.has_contrast`, the test set is also translated and scored in its other forms.
    `show(translations, form)` yields the translations as they are found, and may show their count.
    """
    scores = score_outputs(text, outputs)
    baseline = score_outputs(text, text.baseline) if text.baseline else []
    found, left_out = perplexity(translator, text.sources, text.references)
    unknown = count_unknown_labels(translator, text.references)
    data = translator.recipe.data
    is_text = find_task_kind(data).is_text
    is_swapped = is_text and are_sides_swapped(outputs, text.sources, text.references)
    named = {"source": text.sources, "reference": text.references}
    languages = data.source_language, data.target_language
    if is_swapped:  # unless the references are in a third language
        other = find_other_language(" ".join(text.references), data.target_language)
        is_swapped = other in ("", to_detected_code(data.source_language))
    warning = SWAPPED if is_swapped else find_wrong_side(languages, named) if is_text else ""
    both = {"the output": outputs, "the reference": text.references}
    warning = warning or warn_of_mixed_forms(both)
    contrast = list(measure_contrast(translator, text, show)) if text.has_contrast else ()
    return Evaluation(outputs, scores, found, left_out, unknown, baseline, warning, contrast)


def score_outputs(text: EvaluationText, outputs: Sequence[str]) -> list[Score]:
    """Return the scores of a test set's outputs, one by each of its metrics."""
    return [
        compute_score(metric, outputs, text.references, language=text.language)
        for metric in text.metrics
    ]


def count_unknown_labels(translator: Translator, references: Sequence[str]) -> dict[str, int]:
    """Return {label: count} of the references' labels unknown to the model, most frequent first.

    A model cannot write a label that its training data lacked. The dict is empty for a task whose
    outputs are text.
    """
    data = translator.recipe.data
    to_symbols, known = find_task_kind(data).target_symbols, set(translator.task.target.symbols)
    if to_symbols is None:
        return {}
    every = (symbol for line in references for symbol in to_symbols(data, line))
    return dict(Counter(symbol for symbol in every if symbol not in known).most_common())


def perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> tuple[Perplexity, int]:
    """Return the references' perplexity, and the number of lines that it leaves out.

    Leaves out lines of more than data.max_length pieces on a side, or with an unknown label. The
    perplexity is nan if no line remains.
    """
    task, longest = translator.task, translator.recipe.data.max_length
    normalised = ([task.normalise(line) for line in side] for side in (sources, references))
    ids = task.encode_sources(next(normalised)), task.encode_targets(next(normalised))
    every = zip(*ids, references, strict=True)
    fit = [
        (source, target, line)
        for source, target, line in every
        if target and max(len(source), len(target)) <= longest
    ]
    left_out = len(references) - len(fit)
    if not fit:
        return Perplexity(math.nan, 0, 0), left_out
    language = shorten_language(translator.recipe.data.target_language)
    has_words = task.has_words and language not in WITHOUT_BLANKS
    words = sum(len(line.split()) + 1 for _, _, line in fit) if has_words else 0  # + 1 for END
    source_ids, target_ids = [one[0] for one in fit], [one[1] for one in fit]
    tokens = max(TOKENS, 2 * longest)
    log_probs = target_log_probs(translator.models, source_ids, target_ids, tokens)
    nats, pieces = -math.fsum(log_probs), sum(map(len, target_ids))
    return Perplexity(nats, pieces, words), left_out


def provenance(translator: Translator) -> dict[str, Any]:
    """Return a score's provenance by key: models (hashes), recipe, precision, environment, date."""
    weight = translator.models[0].output.weight
    return {
        "models": list(translator.hashes),
        "recipe": translator.recipe.as_json(),
        "precision": describe_precision(translator.models[0]),
        "environment": describe_environment(weight.device),
        "date": today(),
    }


def today() -> str:
    """Return the date in UTC as YYYY-MM-DD."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def measure_contrast(
    translator: Translator, text: EvaluationText, show: ShowLines
) -> Iterator[Contrast]:
    """Yield a test set's scores in each form, such as upper case, then for its single words.

    Single words have only the run-on score, and are left out if the sources have none.
    """
    translator = replace(translator, keep=False)
    languages = (translator.recipe.data.source_language, text.language)
    pairs = list(zip(text.sources, text.references, strict=True))
    for form in FORMS:
        changed = [
            CHANGE[form](pair, languages, random.Random(f"{SEED} {number}"))
            for number, pair in enumerate(pairs)
        ]
        sources, references = map(list, zip(*changed, strict=True))
        outputs = list(show(translator.translate_lines(sources), form.replace("_", " ")))
        scores = [
            replace(score, signature=f"{score.signature}|contrast:{form}|seed:{SEED}")
            for score in score_outputs(replace(text, references=references), outputs)
        ]
        count = sum(new != old for new, old in zip(changed, pairs, strict=True))
        yield Contrast(form, count, scores)
    if words := list_words(text.sources):
        outputs = list(show(translator.translate_lines(words), "single words"))
        yield Contrast("one_word", len(words), [score_run_on(outputs)])


def list_words(lines: Sequence[str]) -> list[str]:
    """Return the first 200 different words of letters only, without punctuation around them."""
    words = (word.strip(".,;:!?…\"'“”„«»()") for line in lines for word in line.split())
    return list(islice(dict.fromkeys(word for word in words if word.isalpha()), WORDS))


def score_run_on(outputs: Sequence[str]) -> Score:
    """Return the percentage of one-word sources whose output has over 3 words or repeats a word."""
    found = [output.lower().split() for output in outputs]
    run_on = sum(len(words) > MOST_WORDS or len(set(words)) < len(words) for words in found)
    return Score(
        "run-on outputs, %",
        100 * run_on / len(found),
        f"contrast:one_word|over:{MOST_WORDS} words or one twice",
        len(found),
        "single words",
        higher_is_better=False,
    )


Sides = tuple[list[str], list[str]]  # lines of the source and of the reference


def read_test_set(source: Text, reference: Text | None, data: Data) -> Sides:
    """Return the source and reference lines of a test set from files, lists or a fetched corpus.

    The source alone may be a file of pairs, such as a .tsv or .tmx. A test set of trees or tagged
    tokens is a file, a treebank's folder, or a fetched treebank's name.
    """
    if reference is not None:
        if any(isinstance(one, Path | str) for one in (source, reference)):
            require_two_files_fit(data)
        return read_text("source", source), read_text("reference", reference)
    require(
        isinstance(source, Path | str),
        "reference must be given with lines of a source",
        "or name a fetched test set as the source",
    )
    if read_file := find_task_kind(data).read_test_file:
        return read_both_sides(find_task_files(str(source), data), read_file)
    file = Path(str(source))
    if find_suffix(file) in PAIR_FILES:
        return read_both_sides([file], partial(read_whole_pairs, data=data))
    files = find_fetched_files(str(source), data)
    return read_text("source", files[0]), read_text("reference", files[1])


def require_two_files_fit(data: Data) -> None:
    """Raise InputError if a test set for the recipe's task is one file, such as trees, not two."""
    kind, fact = find_task_kind(data), f"a test set for {data.task} is one file, not two of lines"
    require(kind.read_test_file is None, fact, f"name one file: {kind.test_file}")


def read_both_sides(
    files: Sequence[Path], read_file: Callable[[Path], Iterable[tuple[str, str]]]
) -> Sides:
    """Read files in a task's format; return source and reference lines; InputError if none."""
    pairs = [pair for file in files for pair in read_file(file)]
    require(bool(pairs), f"{files[0]} has no test sentence", "look at the file")
    return [source for source, _ in pairs], [reference for _, reference in pairs]


def read_whole_pairs(file: Path, data: Data) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a file such as a .tsv or .tmx; InputError for a line that lacks a side.

    Of a TMX or XLIFF file the model's languages are read, in its direction; units without a text in
    both are left out.
    """
    languages = (data.source_language, data.target_language)
    by_language = is_memory(file) and all(map(is_language_code, languages))
    columns = choose_main_codes(languages) if by_language else None
    for number, (source, target) in enumerate(read_pair_file(file, columns), start=1):
        if source and target:
            yield source, target
        elif not is_memory(file) and not target.startswith(NO_PAIR):
            fact = f"pair {number} has an empty side"
            raise InputError(fact, "fill it, or delete the line", file=file)


def find_task_files(name: str, data: Data, split: str = "test") -> Sequence[Path]:
    """Return a split's files, given a path or a fetched treebank's name; InputError if none.

    A treebank is named CORPUS, for the given split, or CORPUS:SPLIT.
    """
    if Path(name).exists():
        return find_task_kind(data).list_files(Path(name), split)
    corpus, _, named = name.partition(":")
    if not is_treebank(corpus):
        hint = "name a file, or a fetched treebank as CORPUS:SPLIT"
        raise InputError(f"{name} is neither a file nor a treebank", hint)
    file = find_treebank_file(corpus, named or split, cache_folder())
    if file is None:
        raise InputError(f"{corpus} has no split {named or split}", f"{corpus}:dev, for example")
    return [file]


def find_fetched_files(name: str, data: Data) -> tuple[Path, Path]:
    """Return (source, target) files of CORPUS[:SPLIT], by default test; InputError if absent."""
    hint = "name a reference, or instead of the source a fetched test set"
    require(not Path(name).is_file(), f"{name} is a source without a reference", hint)
    corpus, _, split = name.partition(":")
    languages, cache = (data.source_language, data.target_language), cache_folder()
    texts = find_split_files(corpus, split or "test", languages, cache)
    if texts is None:
        have = read_splits(open_fetched(find_corpus(corpus, languages), cache, corpus))
        raise InputError(f"{corpus} has no split {split or 'test'}", f"it has {', '.join(have)}")
    return texts


def label_by_majority(
    train: Path | str, sentences: Sequence[str], translator: Translator
) -> list[str]:
    """Return a line of labels for each sentence: every token's most frequent label in `train`.

    `train` is tagged text: a file, or the name CORPUS or CORPUS:SPLIT of a fetched text. A token
    that `train` lacks gets the most frequent label of all. Raises InputError if `translator` is not
    a tagger.
    """
    data = translator.recipe.data
    require_task(translator.task, Tagging, data, "a baseline of most frequent labels")
    sides = read_both_sides(find_task_files(str(train), data, "train"), read_tagged_pairs)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tokens, labels in zip(*sides, strict=True):
        for token, label in zip(split_words(tokens), split_words(labels), strict=True):
            counts[token][label] += 1
    known = {token: find_most_frequent(found) for token, found in counts.items()}
    unknown = find_most_frequent(sum(counts.values(), Counter()))
    return [
        " ".join(known.get(token, unknown) for token in split_words(line)) for line in sentences
    ]
