"""Limits on the memory for one input, which is estimated and checked before the work begins.

An input's length determines the sizes of arrays, such as the matrices of an edit distance or the
attention weights of every head. A function that allocates such arrays calls this module first.
"""

from transduce.errors import InputError

LINE_BYTES = 256_000_000  # for one line, or one pair of lines, that is encoded or scored
BEAM_BYTES = 2_000_000_000  # for one sentence, if its search has a wider beam than the paper's
BEAM_VARIABLE = "TRANSDUCE_BEAM_GB"  # the environment variable that replaces BEAM_BYTES, in GB
PICTURE_BYTES = 1_000_000_000  # for the attention weights of one text and its output
CHARACTER_BYTES = 215  # measured for pieces and n-grams, per character of a line


def require_affordable(
    what: str, needed: int, most: int, hint: str, line: int | None = None, file: str | None = None
) -> None:
    """Raise InputError if `needed`, the bytes that `what` may need, exceeds `most`."""
    if needed > most:
        needs, limit = f"{needed / 1e6:,.0f} MB", f"{most / 1e6:,.0f} MB"
        fact = f"{what} may need {needs} of memory, and the limit is {limit}"
        raise InputError(fact, hint, file=file, line=line)


def require_short_line(text: str, line: int | None = None, file: str | None = None) -> None:
    """Raise InputError if cutting a line's text into pieces or n-grams needs too much memory."""
    fact = f"a line of {len(text):,} characters"
    hint = "a line should hold a sentence or a few: split it"
    require_affordable(fact, CHARACTER_BYTES * len(text), LINE_BYTES, hint, line, file)
