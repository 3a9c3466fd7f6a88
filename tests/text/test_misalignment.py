"""Detection of the first misaligned line of two parallel files."""

import random

from transduce.text.files import MisalignmentDetector


def sides(lines, seed):
    """Lengths of sentences and their translations, as corpora have them."""
    draw = random.Random(seed)
    for _ in range(lines):
        length = int(draw.lognormvariate(3.8, 0.6)) + 1
        yield length, max(1, int(length * draw.lognormvariate(0.1, 0.2)))


def first_misaligned_line(source, target):
    detector = MisalignmentDetector()
    for pair in zip(source, target, strict=False):
        detector.observe(*pair)
    return detector.first_misaligned_line


def test_parallel_sides_are_left_in_peace():
    assert not any(
        first_misaligned_line(*zip(*sides(20_000, seed), strict=True)) for seed in range(5)
    )


def test_a_line_that_is_missing_is_found_to_some_lines():
    for seed in range(10):
        source, target = map(list, zip(*sides(2_000, seed), strict=True))
        del target[1_000]
        assert abs(first_misaligned_line(source, target) - 1_000) <= 20


def test_empty_lines_are_lengths_too():
    assert first_misaligned_line([0] * 100, [0] * 100) == 0
