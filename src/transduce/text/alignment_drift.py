"""Detection of the line from which two parallel files no longer match."""

import math
from typing import final

THRESHOLD = 8.0  # surprise that must add up: about 20 lines out of step, chance alone seldom does


@final
class DriftDetector:
    """Finds the line where two parallel files lose each other, from line lengths alone.

    Translations have lengths in some steady proportion. When a line is missing on one side, all
    pairs after it are strangers, and |log(length / length)| grows. The excess over twice its usual
    mean is added up, never below zero (Page's CUSUM, 1954); where it last left zero before it
    passed `THRESHOLD` the files lost each other.
    """

    def __init__(self) -> None:
        self.drift_line = 0  # the line, or 0 while the sides keep pace
        self.lines = 0
        self.total = 0.0
        self.surprise = 0.0
        self.start = 0

    def observe(self, source: int, target: int) -> None:
        """Add the next pair, given the lengths of its two sides in characters."""
        if self.drift_line:
            return
        self.lines += 1
        distance = abs(math.log((source + 5) / (target + 5)))  # 5: short lines vary most
        usual = (self.total + 1.0) / (self.lines + 4)  # starts at 0.25, then learns
        self.total += distance
        if self.surprise == 0:
            self.start = self.lines
        self.surprise = max(0.0, self.surprise + distance - 2 * usual)
        if self.surprise > THRESHOLD:
            self.drift_line = self.start
