"""Figures for a spreadsheet."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def as_csv(lines: Sequence[Mapping[str, Any]]) -> str:
    """A head, then a line each."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()
