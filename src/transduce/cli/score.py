"""`transduce score`: score translations, trees, labels or alignments against references."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, final

import click

from transduce.cli import display, options
from transduce.cli.score_alignments import print_alignment_scores
from transduce.cli.score_tags import print_tag_comparison, print_tag_scores
from transduce.cli.score_trees import print_tree_comparison, print_tree_scores
from transduce.errors import InputError
from transduce.scores import METRICS, Score
from transduce.scores.bootstrap import SAMPLES, SEED
from transduce.scores.brackets import PARAMETERS
from transduce.scores.score import format_scores
from transduce.scores.score_texts import USUAL_METRICS, score
from transduce.scores.spans import SCHEMES

OPTIONS = {  # for each kind of file, the names of the options that apply to it
    "": ("metrics", "language"),
    "--brackets": ("parameters", "cutoff", "gold_tags", "clean", "table"),
    "--spans": ("scheme",),
    "--alignments": (),
}


@final
class ScoreCommand(click.Command):
    """A command whose `--help` ends with the list of all metrics."""

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the description of every metric."""
        with formatter.section("Metrics"):
            formatter.write_dl([(name, metric.description) for name, metric in METRICS.items()])


@click.command("score", cls=ScoreCommand)
@click.argument("hypotheses")
@click.argument("references", metavar="REFERENCE...", nargs=-1, required=True)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(list(METRICS)),
    multiple=True,
    metavar="METRIC",
    help=f"What to compute, of the metrics below; may be repeated (default: "
    f"{', '.join(USUAL_METRICS)}).",
)
@click.option(
    "--language",
    metavar="CODE",
    help="The language of the text, such as de: bleu-paper is for German only.",
)
@click.option("--brackets", is_flag=True, help="The files are GOLD and OUTPUT: trees, one a line.")
@click.option(
    "--parameters",
    metavar="NAME",
    help=f"EVALB's parameters: {', '.join(PARAMETERS)}, or a .prm file (default: COLLINS).",
)
@click.option(
    "--cutoff",
    type=click.IntRange(min=1),
    help="Most words of a sentence in the second summary (default: by --parameters, mostly 40).",
)
@click.option("--gold-tags", is_flag=True, help="Put the gold tags on the output's leaves first.")
@click.option(
    "--clean",
    is_flag=True,
    help="GOLD is a treebank's file: remove outer brackets, traces and function tags first.",
)
@click.option("--table", is_flag=True, help="Print what EVALB prints, one line per sentence.")
@click.option(
    "--spans", is_flag=True, help="The files are GOLD and OUTPUT: a token, a tab, a label a line."
)
@click.option(
    "--scheme",
    type=click.Choice(list(SCHEMES)),
    help="Which labels form a span; raw: each run of one label (default: bio).",
)
@click.option(
    "--alignments",
    is_flag=True,
    help="The files are GOLD and OUTPUT: links of a pair a line, 0-0 1-2; in GOLD 2p1 is possible.",
)
@click.option(
    "--against",
    metavar="OTHER",
    help="Another output of the same lines: test whether the difference is more than chance.",
)
@click.option(
    "--samples",
    default=SAMPLES,
    show_default=True,
    help="Number of test sets that --against draws.",
)
@click.option("--seed", default=SEED, show_default=True, help="Seed of these draws.")
@options.as_json
def command(
    *, hypotheses: str, references: Sequence[str], against: str | None, **given: object
) -> None:
    """Score translations, trees, labels or word alignments.

    HYPOTHESES and every REFERENCE are text files of as many lines, plain, .gz, .xz or .zst; one of
    them may be - for standard input. A score names the test set, if its hash is known, and says
    whether it is comparable with a score of the paper. --against compares two outputs by paired
    bootstrap resampling: both scores, their difference with a 95 % interval, and p.

    With --brackets, --spans and --alignments the gold file comes first, as for EVALB: GOLD OUTPUT.
    EVALB leaves out sentences that fail; the F1 over all sentences is printed, too.
    """
    files = (hypotheses, *([against] if against else []), *references)
    if files.count("-") > 1:
        raise InputError("standard input can be one of the files only", "name the others")
    kind = find_file_kind(given, len(references))
    draws = {name: given[name] for name in ("samples", "seed")} if against else {}
    option_values: dict[str, Any] = {
        name: given[name] for name in (*OPTIONS[kind], "as_json")
    } | draws
    both = (references[0], against or "")
    match kind:
        case "--brackets":
            report_trees(hypotheses, both, option_values)
        case "--spans":
            report_labels(hypotheses, both, option_values)
        case "--alignments":
            print_alignment_scores(hypotheses, both, option_values)
        case _:
            report_texts((hypotheses, *references), against, option_values)


def find_file_kind(given: Mapping[str, object], references: int) -> str:
    """Return the option that says what the files are, such as --spans; "" for plain text."""
    kinds = [kind for kind in OPTIONS if kind and given[kind.removeprefix("--")]]
    if len(kinds) > 1:
        raise InputError(f"{' and '.join(kinds)} are of different files", "choose one of them")
    kind = kinds[0] if kinds else ""
    for other, names in OPTIONS.items():
        wrong = [name for name in names if other != kind and given[name]]
        if wrong:
            option = "--metric" if wrong == ["metrics"] else f"--{wrong[0].replace('_', '-')}"
            hint = f"{option} needs {other}" if other else f"{option} is for text, without {kind}"
            raise InputError(hint)
    if kind and references > 1:
        raise InputError(f"{kind} takes two files, GOLD and OUTPUT", "--against names a third")
    return kind


def report_trees(gold: str, files: tuple[str, str], option_values: dict[str, Any]) -> None:
    """Print the scores of tree file `files[0]`, or compare it with `files[1]` if that is named."""
    option_values["parameters"] = option_values["parameters"] or "COLLINS"
    if not files[1]:
        print_tree_scores(gold, files[0], option_values)
        return
    for option in ("table", "cutoff"):
        if option_values.pop(option):
            raise InputError(f"--{option} is of one output, and --against compares two")
    print_tree_comparison(gold, files, option_values)


def report_labels(gold: str, files: tuple[str, str], option_values: dict[str, Any]) -> None:
    """Print the scores of label file `files[0]`, or compare it with `files[1]` if that is named."""
    option_values["scheme"] = option_values["scheme"] or "bio"
    if files[1]:
        print_tag_comparison(gold, files, option_values)
    else:
        print_tag_scores(gold, files[0], option_values)


def report_texts(texts: Sequence[str], against: str | None, option_values: dict[str, Any]) -> None:
    """Score `texts[0]` by the other texts, and print the scores; or compare it with `against`."""
    as_json = option_values.pop("as_json")
    option_values["metrics"] = option_values["metrics"] or USUAL_METRICS
    option_values["language"] = option_values["language"] or ""
    if against is None:
        print_scores(list(score(*texts, **option_values)), as_json=as_json)
        return
    for found in score(*texts, against=against, **option_values):
        display.print_comparison(found, (texts[0], against), as_json=as_json)


def print_scores(scores: Sequence[Score], *, as_json: bool) -> None:
    """Print scores as JSON or as lines, and whether each is comparable with the paper's score."""
    for one, line in zip(scores, format_scores(scores), strict=True):
        display.print_result(json.dumps(one.as_json(), ensure_ascii=False) if as_json else line)
        if one.paper_comparability and not as_json:
            display.print_message(f"  {one.name}: {one.paper_comparability}")
