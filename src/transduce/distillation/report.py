"""The last stage of a distillation: a page of all stages, with the teacher beside the student."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from transduce.cleaning.rules import RULES, RuleReport
from transduce.distillation.stages import REPORT
from transduce.durable.folder import FolderWriter, VerifiedFolder, open_or_write_folder
from transduce.durable.json import parse_json, to_json
from transduce.inference.translator import Translator
from transduce.machine.environment import describe_environment
from transduce.scores.scoring import compute_score
from transduce.settings.counts import count_parameters
from transduce.view.curves.page import Report, build_curves_page
from transduce.view.curves.read_log import RunLog, read_run_log
from transduce.view.tables.page import Part, write_list, write_parts

REPORT_KIND = "distil-report"
PAGE, SCORES = "report.html", "scores.json"
METRICS = ("bleu", "chrf")
FLOAT_BYTES = 4


def write_report(
    folder: Path,
    text: VerifiedFolder,
    pairs: VerifiedFolder,
    rules: RuleReport,
    models: tuple[Translator | None, Translator],
    dev: Sequence[tuple[str, str]],
) -> Path:
    """Open or write the stage `report`; return the path of its page.

    `models` are the teacher, if there is one, and the student. They are scored and timed on `dev`,
    pairs of a source and its reference, and both use the teacher's beam.
    """
    teacher, student = models
    named = {"student": student}
    if teacher is not None:
        beam = teacher.recipe.search.beam
        named = {"teacher": teacher, "student": student.searching(beam=beam)}

    def write(writer: FolderWriter) -> None:
        measured = {name: measure_model(one, dev) for name, one in named.items()}
        writer.write(SCORES, to_json(measured))
        writer.write(PAGE, build_report_page(folder, text, rules, measured))

    about = {
        "pairs": pairs.hash,
        "models": {name: list(one.hashes) for name, one in named.items()},
    }
    report = open_or_write_folder(folder / "report", REPORT_KIND, about, write, renews=True)
    return report.verified_path(PAGE)


def measure_model(translator: Translator, dev: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return a model's size and, unless `dev` is empty, its scores and speed on it, as a dict."""
    symbols = len(translator.task.source), len(translator.task.target)
    weights = sum(count_parameters(model.sizes, *symbols) for model in translator.models)
    found: dict[str, Any] = {"parameters": weights, "megabytes": weights * FLOAT_BYTES / 1e6}
    if not dev:
        return found
    sources, references = ([*side] for side in zip(*dev, strict=True))
    translator = replace(translator, workers=1)  # others would start within the measured time
    list(translator.translate_lines(sources[:1]))  # a warm-up: the first line also loads modules
    start = time.perf_counter()
    outputs = list(translator.translate_lines(sources))
    seconds = time.perf_counter() - start
    language = translator.recipe.data.target_language
    scores = [compute_score(one, outputs, references, language=language) for one in METRICS]
    device = translator.models[0].output.weight.device
    return found | {
        "beam": translator.recipe.search.beam,
        "precision": translator.precision,
        "lines": len(sources),
        "seconds": seconds,
        "scores": {one.name: one.value for one in scores},
        "signatures": [one.signature for one in scores],
        "environment": describe_environment(device),
    }


def build_report_page(
    folder: Path, text: VerifiedFolder, rules: RuleReport, measured: Mapping[str, Mapping[str, Any]]
) -> bytes:
    """Return an HTML page: counts of lines, both models, curves of the training, broken rules."""
    counts = parse_json(text.read(REPORT))
    conditions = [
        f"{counts['read']:,} source lines read, {counts['kept']:,} different ones translated",
        f"{rules.read:,} pairs, of which {rules.kept:,} broke no rule",
        *describe_measurement(measured),
    ]
    models: Part = ("Teacher and student", "", [*compare_models(measured)])
    rows = [
        (name, RULES[name], f"{rules.broken[name]:,}", f"{rules.alone[name]:,}")
        for name in RULES
        if name in rules.broken
    ]
    log = read_run_log(folder / "run")
    parts: list[Part] = [
        ("Validations of the student", "", [*list_validations(log)]),
        ("Rules", "", [("rule", "a pair is dropped if", "broken by", "by it alone"), *rows]),
    ]
    if found := counts.get("duplicates"):  # a stored report may have only the counts
        head = ("line", "equal to line", "source")
        lines = [(f"{line:,}", f"{first:,}", source) for line, first, source in found]
        remark = "the source stands in an earlier line (pairs are counted before other lines)"
        parts.append(("Left out: duplicate", remark, [head, *lines]))
    parts += [
        (f"Dropped: {name}", RULES[name], [("source", "target"), *map(tuple, examples)])
        for name, examples in rules.examples.items()
    ]
    before = [*write_list(conditions), *write_parts([models]), "<h2>The student's training</h2>"]
    report = Report("Distillation", "\n".join(before), "\n".join(write_parts(parts)))
    return build_curves_page({"student": (folder / "run", log)}, report=report)


def describe_measurement(measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return lines on how scores and speed were measured, or one that says they were not."""
    one = measured["student"]
    if "lines" not in one:
        return ["no development set, so neither scores nor speed"]
    where = "{processor}, threads {threads}, transduce {transduce}, torch {torch}"
    return [
        f"scores and speed on the {one['lines']:,} lines of the development set; "
        + where.format(**one["environment"]),
        *one["signatures"],
    ]


def compare_models(measured: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table: a header, then each quantity with a column for each model."""
    yield ("", *measured)
    quantities = {
        "parameters": lambda one: f"{one['parameters']:,}",
        "MB in float32": lambda one: f"{one['megabytes']:,.1f}",
        "beam": lambda one: str(one["beam"]),
        "precision": lambda one: one["precision"],
        "BLEU": lambda one: f"{one['scores']['BLEU']:.2f}",
        "chrF": lambda one: f"{one['scores']['chrF']:.2f}",
        "sentences a second": lambda one: f"{one['lines'] / one['seconds']:,.1f}",
    }
    known = list(quantities) if "lines" in measured["student"] else list(quantities)[:2]
    for name in known:
        yield (name, *(quantities[name](one) for one in measured.values()))


def list_validations(log: RunLog) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table: a header, then each validation of a run."""
    yield ("update", "nats a piece", "score")
    for one in log.validations:
        nats = "" if one.nats is None else f"{one.nats:.3f}"
        score = "" if one.score is None else f"{one.score_name} {one.score:.2f}"
        yield (f"{one.step:,}", nats, score)
