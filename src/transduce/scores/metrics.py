"""All metrics by name; sacreBLEU is imported when a metric's scorer is built."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

from transduce.scores.brackets.metric import BracketF1, extract_bracket_counts
from transduce.scores.brackets.parameters import COLLINS, BracketParameters
from transduce.scores.brackets.tags import copy_tags_where_words_agree
from transduce.scores.exact_match import ExactMatch, ExactMatchResult
from transduce.scores.multi_bleu import format_multi_bleu, lowercase_ascii, protect_other_blanks
from transduce.scores.paper_bleu import Texts, tokenise_both_sides, tokenise_output
from transduce.scores.spans.metric import (
    Accuracy,
    SpanF1,
    extract_accuracy_counts,
    extract_span_counts,
)
from transduce.scores.ter_limit import require_lines_short_enough_for_ter

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    from transduce.scores.alignments import AlignmentErrorRate

    Scorer: TypeAlias = (
        BLEU | CHRF | TER | ExactMatch | BracketF1 | SpanF1 | Accuracy | AlignmentErrorRate
    )

# A function that returns changed texts to be scored, and a suffix for the metric's signature.
Preprocess = Callable[[Texts], tuple[Texts, str]]
COUNTS = ("counts", "totals", "precisions", "bp", "sys_len", "ref_len")


@final
@dataclass(frozen=True)
class Metric:
    """A metric: its name, how its scorer is built, and how texts are preprocessed for it."""

    name: str
    description: str  # for --help
    build: "Callable[[], Scorer]"
    extract_details: "Callable[[Any], dict[str, Any]]" = (
        lambda _: {}
    )  # counts to store with a score
    preprocess: Preprocess | None = None
    language: str = ""  # the only language that the metric can score; "" for any
    higher_is_better: bool = True


def build_bleu(tokenize: str, *, lowercase: bool = False, smooth: str = "exp") -> "BLEU":
    """Build sacreBLEU's BLEU scorer; its warning about tokenised text is switched off."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth, force=True)


def build_multi_bleu() -> "BLEU":
    """Build a BLEU scorer that counts like multi-bleu.perl: words between blanks, no smoothing."""
    return build_bleu("none", smooth="none")


def build_chrf() -> "CHRF":
    """Build sacreBLEU's chrF2 scorer: F-score of character n-grams up to 6, beta 2."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def build_ter() -> "TER":
    """Build sacreBLEU's TER scorer: word edits and shifts, case ignored."""
    from sacrebleu.metrics.ter import TER

    return TER()


def extract_bleu_counts(result: Any) -> dict[str, Any]:  # noqa: ANN401 - sacreBLEU is imported late
    """Return the n-gram counts, precisions and lengths that a BLEU score is computed from."""
    return {count: getattr(result, count) for count in COUNTS}


def extract_multi_bleu_counts(result: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the counts of a BLEU score, and the line that multi-bleu.perl would print."""
    return extract_bleu_counts(result) | {"multi_bleu": format_multi_bleu(result)}


def extract_ter_counts(result: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the numbers of edits and of reference words that a TER score is computed from."""
    return {"num_edits": result.num_edits, "ref_length": result.ref_length}


def extract_exact_match_counts(result: ExactMatchResult) -> dict[str, Any]:
    """Return the number of exact matches, as a dict."""
    return {"matches": result.matches}


def build_bracket_metric(parameters: BracketParameters, *, gold_tags: bool = False) -> Metric:
    """Build the labelled bracket F1 metric, computed over all sentences with EVALB's parameters.

    With `gold_tags` the leaves of the outputs get the tags of the reference before they are scored.
    """
    return Metric(
        "bracket F1",
        "trees, one a line: EVALB's labelled F1, failed sentences counted; tags of the leaves are "
        + ("those of the reference" if gold_tags else "the output's own"),
        lambda: BracketF1(parameters),
        extract_bracket_counts,
        use_reference_tags if gold_tags else keep_tags,
    )


def use_reference_tags(texts: Texts) -> tuple[Texts, str]:
    """Put the references' tags on the output trees; return all texts, and a signature suffix."""
    output, *references = texts
    tagged = copy_tags_where_words_agree(output, references[0])
    return [tagged, *references], "|tags:reference"


def keep_tags(texts: Texts) -> tuple[Texts, str]:
    """Return the texts unchanged, and the signature suffix for outputs with tags of their own."""
    return texts, "|tags:output"


def build_span_metric(scheme: str) -> Metric:
    """Build the span F1 metric for labels in a scheme such as "bio"."""
    return Metric(
        "span F1",
        f"labels, a sentence a line: spans by the scheme {scheme}",
        lambda: SpanF1(scheme),
        extract_span_counts,
    )


def build_line_preprocessing(change: Callable[[str], str], signature: str) -> Preprocess:
    """Build a `Preprocess` function: `change`, applied to every line, and a signature suffix."""
    return lambda texts: ([[change(line) for line in text] for text in texts], signature)


METRICS = {
    "bleu": Metric(
        "BLEU",
        "sacreBLEU's default: plain text, its 13a words, cased",
        lambda: build_bleu("13a"),
        extract_bleu_counts,
    ),
    "bleu-lc": Metric(
        "BLEU-lc",
        "the same in lower case",
        lambda: build_bleu("13a", lowercase=True),
        extract_bleu_counts,
    ),
    "bleu-tok": Metric(
        "BLEU-tok",
        "text that is tokenised already, both sides alike: equal to multi-bleu.perl",
        build_multi_bleu,
        extract_multi_bleu_counts,
        build_line_preprocessing(protect_other_blanks, "|blanks:ascii"),
    ),
    "bleu-tok-lc": Metric(
        "BLEU-tok-lc",
        "the same with A to Z in lower case: equal to multi-bleu.perl -lc",
        build_multi_bleu,
        extract_multi_bleu_counts,
        build_line_preprocessing(lowercase_ascii, "|blanks:ascii|lowered:A-Z"),
    ),
    "bleu-paper": Metric(
        "BLEU-paper",
        "the paper's, German only: plain output against a reference that is tokenised already, "
        "compounds split",
        build_multi_bleu,
        extract_multi_bleu_counts,
        tokenise_output,
        "de",
    ),
    "bleu-paper-plain": Metric(
        "BLEU-paper-plain",
        "the same with a plain reference, tokenised here as the output is",
        build_multi_bleu,
        extract_multi_bleu_counts,
        tokenise_both_sides,
        "de",
    ),
    "chrf": Metric("chrF", "characters instead of words", build_chrf),
    "ter": Metric(
        "TER",
        "edits to the reference a word; lower is better",
        build_ter,
        extract_ter_counts,
        require_lines_short_enough_for_ter,
        higher_is_better=False,
    ),
    "ter-any-length": Metric(
        "TER",
        "the same for lines of over about 2,000 words, too: may take gigabytes and hours",
        build_ter,
        extract_ter_counts,
        higher_is_better=False,
    ),
    "exact-match": Metric(
        "exact match",
        "the share of lines that equal their reference, for tasks with one right answer",
        ExactMatch,
        extract_exact_match_counts,
    ),
    "brackets": build_bracket_metric(COLLINS, gold_tags=True),
    "brackets-own-tags": build_bracket_metric(COLLINS),
    "spans": build_span_metric("bio"),
    "spans-strict": build_span_metric("bio-strict"),
    "spans-raw": build_span_metric("raw"),
    "accuracy": Metric(
        "accuracy",
        "labels, a sentence a line: the share of tokens with the label of the reference",
        Accuracy,
        extract_accuracy_counts,
    ),
}
