"""BLEU of tokenised text as multi-bleu.perl counts it.

sacreBLEU counts the same n-grams with two exceptions: the script splits at six ASCII blanks only,
and its option `-lc` lower-cases A to Z only. Changing the text before sacreBLEU counts removes both
differences.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEUScore

# White space for Python's split but not for perl's, each replaced by a private-use letter.
OTHER_BLANKS = "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
LETTERS = str.maketrans({blank: chr(0xE000 + n) for n, blank in enumerate(OTHER_BLANKS)})
LOWER = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})


def protect_other_blanks(line: str) -> str:
    """Replace by letters the blanks at which perl does not split, so that sacreBLEU does not."""
    return line.translate(LETTERS)


def lowercase_ascii(line: str) -> str:
    """Lower-case A to Z only; also replace by letters the blanks at which perl does not split."""
    return line.translate(LETTERS).translate(LOWER)


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
