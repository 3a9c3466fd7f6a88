"""`transduce.clean`: write a parallel text without the pairs that break a rule into a folder.

    FOLDER/pairs.tsv      the pairs that are left, in their order: source, tab, target
    FOLDER/report.json    what each rule dropped, what it alone dropped, and examples

The text is read line by line. If two models score the pairs, each pair takes 16 bytes of memory.
"""

import math
from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import tee
from os import PathLike
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Float

from transduce.cleaning import WORST
from transduce.cleaning.rules import Pair, RuleReport, Rules, find_lowest, read_test_lines
from transduce.durable.folder import FolderWriter, open_or_write_folder
from transduce.durable.json import parse_json, to_json
from transduce.errors import InputError
from transduce.inference.shards import measure_text
from transduce.inference.translator import Translator, with_warnings_at
from transduce.runs.choice import Texts, open_texts
from transduce.runs.prepared_corpus import OnProgress
from transduce.runs.text_names import list_primary
from transduce.runs.texts import Pairs
from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks import TextToText, require_task
from transduce.text.arguments import describe_value, ignore_event, is_pair, read_path
from transduce.text.clean import normalise
from transduce.text.languages import FORM

KIND, PAIRS, REPORT = "clean", "pairs.tsv", "report.json"
NOTED = 1_000  # pairs between two calls of `on_progress`


@final
@dataclass(frozen=True)
class CleanText:
    """A folder of clean text, its file of pairs, and the report of the rules."""

    folder: Path
    pairs: Path
    report: RuleReport


def clean(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: str | PathLike[str],
    pairs: Texts,
    *,
    languages: Sequence[str] = ("", ""),
    numbers: bool = False,
    urls: bool = False,
    letters: float = 0.0,
    not_in: Iterable[str | PathLike[str]] = (),
    models: tuple[Translator, Translator] | None = None,
    worst: float = WORST,
    on_progress: OnProgress = ignore_event,
) -> CleanText:
    """Write the pairs of a text that break no rule into a folder, and report on the others.

    `pairs` are a text, as for `transduce.train`. Pairs with an empty side, equal sides, sides of
    very unequal length, or a target that repeats a phrase are always dropped. The other rules also
    drop some good pairs, and are off: `languages`, such as `("en", "de")`, drops pairs with a side
    that reads like another language (this needs py3langid); `numbers` and `urls` drop pairs whose
    sides differ in them; `letters` is the least share of letters of a side. `not_in` names files
    with lines of test sets, which are dropped. With `models`, one from source to target and one
    back, the share `worst` of the rest is dropped, the least probable by both. A second call opens
    the folder.

        found = transduce.clean("clean", ("a.en", "a.de"), numbers=True, not_in=["test.en"])
        print(found.report.broken)
    """
    require(is_pair(languages), "a text has a source and a target language", FORM)
    require(0 <= worst < 1, f"--worst must lie in [0, 1), not {worst}")
    fact = f"the share {worst} is dropped by the probabilities of two models, and none was given"
    require(models is not None or worst in (0, WORST), fact, "--forward MODEL --backward MODEL")
    if models is not None:
        fact = f"models must be two translators, not {describe_value(models)}"
        require(is_pair(models) and None not in models, fact)
        require_translators("forward", *models)
    files = list_files("not_in", not_in)
    rules = Rules(
        languages=(languages[0], languages[1]),
        numbers=numbers,
        urls=urls,
        letters=letters,
        test_lines=read_test_lines(files),
    )
    text = open_texts("pairs", pairs, Data())
    about = {
        "text": text.fingerprint(),
        "rules": asdict(rules)
        | {"languages": [*languages], "test_lines": [measure_text(file)[1] for file in files]},
        "models": [list(one.hashes) for one in models or ()],
        "worst": float(worst) if models else 0.0,
    }

    def write(writer: FolderWriter) -> None:
        report = RuleReport()
        good = report.filter(read_normalised(text, on_progress), rules)
        if models is not None:
            lowest = find_lowest(rate_pairs(good, report, *models, on_progress), worst)
            again = RuleReport().filter(read_normalised(text, ignore_event), rules)
            good = drop_improbable(again, lowest, report)
        with writer.open(PAIRS) as stream:
            for pair in good:
                report.kept += 1
                stream.write("{}\t{}\n".format(*pair).encode())
        require(text.fingerprint() == about["text"], "the text changed while it was read")
        require(report.read > 0, "the text is empty", "look at its files: they have no lines")
        hint = "; ".join(f"{name}: {count:,}" for name, count in report.broken.items())
        require(report.kept > 0, f"no pair of {report.read:,} passed the rules", hint)
        writer.write(REPORT, to_json(asdict(report)))

    found = open_or_write_folder(read_path("folder", folder), KIND, about, write)
    report = RuleReport(**parse_json(found.read(REPORT)))
    return CleanText(found.folder, found.verified_path(PAIRS), report)


def list_files(name: str, files: object) -> list[Path]:
    """Return `files`, the argument called `name`, as paths; raise InputError if it is no list."""
    if isinstance(files, str | bytes | PathLike) or not isinstance(files, Iterable):
        raise InputError(f"{name} must be a list of files, not {describe_value(files)}")
    return [read_path(name, file) for file in files]


def require_translators(name: str, forward: object, backward: object) -> None:
    """Raise InputError unless models are None or translators, and two have opposite directions."""
    for argument, model in ((name, forward), ("backward", backward)):
        if isinstance(model, Translator):
            require_task(model.task, TextToText, model.recipe.data, argument)
        else:
            fact = f"{argument} must be a translator, not {describe_value(model)}"
            require(model is None, fact, "transduce.load(folder)")
    if isinstance(forward, Translator) and isinstance(backward, Translator):
        there, back = (list_primary(one.recipe.data.languages) for one in (forward, backward))
        fact = f"the backward model is {' to '.join(back)}, and the other one {' to '.join(there)}"
        hint = f"name a model from {' to '.join(reversed(there))}"
        is_known = len({*there}) == len(back) == 2
        require(not is_known or back == there[::-1], fact, hint)


def read_normalised(text: Pairs, on_progress: OnProgress) -> Iterator[Pair]:
    """Yield a text's pairs, normalised; call `on_progress` after every 1,000."""
    for number, (source, target) in enumerate(text.read(), start=1):
        yield normalise(source), normalise(target)
        if number % NOTED == 0:
            on_progress("cleaning", number)


def note_numbers(
    pairs: Iterable[Pair], report: RuleReport, numbers: "array[int]"
) -> Iterator[Pair]:
    """Yield pairs that passed the rules; append to `numbers` how many `report` had read by then."""
    for pair in pairs:
        numbers.append(report.read)
        yield pair


def rate_pairs(
    pairs: Iterable[Pair],
    report: RuleReport,
    forward: Translator,
    backward: Translator,
    on_progress: OnProgress,
) -> Float[np.ndarray, " N"]:
    """Return each pair's dual cross-entropy by two models, negated    (Junczys-Dowmunt 2018)

    It is |H_f - H_b| + (H_f + H_b) / 2, where H is the nats per piece of a side, given the other
    side. A pair that is too long for a model gets -infinity. Warnings number the pairs among all
    that `report` had read, those that broke a rule included.
    """
    numbers, rates = array("q"), array("d")
    first, second, swapped = tee(note_numbers(pairs, report, numbers), 3)
    forward, backward = (with_warnings_at(one, "pair", numbers) for one in (forward, backward))
    there = forward.likelihood(first)
    back = backward.likelihood((target, source) for source, target in swapped)
    for number, (pair, f, b) in enumerate(zip(second, there, back, strict=True), start=1):
        counts = [
            len(model.task.target.encode(side)) + 1
            for model, side in ((backward, pair[0]), (forward, pair[1]))
        ]
        h_b, h_f = -b.log_prob / counts[0], -f.log_prob / counts[1]
        rate = -(abs(h_f - h_b) + (h_f + h_b) / 2)
        rates.append(-math.inf if math.isnan(rate) else rate)
        if number % NOTED == 0:
            on_progress("scoring", number)
    return np.asarray(rates)  # shares their memory


def drop_improbable(
    pairs: Iterable[Pair], lowest: Container[int], report: RuleReport
) -> Iterator[Pair]:
    """Yield the pairs whose index is not in `lowest`; add the others to `report` as improbable."""
    for index, pair in enumerate(pairs):
        if index in lowest:
            report.add(pair, ["improbable"])
        else:
            yield pair
