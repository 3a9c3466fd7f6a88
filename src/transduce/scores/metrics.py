"""The ways to score a translation, by name; sacreBLEU is imported when one is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from transduce.scores.exact_match import ExactMatch, ExactMatchResult
from transduce.scores.multi_bleu import ascii_blanks, ascii_lower, printed
from transduce.scores.paper_bleu import Texts, tokenise_both_sides, tokenise_output

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

COUNTS = ("counts", "totals", "precisions", "bp", "sys_len", "ref_len")


@final
@dataclass(frozen=True)
class Metric:
    """A named way to score."""

    name: str
    about: str  # for people
    make: "Callable[[], BLEU | CHRF | TER | ExactMatch]"
    details: "Callable[[Any], dict[str, Any]]" = lambda _: {}  # what is kept beside the score
    prepare: Callable[[Texts], tuple[Texts, str]] | None = None  # first, and how that is signed
    language: str = ""  # the only one that it is for
    higher_is_better: bool = True


def bleu(tokenize: str, *, lowercase: bool = False, smooth: str = "exp") -> "BLEU":
    """sacreBLEU's; `force` keeps it from writing warnings."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth, force=True)


def multi_bleu() -> "BLEU":
    """Words between blanks, no smoothing."""
    return bleu("none", smooth="none")


def chrf() -> "CHRF":
    """Characters up to six, beta 2."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def ter() -> "TER":
    """Edits and shifts by words, case left out."""
    from sacrebleu.metrics.ter import TER

    return TER()


def of_bleu(result: Any) -> dict[str, Any]:  # noqa: ANN401 - sacreBLEU is imported late
    """The counts that BLEU comes from."""
    return {count: getattr(result, count) for count in COUNTS}


def of_multi_bleu(result: Any) -> dict[str, Any]:  # noqa: ANN401
    """The same, and the line as the script prints it."""
    return of_bleu(result) | {"multi_bleu": printed(result)}


def of_ter(result: Any) -> dict[str, Any]:  # noqa: ANN401
    """The edits, and the words of the reference."""
    return {"num_edits": result.num_edits, "ref_length": result.ref_length}


def of_exact_match(result: ExactMatchResult) -> dict[str, Any]:
    """Return the counts that an exact match score comes from."""
    return {"matches": result.matches}


def alike(change: Callable[[str], str], mark: str) -> Callable[[Texts], tuple[Texts, str]]:
    """The same done to every line of all texts."""
    return lambda texts: ([[change(line) for line in text] for text in texts], mark)


METRICS = {
    "bleu": Metric(
        "BLEU",
        "sacreBLEU's default: plain text, its 13a words, cased",
        lambda: bleu("13a"),
        of_bleu,
    ),
    "bleu-lc": Metric(
        "BLEU-lc", "the same in lower case", lambda: bleu("13a", lowercase=True), of_bleu
    ),
    "bleu-tok": Metric(
        "BLEU-tok",
        "text that is tokenised already, both sides alike: equal to multi-bleu.perl",
        multi_bleu,
        of_multi_bleu,
        alike(ascii_blanks, "|blanks:ascii"),
    ),
    "bleu-tok-lc": Metric(
        "BLEU-tok-lc",
        "the same with A to Z in lower case: equal to multi-bleu.perl -lc",
        multi_bleu,
        of_multi_bleu,
        alike(ascii_lower, "|blanks:ascii|lowered:A-Z"),
    ),
    "bleu-paper": Metric(
        "BLEU-paper",
        "the paper's, German only: plain output beside a reference that is tokenised already, "
        "compounds split",
        multi_bleu,
        of_multi_bleu,
        tokenise_output,
        "de",
    ),
    "bleu-paper-plain": Metric(
        "BLEU-paper-plain",
        "the same with a plain reference, tokenised here as the output is",
        multi_bleu,
        of_multi_bleu,
        tokenise_both_sides,
        "de",
    ),
    "chrf": Metric("chrF", "characters instead of words", chrf),
    "ter": Metric(
        "TER",
        "edits to the reference a word; lower is better",
        ter,
        of_ter,
        higher_is_better=False,
    ),
    "exact-match": Metric(
        "exact match",
        "the share of lines that equal their reference, for tasks with one right answer",
        ExactMatch,
        of_exact_match,
    ),
}
