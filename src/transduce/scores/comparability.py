"""Comparability of BLEU scores with the paper's scores, decided by metric and test set.

The paper prints BLEU of English to German on newstest2013 (Table 3) and newstest2014 (Table 2), and
of English to French on newstest2014. newstest2014 English-German exists in two editions. The
authors' published script uses the shorter edition, with references that were already tokenised.
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
BLEU_METRICS = ("bleu", "bleu-lc", "bleu-tok", "bleu-tok-lc", "bleu-paper", "bleu-paper-plain")


def describe_paper_comparability(metric: str, test_set: str) -> str:
    """Return a phrase that says whether a score is comparable with the paper's BLEU, or "".

    The phrase is "" if the paper prints no BLEU of the test set, and for metrics other than BLEU.
    """
    test_set = test_set.removesuffix(OTHER_FORM)
    if metric not in BLEU_METRICS:
        return ""
    if test_set == GERMAN_2014_ALL:
        on = "these are on the shorter edition, 2,737 of the 3,003 lines"
        return f"not comparable with {TABLE_2}: {on}"
    if test_set == FRENCH_2014:
        silent = "the paper does not say how it cut French into words"
        return f"not comparable with {TABLE_2_FRENCH}: {silent}"
    if test_set not in PAPER_FIGURES:
        return ""
    printed = PAPER_FIGURES[test_set]
    if metric == "bleu-paper":
        return f"comparable with {printed}, if the reference is tokenised as the authors' was"
    if metric == "bleu-paper-plain":
        return f"near {printed}, but not comparable: the reference was tokenised here"
    return (
        f"not comparable with {printed}: the paper counts other words, as --metric bleu-paper does"
    )
