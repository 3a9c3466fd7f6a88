"""The ways to score a translation, by name; sacreBLEU is imported when one is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

BLEU_COUNTS = ("counts", "totals", "precisions", "bp", "sys_len", "ref_len")

# What Python's split takes for a blank and perl's does not, and letters to stand for them.
OTHER_BLANKS = "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
LETTERS = str.maketrans({blank: chr(0xE000 + n) for n, blank in enumerate(OTHER_BLANKS)})


@final
@dataclass(frozen=True)
class Metric:
    """A named way to score."""

    name: str
    about: str  # for people
    make: "Callable[[], BLEU | CHRF | TER]"
    details: tuple[str, ...] = ()  # what of sacreBLEU's result is kept beside the score
    prepare: Callable[[str], str] | None = None  # what is done to every line first
    mark: str = ""  # what that adds to the signature


def bleu(tokenize: str, *, lowercase: bool = False, smooth: str = "exp") -> "BLEU":
    """sacreBLEU's; `force` keeps it from writing warnings."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth, force=True)


def chrf() -> "CHRF":
    """Characters up to six, beta 2."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def ter() -> "TER":
    """Edits and shifts by words, case left out."""
    from sacrebleu.metrics.ter import TER

    return TER()


METRICS = {
    "bleu": Metric(
        "BLEU",
        "sacreBLEU's default: plain text, its 13a words, cased",
        lambda: bleu("13a"),
        BLEU_COUNTS,
    ),
    "bleu-lc": Metric(
        "BLEU-lc", "the same in lower case", lambda: bleu("13a", lowercase=True), BLEU_COUNTS
    ),
    "bleu-tok": Metric(
        "BLEU-tok",
        "text that is tokenised already, both sides alike: equal to multi-bleu.perl",
        lambda: bleu("none", smooth="none"),
        BLEU_COUNTS,
        lambda line: line.translate(LETTERS),
        "|blanks:ascii",
    ),
    "chrf": Metric("chrF", "characters instead of words", chrf),
    "ter": Metric(
        "TER", "edits to the reference a word; lower is better", ter, ("num_edits", "ref_length")
    ),
}
