"""All metrics by name, and what each counts as a word in a language without spaces."""

from collections.abc import Callable, Mapping, Sized
from functools import partial

from transduce.scores.brackets.counting import build_bracket_metric
from transduce.scores.brackets.parameters import COLLINS
from transduce.scores.paper_bleu import tokenise_both_sides, tokenise_output
from transduce.scores.sacrebleu_scorers import (
    MULTI_BLEU,
    SacreBleuScorer,
    build_bleu_scorer,
    change_lines,
    extract_ter_counts,
    lowercase_ascii,
    protect_other_blanks,
    require_lines_short_enough_for_ter,
    require_mecab,
)
from transduce.scores.score import CountScorer, Metric, Result, Texts, pass_texts
from transduce.scores.spans import ACCURACY, build_span_metric
from transduce.version import __version__

WORDS = {"zh": "zh", "ja": "char", "ko": "char"}  # language -> sacreBLEU's tokenizer for it
WITHOUT_BLANKS = ("zh", "ja")


def count_exact_matches(texts: Texts) -> list[tuple[int, int]]:
    """Return (1, 1) for each output line that equals the line of some reference, else (0, 1)."""
    return [(int(output in lines), 1) for output, *lines in zip(*texts, strict=True)]


def build_bleu_metric(name: str, description: str, *, lowercase: bool = False) -> Metric:
    """Build sacreBLEU's BLEU of plain text as a metric, with variants for "zh", "ja" and "ko"."""

    def build(words: str, variants: Mapping[str, Metric]) -> Metric:
        scorer = build_bleu_scorer(words, lowercase=lowercase)
        return Metric(name, description, scorer, variants=variants)

    return build("13a", {language: build(words, {}) for language, words in WORDS.items()})


def build_mecab_metric(language: str, variants: Mapping[str, Metric]) -> Metric:
    """Build BLEU over MeCab's words for "ja" or "ko"; `variants` are metrics of other languages."""
    return Metric(
        "BLEU",
        "Japanese or Korean words as MeCab cuts them; needs sacrebleu[ja] or sacrebleu[ko]",
        build_bleu_scorer(f"{language}-mecab"),
        partial(require_mecab, language=language),
        language,
        variants=variants,
    )


def build_ter_metric(description: str, *, refuses_long_lines: bool) -> Metric:
    """Build sacreBLEU's TER; its variants count characters, for languages without spaces.

    If `refuses_long_lines`, a line that may need much memory is refused.
    """

    def build(split: Callable[[str], Sized], variants: Mapping[str, Metric]) -> Metric:
        # a variant, which has no variants itself, counts characters
        options = {} if variants else {"normalized": True, "asian_support": True}
        scorer = SacreBleuScorer("TER", options, extract_ter_counts)
        limit = partial(require_lines_short_enough_for_ter, split=split)
        return Metric(
            "TER",
            description,
            scorer,
            limit if refuses_long_lines else pass_texts,
            higher_is_better=False,
            variants=variants,
        )

    return build(str.split, {language: build(list, {}) for language in WITHOUT_BLANKS})


METRICS = {
    "bleu": build_bleu_metric(
        "BLEU",
        "sacreBLEU's default: plain text, cased, its 13a words, or zh for Chinese and characters "
        "(char) for Japanese and Korean",
    ),
    "bleu-lc": build_bleu_metric("BLEU-lc", "the same in lower case", lowercase=True),
    "bleu-mecab": build_mecab_metric("ja", {"ko": build_mecab_metric("ko", {})}),
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
    "chrf": Metric("chrF", "characters instead of words", SacreBleuScorer("CHRF")),
    "ter": build_ter_metric("edits per reference word; lower is better", refuses_long_lines=True),
    "ter-any-length": build_ter_metric(
        "as ter, but also for lines of more than about 2,000 words; may take gigabytes and hours",
        refuses_long_lines=False,
    ),
    "exact-match": Metric(
        "exact match",
        "the share of lines that equal their reference, for tasks with one right answer",
        CountScorer(
            f"case:mixed|whole:line|version:{__version__}",
            count_exact_matches,
            lambda matches, lines: Result(100 * matches / lines, {"matches": matches}),
        ),
    ),
    "brackets": build_bracket_metric(COLLINS, gold_tags=True),
    "brackets-own-tags": build_bracket_metric(COLLINS),
    "spans": build_span_metric("bio"),
    "spans-strict": build_span_metric("bio-strict"),
    "spans-raw": build_span_metric("raw"),
    "accuracy": ACCURACY,
}
