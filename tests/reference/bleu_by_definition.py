"""BLEU as Papineni et al. define it, on words between blanks, without smoothing."""

import math
import re
from collections import Counter
from collections.abc import Sequence


def count_n_grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of a line."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu_by_definition(hypotheses: Sequence[str], *references: Sequence[str]) -> float:
    """Compute BLEU in percent: clipped n-gram precisions up to 4 and the brevity penalty."""
    matches, totals, hypothesis_length, reference_length = [0] * 4, [0] * 4, 0, 0
    for hypothesis, *texts in zip(hypotheses, *references, strict=True):
        words, *others = (
            [w for w in re.split("[ \t\n\r\f\v]+", t) if w] for t in (hypothesis, *texts)
        )
        hypothesis_length += len(words)
        distances = [(abs(len(other) - len(words)), len(other)) for other in others]
        reference_length += min(distances)[1]  # the closest, of two the shorter
        for n in range(1, 5):
            allowed: Counter[tuple[str, ...]] = Counter()
            for other in others:
                allowed |= count_n_grams(other, n)
            found = count_n_grams(words, n)
            matches[n - 1] += sum((found & allowed).values())
            totals[n - 1] += sum(found.values())
    if not all(matches):
        return 0.0
    logs = [math.log(match / total) for match, total in zip(matches, totals, strict=True)]
    brevity = min(1.0, math.exp(1 - reference_length / hypothesis_length))
    return 100 * brevity * math.exp(sum(logs) / 4)
