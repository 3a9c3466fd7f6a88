"""The alignment error rate against the formula written out link by link, and on gold data."""

import gzip
import random

import pytest

import transduce
from transduce.errors import InputError
from transduce.scores.alignments import AER
from transduce.scores.files import compare_alignments, score_alignments
from transduce.scores.scoring import compare_outputs


def brute_force(gold, output):
    """Return precision, recall and AER by counting pair after pair, without sets of links."""
    hit_sure = hit_any = links = sure = 0
    for ours, theirs in zip(gold, output, strict=True):
        kinds: dict[tuple[int, ...], str] = {}
        for text in ours.split():
            kind = "p" if "p" in text else "-"
            i, j = text.split(kind)
            kinds[int(i), int(j)] = min(kind, kinds.get((int(i), int(j)), kind))  # "-" < "p"
        wanted = {tuple(map(int, text.split("-"))) for text in theirs.split()}
        for pair in wanted:
            links += 1
            hit_any += pair in kinds
            hit_sure += kinds.get(pair) == "-"
        sure += sum(kind == "-" for kind in kinds.values())
    return (
        100 * hit_any / links,
        100 * hit_sure / sure,
        100 - 100 * (hit_sure + hit_any) / (links + sure),
    )


def random_lines(rng, kinds):
    return [
        " ".join(
            f"{rng.randrange(6)}{rng.choice(kinds)}{rng.randrange(6)}"
            for _ in range(rng.randrange(9))
        )
        for _ in range(40)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_counting_link_by_link_gives(seed):
    rng = random.Random(seed)
    gold, output = random_lines(rng, "-p"), random_lines(rng, "-")
    score = score_alignments(gold, output)
    found = score.details["precision"], score.details["recall"], score.value
    assert found == pytest.approx(brute_force(gold, output))
    assert not score.higher_is_better


def test_an_example_by_hand():
    """S = {00, 11}, P = S + {12}, A = {00, 12, 21}: AER = 1 - (1 + 2) / (3 + 2)."""
    score = transduce.score_alignments(["0-0 1-1 1p2"], ["0-0 1-2 2-1"])
    assert score.value == pytest.approx(40.0)
    assert score.lines == 1
    assert score.details["precision"] == pytest.approx(200 / 3)
    assert score.details["recall"] == pytest.approx(50.0)


def test_a_link_counts_once_and_a_sure_one_is_not_only_possible():
    assert score_alignments(["0p0 0-0"], ["0-0 0-0"]).details["sure"] == 1
    assert score_alignments(["0p0 0-0"], ["0-0 0-0"]).value == 0.0


def test_no_links_at_all_are_no_error():
    score = score_alignments(["", "1p1"], ["", ""])
    assert (score.value, score.details["precision"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("gold", "output", "message"),
    [
        (["0-0"], ["0-0 1:1"], "output, line 1: '1:1' is no link"),
        (["0-0", "0-x"], ["", ""], "gold, line 2: '0-x' is no link"),
        (["0-0"], ["0p0"], "output, line 1: 0p0 is a possible link, which only a gold file has"),
        (["0-0"], ["-1-0"], "'-1-0' is no link"),
        (["0-0"], ["٣-0"], "is no link"),
        (["0-0", "1-1"], ["0-0"], "an output has 1 lines, and its reference 2"),
        ([], [], "there are no lines to score"),
    ],
)
def test_what_is_no_alignment_is_refused_with_its_line(gold, output, message):
    with pytest.raises(InputError, match=message):
        score_alignments(gold, output)


def test_two_outputs_are_compared_by_resampling():
    rng = random.Random(3)
    gold, ours, theirs = (random_lines(rng, "-") for _ in range(3))
    found = compare_alignments(gold, (ours, theirs), samples=60)
    assert found.ours == score_alignments(gold, ours)
    assert found.p == compare_outputs(AER, (ours, theirs), gold, samples=60).p
    assert compare_alignments(gold, (ours, ours), samples=60).p == 1.0


@pytest.mark.parametrize(
    ("pair", "sure", "links"), [("de-en", 9_613, 10_534), ("en-fr", 4_038, 17_438)]
)
def test_gold_data_are_read_as_their_notes_count_them(shared, pair, sure, links):
    file = shared / f"data/word-align-gold/{pair}.align.gz"
    text = gzip.decompress(file.read_bytes()).decode()
    lines = text.replace("p", "-").splitlines()
    score = score_alignments(file, lines)
    assert (score.details["sure"], score.details["gold"]) == (sure, links)
    only_sure = [
        " ".join(one for one in line.split() if "p" not in one) for line in text.splitlines()
    ]
    assert score_alignments(file, only_sure).value == 0.0
