"""Detection of the line from which two parallel files no longer match."""

import math
from typing import final

THRESHOLD = 8.0  # of `surprise`: reached by about 20 misaligned pairs, seldom by aligned files


@final
class MisalignmentDetector:
    """A detector of the line from which two parallel files mismatch, by the lines' lengths alone.

    The lengths of a line and its translation have a nearly constant ratio. After a line that is
    missing on one side, line i of one file is no longer the translation of line i of the other,
    and |log(source length / target length)| is larger. `surprise` is the running sum of its excess
    over twice its mean so far, never below zero (Page's CUSUM, 1954). When `surprise` exceeds
    `THRESHOLD`, the files are taken to be misaligned from the line at which it last left zero.
    """

    def __init__(self) -> None:
        self.first_misaligned_line = (
            0  # the first misaligned line, counted from 1; 0 if none is known
        )
        self.lines = 0
        self.total = 0.0
        self.surprise = 0.0
        self.start = 0

    def observe(self, source: int, target: int) -> None:
        """Add the next pair, given the lengths of its two sides in characters."""
        if self.first_misaligned_line:
            return
        self.lines += 1
        distance = abs(math.log((source + 5) / (target + 5)))  # 5: short lines vary most
        usual = (self.total + 1.0) / (self.lines + 4)  # mean of all pairs so far, 0.25 at first
        self.total += distance
        if self.surprise == 0:
            self.start = self.lines
        self.surprise = max(0.0, self.surprise + distance - 2 * usual)
        if self.surprise > THRESHOLD:
            self.first_misaligned_line = self.start
