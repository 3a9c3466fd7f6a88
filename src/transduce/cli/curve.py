"""Draw a curve in one line of text."""

from collections.abc import Sequence

from transduce.view.curves.points import mean, split_evenly

BARS = "▁▂▃▄▅▆▇█"


def draw_text_curve(values: Sequence[float], width: int) -> str:
    """Draw values as at most `width` bar characters; values that share a bar are averaged."""
    if not values:
        return ""
    points = [mean(part) for part in split_evenly(values, min(width, len(values)))]
    low, high = min(points), max(points)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((point - low) * scale)] for point in points)
