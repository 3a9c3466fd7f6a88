"""An endless stream of random sentences, drawn from all patterns by their frequencies."""

from collections.abc import Callable, Iterator

from tools.phrasebook import being, joint, nested, reasons, simple
from tools.phrasebook.draw import Draw
from tools.phrasebook.sentence import Sentence

Pattern = Callable[[Draw], Sentence]

SHARES: tuple[tuple[Pattern, int], ...] = (
    (simple.statement, 33),
    (simple.yes_no, 8),
    (simple.who, 2),
    (simple.what, 3),
    (simple.when_where_why, 4),
    (simple.whom, 1),
    (simple.gladly, 3),
    (simple.pleasing, 3),
    (simple.existing, 3),
    (being.being, 3),
    (being.comparing, 1),
    (being.profession, 1),
    (being.counting, 5),
    (being.telling_time, 2),
    (being.weather, 1),
    (reasons.reasoned, 8),
    (reasons.thing_reasoned, 3),
    (joint.conditional, 7),
    (joint.meanwhile, 6),
    (joint.joined, 6),
    (joint.contrasted, 1),
    (nested.thinking, 8),
    (nested.wondering, 5),
    (nested.intending, 4),
    (nested.described_subject, 5),
    (nested.described_object, 5),
)
PATTERNS = tuple(pattern for pattern, share in SHARES for _ in range(share))


def sentences(seed: int) -> Iterator[Sentence]:
    """Yield random sentences from a seed without end; sentences may repeat."""
    draw = Draw(seed)
    while True:
        draw.named.clear()
        yield draw.pick(PATTERNS)(draw)
