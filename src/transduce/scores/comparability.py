"""Which figure may stand beside a figure of the paper, and which may not.

The paper prints BLEU of English to German on newstest2013 (Table 3) and newstest2014 (Table 2), and
of English to French on newstest2014. newstest2014 English-German exists in two editions. The script
that the authors published reads the shorter one, with references that others had tokenised.
"""

from transduce.scores.test_sets import (
    FRENCH_2014,
    GERMAN_2013,
    GERMAN_2014_ALL,
    GERMAN_2014_FILTERED,
    OTHER_FORM,
)

TABLE_2 = "27.3 (base) and 28.4 (big) of Table 2"
TABLE_2_FRENCH = "38.1 (base) and 41.8 (big) of Table 2"
TABLE_3 = "25.8 (base) and 26.4 (big) of Table 3"
PAPER_FIGURES = {GERMAN_2014_FILTERED: TABLE_2, GERMAN_2013: TABLE_3}
BLEU = ("bleu", "bleu-lc", "bleu-tok", "bleu-tok-lc", "bleu-paper", "bleu-paper-plain")


def paper_comparability(metric: str, test_set: str) -> str:
    """One sentence; nothing where the paper prints nothing that one could compare with."""
    test_set = test_set.removesuffix(OTHER_FORM)
    if metric not in BLEU:
        return ""
    if test_set == GERMAN_2014_ALL:
        return f"not beside {TABLE_2}: these are on the shorter edition, 2,737 of the 3,003 lines"
    if test_set == FRENCH_2014:
        return f"not beside {TABLE_2_FRENCH}: the paper does not say how it cut French into words"
    if test_set not in PAPER_FIGURES:
        return ""
    printed = PAPER_FIGURES[test_set]
    if metric == "bleu-paper":
        return f"may stand beside {printed}, if the reference is tokenised as the authors' was"
    if metric == "bleu-paper-plain":
        return f"near {printed}, but not beside them: the reference was tokenised here"
    return f"not beside {printed}: the paper counts other words, --metric bleu-paper does as it did"
