"""Refuses lines so long that sacreBLEU's TER would need hundreds of megabytes for them."""

from transduce.allowance import LINE_BYTES, require_affordable
from transduce.scores.paper_bleu import Texts

# sacreBLEU keeps a row of the edit-distance matrix, of 8 bytes for each word of the reference, for
# each word of at most 1,000 shifted outputs, until there are 10,000; and all rows of two matrices.
SHIFTED_OUTPUTS, KEPT_ROWS = 1_000, 10_000
HINT = "--metric bleu --metric chrf leave TER out; --metric ter-any-length takes it anyway"


def require_lines_short_enough_for_ter(texts: Texts) -> tuple[Texts, str]:
    """Return the texts and "", or refuse a line whose TER may need over 256 MB in sacreBLEU.

    The output is the first of `texts`, its references follow. Without an output, the references
    are assumed to be the output.
    """
    output, *references = texts
    for reference in references:
        pairs = zip(output or reference, reference, strict=True)
        for number, (ours, theirs) in enumerate(pairs, start=1):
            require_short_pair(len(ours.split()), len(theirs.split()), number)
    return texts, ""


def require_short_pair(ours: int, theirs: int, line: int) -> None:
    """Raise InputError if line number `line` has too many words in the output and its reference."""
    fact = f"sacreBLEU's TER of {ours:,} words against {theirs:,}"
    require_affordable(fact, estimate_ter_bytes(ours, theirs), LINE_BYTES, HINT, line)


def estimate_ter_bytes(ours: int, theirs: int) -> int:
    """Return the most bytes of matrix rows that sacreBLEU keeps for lines of so many words."""
    kept = min(KEPT_ROWS + ours, SHIFTED_OUTPUTS * ours)
    return 8 * theirs * (kept + 2 * ours)
