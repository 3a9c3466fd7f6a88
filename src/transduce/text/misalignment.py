"""Detection of the line where two parallel files stop matching."""

import math
from typing import final

# The limit of `surprise`: about 20 misaligned pairs exceed it, pairs of aligned files seldom do.
THRESHOLD = 8.0


@final
class MisalignmentDetector:
    """A detector of the line where two parallel files stop matching, by the lengths of lines.

    The lengths of a line and its translation have a nearly constant ratio. After a line that is
    missing on one side, line i of one file is no longer the translation of line i of the other,
    and |log(source length / target length)| is larger. `surprise` is a running sum: each pair adds
    this value less twice the mean value of the pairs so far, and the sum never falls below zero
    (Page's CUSUM, 1954). When `surprise` exceeds `THRESHOLD`, the files are taken to be misaligned
    from the line where `surprise` last left zero.
    """

    def __init__(self) -> None:
        self.first_misaligned_line = 0  # counted from 1; 0 if none is known
        self.lines = 0
        self.total = 0.0  # sum over all pairs of |log(source length / target length)|
        self.surprise = 0.0
        self.start = 0  # the line where `surprise` last left zero

    def observe(self, source: int, target: int) -> None:
        """Update the detector with the lengths in characters of the next source and target line."""
        if self.first_misaligned_line:
            return
        self.lines += 1
        distance = abs(math.log((source + 5) / (target + 5)))  # + 5: short lines vary most
        usual = (self.total + 1.0) / (self.lines + 4)  # about the mean `distance` so far
        self.total += distance
        if self.surprise == 0:
            self.start = self.lines
        self.surprise = max(0.0, self.surprise + distance - 2 * usual)
        if self.surprise > THRESHOLD:
            self.first_misaligned_line = self.start
