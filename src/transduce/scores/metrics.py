"""All metrics by name."""

from functools import partial

from transduce.scores.brackets.metric import build_bracket_metric
from transduce.scores.brackets.parameters import COLLINS
from transduce.scores.metric import CountScorer, Figures, Metric, Texts
from transduce.scores.paper_bleu import tokenise_both_sides, tokenise_output
from transduce.scores.sacrebleu_scorers import (
    MULTI_BLEU,
    SacreBleuScorer,
    build_bleu,
    build_chrf,
    build_ter,
    change_lines,
    extract_bleu_counts,
    extract_ter_counts,
    lowercase_ascii,
    protect_other_blanks,
    require_lines_short_enough_for_ter,
)
from transduce.scores.spans import ACCURACY, build_span_metric
from transduce.version import __version__


def count_exact_matches(texts: Texts) -> list[tuple[int, int]]:
    """Return (1, 1) for each output that equals its line of any reference text, else (0, 1)."""
    return [(int(output in lines), 1) for output, *lines in zip(*texts, strict=True)]


METRICS = {
    "bleu": Metric(
        "BLEU",
        "sacreBLEU's default: plain text, its 13a words, cased",
        SacreBleuScorer(build_bleu, extract_bleu_counts),
    ),
    "bleu-lc": Metric(
        "BLEU-lc",
        "the same in lower case",
        SacreBleuScorer(partial(build_bleu, lowercase=True), extract_bleu_counts),
    ),
    "bleu-tok": Metric(
        "BLEU-tok",
        "text that is tokenised already, both sides alike: equal to multi-bleu.perl",
        MULTI_BLEU,
        change_lines(protect_other_blanks, "|blanks:ascii"),
    ),
    "bleu-tok-lc": Metric(
        "BLEU-tok-lc",
        "the same with A to Z in lower case: equal to multi-bleu.perl -lc",
        MULTI_BLEU,
        change_lines(lowercase_ascii, "|blanks:ascii|lowered:A-Z"),
    ),
    "bleu-paper": Metric(
        "BLEU-paper",
        "the paper's BLEU, German only: untokenised output, tokenised reference, compounds split",
        MULTI_BLEU,
        tokenise_output,
        "de",
    ),
    "bleu-paper-plain": Metric(
        "BLEU-paper-plain",
        "the same with a plain reference, tokenised here as the output is",
        MULTI_BLEU,
        tokenise_both_sides,
        "de",
    ),
    "chrf": Metric("chrF", "characters instead of words", SacreBleuScorer(build_chrf)),
    "ter": Metric(
        "TER",
        "edits per reference word; lower is better",
        SacreBleuScorer(build_ter, extract_ter_counts),
        require_lines_short_enough_for_ter,
        higher_is_better=False,
    ),
    "ter-any-length": Metric(
        "TER",
        "as ter, but also for lines of more than about 2,000 words; may take gigabytes and hours",
        SacreBleuScorer(build_ter, extract_ter_counts),
        higher_is_better=False,
    ),
    "exact-match": Metric(
        "exact match",
        "the share of lines that equal their reference, for tasks with one right answer",
        CountScorer(
            f"case:mixed|whole:line|version:{__version__}",
            count_exact_matches,
            lambda matches, lines: Figures(100 * matches / lines, {"matches": matches}),
        ),
    ),
    "brackets": build_bracket_metric(COLLINS, gold_tags=True),
    "brackets-own-tags": build_bracket_metric(COLLINS),
    "spans": build_span_metric("bio"),
    "spans-strict": build_span_metric("bio-strict"),
    "spans-raw": build_span_metric("raw"),
    "accuracy": ACCURACY,
}
