"""How far the probabilities of words that the server's page shows can be trusted (row V31).

    python -m benchmarks.calibration MODEL SOURCES REFERENCES

A word counts as right if it is in the reference, at its place of the shortest edit. An exponent
of the probabilities is fitted on every other line, and judged on the rest.
"""

import http.client
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.serving import server

BINS = 10
TEXTS = 16  # of a request
Word = tuple[float, bool]  # its probability, and whether it is right


def main() -> None:
    """Print the calibration of the model on the lines of two files."""
    model, *files = map(Path, sys.argv[1:])
    sources, references = (file.read_text(encoding="utf-8").splitlines() for file in files)
    with server(model) as port:
        lines = [*translate(port, sources)]
    judged = [judge(*both) for both in zip(lines, references, strict=True)]
    fitted, rest = ([one for line in judged[n::2] for one in line] for n in (0, 1))
    exponent = fit_exponent(fitted)
    changed = [(probability**exponent, is_right) for probability, is_right in rest]
    print(f"lines {len(sources)}, words {len(rest)} (judged) and {len(fitted)} (for the exponent)")
    print(f"right {mean([is_right for _, is_right in rest]):.3f}", end=", ")
    print(f"mean probability {mean([probability for probability, _ in rest]):.3f}")
    print(f"expected calibration error {calibration_error(rest):.3f}", end=", ")
    print(f"{calibration_error(changed):.3f} with exponent {exponent:.2f}")
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 1.01)):
        level = [is_right for probability, is_right in rest if low <= probability < high]
        share = f"{mean(level):.3f}" if level else "none"
        print(f"words from {low:.1f} to {min(high, 1):.1f}: {len(level)}, right {share}")


def translate(port: int, sources: Sequence[str]) -> Iterator[list[tuple[str, float]]]:
    """Yield the words of each translation, with the probabilities that the page shows."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/languages")
    pair = json.loads(connection.getresponse().read())[0]
    languages = {"source": pair["code"], "target": pair["targets"][0]}
    for first in range(0, len(sources), TEXTS):
        some = sources[first : first + TEXTS]
        body = json.dumps({"q": some, **languages, "detail": True})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        for sentences in json.loads(connection.getresponse().read())["sentences"]:
            yield [word for sentence in sentences for word in list_words(sentence)]


def list_words(sentence: dict[str, list[str]]) -> list[tuple[str, float]]:
    """Return the words of a sentence's best output, each with the product of its pieces' P."""
    found: list[tuple[str, float]] = []
    both = zip(sentence["target_pieces"], sentence["log_probs"], strict=True)
    for piece, log_prob in [*both][:-1]:  # without the end
        if piece.startswith("␣") or not found:
            found.append(("", 0.0))
        text, total = found[-1]
        found[-1] = text + piece.lstrip("␣"), total + float(log_prob)
    return [(text, math.exp(total)) for text, total in found if text]


def judge(words: Sequence[tuple[str, float]], reference: str) -> list[Word]:
    """Return the probability of each word, and whether the shortest edit keeps it."""
    kept = find_kept([text for text, _ in words], reference.split())
    return [(probability, i in kept) for i, (_, probability) in enumerate(words)]


def find_kept(words: Sequence[str], reference: Sequence[str]) -> set[int]:
    """Return the places of the words that a shortest edit into the reference keeps."""
    cost = [[*range(len(reference) + 1)]]
    for i, word in enumerate(words, 1):
        row = [i]
        for j, other in enumerate(reference, 1):
            row.append(min(cost[-1][j] + 1, row[-1] + 1, cost[-1][j - 1] + (word != other)))
        cost.append(row)
    i, j, kept = len(words), len(reference), set[int]()
    while i and j:
        is_equal = words[i - 1] == reference[j - 1]
        if cost[i][j] == cost[i - 1][j - 1] + (not is_equal):
            i, j = i - 1, j - 1
            kept |= {i} if is_equal else set()
        elif cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return kept


def mean(values: Sequence[float]) -> float:
    """Return the mean of some values."""
    return sum(values) / len(values)


def calibration_error(words: Sequence[Word]) -> float:
    """Return |mean probability - share of right words|, weighted over ten equal bins."""
    bins: list[list[Word]] = [[] for _ in range(BINS)]
    for word in words:
        bins[min(int(word[0] * BINS), BINS - 1)].append(word)
    gaps = [abs(sum(p for p, _ in one) - sum(right for _, right in one)) for one in bins]
    return sum(gaps) / len(words)


def fit_exponent(words: Sequence[Word]) -> float:
    """Return the exponent of the probabilities under which the judgements are most likely."""

    def loss(exponent: float) -> float:
        powers = [(min(max(p**exponent, 1e-9), 1 - 1e-9), right) for p, right in words]
        return -sum(math.log(p if right else 1 - p) for p, right in powers)

    return min((n / 20 for n in range(2, 101)), key=loss)


if __name__ == "__main__":
    main()
