"""transduce evaluate: translate a test set and score it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options
from transduce.cli.searching import ensemble_option, precision_option, tell_if_unfinished
from transduce.datasets.cache import cache_folder
from transduce.errors import InputError
from transduce.scores import METRICS
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.evaluate import Evaluation
    from transduce.settings import Data


@click.command("evaluate")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("reference", type=click.Path(path_type=Path), required=False)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    default=("bleu", "chrf", "ter"),
    help="A score to take; may be repeated. `transduce score --help` lists them.",
)
@click.option(
    "--language",
    metavar="CODE",
    help="The language of REFERENCE, if the model's recipe does not name it by its code.",
)
@ensemble_option
@precision_option
@options.output
@options.as_json
def command(
    *,
    metrics: Sequence[str],
    language: str | None,
    ensemble: tuple[Path, ...],
    precision: str,
    output: Path | None,
    as_json: bool,
    **paths: Path | None,
) -> None:
    """Translate SOURCE with MODEL and score the result against REFERENCE.

    Instead of both files, the name of a test set that `transduce fetch` has brought, such as
    newstest2014; CORPUS:SPLIT names another split of a corpus than its test set.

    Prints each score with its signature and the test set's name, whether it may stand beside a
    figure of the paper, and the perplexity of the reference without smoothing. -o keeps the
    translations.
    """
    from transduce.durable import atomic_file
    from transduce.inference.evaluate import (
        EvaluationSet,
        provenance,
        score_outputs,
        translate_sources,
    )
    from transduce.inference.load import load
    from transduce.machine.process_settings import keep_freed_memory

    model, source, reference = (paths[name] for name in ("model", "source", "reference"))
    assert model
    assert source
    require(str(output) != "-", "standard output is for the scores", "-o FILE")
    require(
        not str(source) == str(reference) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    options.require_writable(output, source, reference)
    keep_freed_memory()
    tell_if_unfinished((model, *ensemble))
    texts = lines_of(source, reference) if reference else None
    with (
        nullcontext() if output is None else atomic_file(output) as file
    ):  # refused before the work
        models = load(model, *ensemble, precision=precision)
        lines, references = texts or lines_of(*fetched(str(source), models.recipe.data))
        test_set = EvaluationSet(
            lines, references, metrics, language or models.recipe.data.target_language
        )
        outputs = translate_sources(models, test_set)
        if file is not None:
            file.write("".join(f"{line}\n" for line in outputs).encode())
    found = score_outputs(models, test_set, outputs)
    said = [as_object(found, provenance(models))] if as_json else as_lines(found)
    for line in said:
        display.result(line)
    for score in found.scores:
        if score.paper_comparability and not as_json:
            display.tell(f"  {score.name}: {score.paper_comparability}")


def lines_of(source: Path, reference: Path) -> tuple[list[str], list[str]]:
    """Both sides of a test set."""
    from transduce.text.files import read_lines

    return list(read_lines(source)), list(read_lines(reference))


def fetched(name: str, data: "Data") -> tuple[Path, Path]:
    """The files of a public test set in the languages of the model."""
    from transduce.datasets.fetch import corpus_here, texts_of

    hint = "transduce evaluate MODEL SOURCE REFERENCE, or the name of a test set"
    require(not Path(name).is_file(), f"{name} is a source without a reference", hint)
    corpus, _, split = name.partition(":")
    languages = (data.source_language, data.target_language)
    texts = texts_of(corpus, split or "test", languages, cache_folder())
    if texts is None:
        have = corpus_here(corpus, languages, cache_folder()).about["splits"]
        raise InputError(f"{corpus} has no split {split or 'test'}", f"it has {', '.join(have)}")
    return texts


def as_object(found: "Evaluation", about: Mapping[str, object]) -> str:
    """For programs."""
    perplexity = found.perplexity.as_json() | {"left_out": found.left_out}
    scores = [score.as_json() for score in found.scores]
    whole = {"scores": scores, "perplexity": perplexity, **about}
    return json.dumps(whole, ensure_ascii=False)


def as_lines(found: "Evaluation") -> list[str]:
    """For people."""
    lines = [*map(str, found.scores), str(found.perplexity)]
    left_out = f"  without {found.left_out} lines that are longer than data.max_length"
    return [*lines, left_out] if found.left_out else lines
