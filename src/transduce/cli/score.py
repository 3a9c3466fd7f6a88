"""`transduce score`: score translations, trees, labels or alignments against references."""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import click

from transduce.cli import display, options
from transduce.cli.options import INPUT, argument, flag, group, option, refuse_given
from transduce.errors import InputError
from transduce.scores.brackets.parameters import PARAMETERS
from transduce.scores.brackets.report import BracketReport, BracketSummary
from transduce.scores.files import (
    USUAL_METRICS,
    compare_alignments,
    compare_tags,
    compare_trees,
    score,
    score_alignments,
    score_tags,
    score_trees,
)
from transduce.scores.metrics import METRICS
from transduce.scores.score import format_scores
from transduce.scores.scoring import SAMPLES, SEED, describe_slow_metrics, warn_of_mixed_forms
from transduce.scores.spans import SCHEMES, SpanReport
from transduce.text.arguments import read_text
from transduce.text.files import FEWEST_LINES, describe_records

MESSAGES = 10  # how many of EVALB's messages are printed at most
TREE = re.compile(r"\s*\(\S* ?\(.*\)\s*\)\s*")


@final
@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """The options for scoring trees, which need --brackets."""

    parameters: str | None = option(
        f"EVALB's parameters: {', '.join(PARAMETERS)}, or a .prm file (default: COLLINS).",
        metavar="NAME",
    )
    cutoff: int | None = option(
        "Maximum sentence length, in words, for the second summary (default: set by --parameters, "
        "usually 40).",
        type=click.IntRange(min=1),
    )
    gold_tags: bool = flag("Put the gold tags on the output's leaves first.")
    clean: bool = flag(
        "GOLD is a treebank's file: remove outer brackets, traces and function tags first."
    )
    table: bool = flag("Print what EVALB prints, one line per sentence.")


@final
@dataclass(frozen=True, kw_only=True)
class Draws:
    """The options of --against, that is, the number of test sets that it draws and their seed."""

    samples: int = option(
        "Number of test sets that --against draws.", default=SAMPLES, show_default=True
    )
    seed: int = option("Seed of these draws.", default=SEED, show_default=True)


@final
class ScoreCommand(click.Command):
    """A command whose `--help` ends with the list of all metrics."""

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the description of every metric."""
        with formatter.section("Metrics"):
            formatter.write_dl([(name, metric.description) for name, metric in METRICS.items()])


@options.make_command("score", kind=ScoreCommand)
def command(
    *,
    hypotheses: Path = argument(type=INPUT),
    references: Sequence[Path] = argument(
        metavar="REFERENCE...", nargs=-1, required=True, type=INPUT
    ),
    metrics: Sequence[str] = option(
        f"A metric from the list below; may be repeated (default: {', '.join(USUAL_METRICS)}).",
        "--metric",
        type=click.Choice(list(METRICS)),
        multiple=True,
        metavar="METRIC",
    ),
    language: str | None = option(
        "The language of the text, such as de, which bleu-paper and bleu-paper-plain require. For "
        "zh, ja and ko bleu and ter find words otherwise (default: by the script).",
        metavar="CODE",
    ),
    brackets: bool = flag("Score trees: GOLD and OUTPUT have one tree on each line."),
    trees: TreeOptions = group(),
    spans: bool = flag(
        "Score labels: GOLD and OUTPUT have a token, a tab and its label on each line."
    ),
    scheme: str | None = option(
        "Which labels form a span (default: bio, which also reads IOB2). bio-strict: as in "
        "seqeval's strict mode; raw: each run of one label.",
        type=click.Choice(list(SCHEMES)),
    ),
    alignments: bool = flag(
        "Score alignments: GOLD and OUTPUT have one pair's links on each line, such as 0-0 1-2. In "
        "GOLD, 1p2 marks a possible link."
    ),
    against: Path | None = option(
        "Another output of the same lines: test whether the difference is more than chance.",
        type=INPUT,
        metavar="OTHER",
    ),
    draws: Draws = group(),
    as_json: bool = options.as_json,
) -> None:
    """Score translations, trees, labels or word alignments.

    HYPOTHESES and every REFERENCE are text files with equally many lines, plain, .gz, .xz or .zst;
    one of them may be - for standard input. A score names the test set, if its hash is known, and
    says whether it is comparable with a score of the paper. --against compares two outputs by
    paired bootstrap resampling: both scores, their difference with a 95 % interval, and sacreBLEU's
    p. It is more than chance if p is below 0.05 and 0 is outside of the interval.

    With --brackets, --spans and --alignments the gold file comes first, as for EVALB: GOLD OUTPUT.
    EVALB leaves out sentences that fail; the F1 over all sentences is printed, too.

    \b
    transduce score output.de reference.de
    transduce score --brackets gold.trees output.trees
    """
    options.require_one_standard_input(hypotheses, against, *references, hint="name the others")
    kinds = {"--brackets": brackets, "--spans": spans, "--alignments": alignments}
    kind = choose_kind(kinds, len(references))
    if kind:
        refuse_given({"metrics", "language"}, f"is for text, without {kind}", "")
    if kind != "--brackets":
        refuse_given({*vars(trees)}, "needs --brackets", "")
    if kind != "--spans":
        refuse_given({"scheme"}, "needs --spans", "")
    if against is None:
        refuse_given({*vars(draws)}, "is for --against", "name another output")
    texts = [str(hypotheses), *map(str, references)]
    gold, output = texts[:2]  # for trees, labels and alignments
    other = None if against is None else str(against)
    match kind:
        case "--brackets":
            report_trees(gold, output, other, trees, draws, as_json=as_json)
        case "--spans":
            report_labels(gold, output, other, scheme or "bio", draws, as_json=as_json)
        case "--alignments":
            report_alignments(gold, output, other, draws, as_json=as_json)
        case _:
            metrics = metrics or USUAL_METRICS
            report_texts(texts, other, metrics, language or "", draws, as_json=as_json)


def choose_kind(kinds: Mapping[str, bool], reference_count: int) -> str:
    """Return the True option of `kinds`, or ""; refuse two, or one with several references."""
    given = [kind for kind, is_given in kinds.items() if is_given]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} are of different files", "choose one of them")
    if given and reference_count > 1:
        raise InputError(f"{given[0]} takes two files, GOLD and OUTPUT", "--against names a third")
    return "".join(given)


def report_texts(
    texts: Sequence[str],
    against: str | None,
    metrics: Sequence[str],
    language: str,
    draws: Draws,
    *,
    as_json: bool,
) -> None:
    """Print the scores of `texts[0]` by references `texts[1:]`, or compare it with `against`."""
    named = {text: read_text("", text) for text in (*texts, *filter(None, [against]))}
    read = [named[text] for text in texts]
    warn_of_texts(named, metrics)
    times = (len(texts) - 1) * (1 if against is None else 4)  # each output is counted twice
    if slow := describe_slow_metrics(metrics, read[1], language, times):
        display.print_note(slow)
    if against is not None:
        how_drawn = asdict(draws)
        other = named[against]
        for found in score(*read, metrics=metrics, language=language, against=other, **how_drawn):
            display.print_comparison(found, (texts[0], against), as_json=as_json)
        return
    if len(texts) > 2:
        together = f"note: each line has {len(texts) - 1} references: {', '.join(texts[1:])}"
        two = shlex.join(["transduce", "score", texts[0], texts[-1], "--against", texts[1]])
        display.print_note(f"{together}; {two} compares two outputs")
    scores = score(*read, metrics=metrics, language=language)
    for one, line in zip(scores, format_scores(scores), strict=True):
        if as_json:
            display.print_json(one.as_json())
            continue
        display.print_result(line)
        display.print_comparability(one)


def warn_of_texts(texts: Mapping[str, Sequence[str]], metrics: Sequence[str]) -> None:
    """Warn of each text that is pairs, JSON or trees, and if only some have invisible characters.

    Text that is not in NFC counts like text with invisible characters.
    """
    takes_trees = not {"brackets", "brackets-own-tags", "exact-match"}.isdisjoint(metrics)
    for file, lines in texts.items():
        records = describe_records(lines)
        if not takes_trees and len(lines) >= FEWEST_LINES and all(map(TREE.fullmatch, lines)):
            records = "each line is a tree, which --brackets scores"
        if records:
            display.print_message(f"warning: {file} is no plain text: {records}")
    if form := warn_of_mixed_forms(texts):
        display.print_message(f"warning: {form}")


def report_alignments(
    gold: str, output: str, against: str | None, draws: Draws, *, as_json: bool
) -> None:
    """Print the alignment error rate of a file, or its comparison with the file `against`."""
    if against is not None:
        found = compare_alignments(gold, (output, against), **asdict(draws))
        display.print_comparison(found, (output, against), as_json=as_json)
        return
    score = score_alignments(gold, output)
    links = (
        "precision {precision:.2f} | recall {recall:.2f} | {links:,} links | {sure:,} sure of "
        "{gold:,} gold links"
    )
    lines = [str(score), links.format(**score.details)]
    display.print_found(score.as_json(), lines, as_json=as_json)


def report_labels(
    gold: str, output: str, against: str | None, scheme: str, draws: Draws, *, as_json: bool
) -> None:
    """Print a label file's accuracy and span F1, or its comparison with the file `against`."""
    if against is not None:
        for found in compare_tags(gold, (output, against), scheme=scheme, **asdict(draws)):
            display.print_comparison(found, (output, against), as_json=as_json)
        return
    report = score_tags(gold, output, scheme=scheme)
    display.print_found(report.as_json(), format_report(report), as_json=as_json)


def format_report(report: SpanReport) -> Iterator[str]:
    """Yield lines with accuracy and span F1, then a table of precision, recall and F1 by type."""
    yield (
        f"accuracy {100 * report.accuracy:.2f} | {report.correct_tokens:,} of {report.tokens:,}"
        f" labels | {report.sentences:,} sentences"
    )
    yield f"span F1 {100 * report.micro.f1:.2f} | scheme {report.scheme}"
    values = report.as_json()
    averages = {name: values[name] for name in ("micro", "macro", "weighted")}
    rows = [["", "precision", "recall", "F1", "gold spans"]]
    for name, one in [*values["types"].items(), *averages.items()]:
        figures = [f"{100 * one[key]:.2f}" for key in ("precision", "recall", "f1")]
        rows.append([name, *figures, f"{one['support']:,}"])
    yield from display.align_columns(rows, align_right=True)


def report_trees(
    gold: str, output: str, against: str | None, trees: TreeOptions, draws: Draws, *, as_json: bool
) -> None:
    """Print a tree file's scores, with --table in EVALB's form, or compare it with `against`."""
    chosen: dict[str, Any] = {"gold_tags": trees.gold_tags, "clean": trees.clean}
    if trees.parameters:
        chosen["parameters"] = trees.parameters
    if against is not None:
        for name, value in (("table", trees.table), ("cutoff", trees.cutoff)):
            if value:
                raise InputError(f"--{name} is of one output, and --against compares two")
        found = compare_trees(gold, (output, against), **chosen, **asdict(draws))
        display.print_comparison(found, (output, against), as_json=as_json)
        return
    report = score_trees(gold, output, cutoff=trees.cutoff, **chosen)
    if as_json:
        display.print_json({**report.as_json(), "tags": "gold" if trees.gold_tags else "output"})
        return
    if trees.table:
        display.print_result(report.as_text())
    else:
        display.print_result(*format_summaries(report, has_own_tags=not trees.gold_tags))
    print_evalb_messages(report, gold_tags=trees.gold_tags)


def format_summaries(report: BracketReport, *, has_own_tags: bool) -> Iterator[str]:
    """Yield the lines of a table of EVALB's counts and scores, for all and for short sentences.

    Short sentences are those within EVALB's cut-off length. Tagging accuracy is left out if the
    outputs have the gold tags.
    """
    columns = {"all": report.every_sentence}
    if short := report.short_sentences:
        columns[f"<= {report.parameters.cutoff} words"] = short
    cells = [format_summary(one, has_own_tags=has_own_tags) for one in columns.values()]
    rows = [[name, *(one[name] for one in cells)] for name in cells[0]]
    yield from display.align_columns([[report.parameters.name, *columns], *rows], align_right=True)


def format_summary(one: BracketSummary, *, has_own_tags: bool) -> dict[str, str]:
    """Return the counts and scores of some sentences by name; a score that is nan becomes "-"."""
    counts = {
        "sentences": one.sentences,
        "failed": one.errors,
        "skipped": one.skipped,
        "gold brackets": one.gold,
        "output brackets": one.test,
        "matched": one.matched,
    }
    scores = {
        "recall": one.recall,
        "precision": one.precision,
        "F1 of EVALB": one.f1,
        "F1, failed and skipped counted": one.f1_of_all_sentences,
        "complete match": one.complete_match,
        "crossing brackets a sentence": one.crossing / one.valid if one.valid else 0.0,
    }
    if has_own_tags:
        scores["tagging accuracy"] = one.tag_accuracy
    formatted = {name: f"{count:,}" for name, count in counts.items()}
    for name, value in scores.items():
        formatted[name] = "-" if math.isnan(value) else f"{value:.2f}"
    return formatted


def print_evalb_messages(report: BracketReport, *, gold_tags: bool) -> None:
    """Print EVALB's first messages, the line where EVALB would stop, and hints about options."""
    for message in report.messages[:MESSAGES]:
        display.print_message(f"  line {message}")
    if len(report.messages) > MESSAGES:
        display.print_message(f"  and {len(report.messages) - MESSAGES:,} messages more")
    if report.exit_status:
        display.print_message(
            f"  EVALB itself ends at line {len(report.sentences) + 1:,} without a summary:"
            f" MAX_ERROR is {report.parameters.max_errors}"
        )
    if any(report.unlabelled_roots):
        gold, output = report.unlabelled_roots
        removal = ". --clean removes the gold ones" if gold else ""
        display.print_message(
            f"  EVALB counts outer brackets without a label, {gold:,} gold and {output:,} of the"
            f" output; it does not count (TOP ...){removal}"
        )
    if not gold_tags and any("Length unmatch" in message for message in report.messages):
        display.print_message("  EVALB deletes punctuation by its tag: try --gold-tags")
