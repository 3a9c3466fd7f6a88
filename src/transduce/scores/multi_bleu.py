"""BLEU of tokenised text as multi-bleu.perl counts it.

sacreBLEU counts the same, but for two things: perl splits at the blanks of ASCII only, and `-lc`
lowers A to Z only. Both differences are removed from the text before sacreBLEU counts it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEUScore

# What Python's split takes for a blank and perl's does not, and letters in their place.
OTHER_BLANKS = "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
LETTERS = str.maketrans({blank: chr(0xE000 + n) for n, blank in enumerate(OTHER_BLANKS)})
LOWER = str.maketrans({chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)})


def protect_other_blanks(line: str) -> str:
    """Replace blanks outside ASCII by letters, so that words are split at ASCII blanks only."""
    return line.translate(LETTERS)


def lowercase_ascii(line: str) -> str:
    """Lower A to Z and no other letter, and replace blanks outside ASCII by letters."""
    return line.translate(LETTERS).translate(LOWER)


def format_multi_bleu(score: "BLEUScore") -> str:
    """Format a BLEU score as multi-bleu.perl prints it; "" where it dies: all outputs are empty.

    100 * (matches / total) is perl's order, and sacreBLEU's is not: 1,632 of 2,560 are 63.7 in
    the one and 63.8 in the other.
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
