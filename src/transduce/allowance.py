"""What one input may cost: its memory is estimated, and refused, before the work begins.

A line, a picture or a search is made by others, and its length leads to sizes that nobody chose:
the matrices of an edit distance, the weights of every head for all pairs of pieces. Whoever turns
an input into much memory asks here first.
"""

from transduce.errors import InputError

LINE_BYTES = 256_000_000  # for a line, or the lines of a pair, that is cut into pieces or n-grams
PICTURE_BYTES = 1_000_000_000  # for the attention weights of one text and its output
CHARACTER_BYTES = 215  # measured: of pieces and of n-grams, for each character of a line


def require_affordable(
    what: str, needed: int, most: int, hint: str, line: int | None = None
) -> None:
    """Raise InputError if `what` may need more than `most` bytes, of which it needs `needed`."""
    if needed > most:
        fact = f"{what} may need {needed / 1e9:,.1f} GB of memory, and {most / 1e9:g} are the limit"
        raise InputError(fact, hint, line=line)


def require_short_line(text: str, line: int | None = None) -> None:
    """Raise InputError for a line that is too long to be cut into pieces or n-grams."""
    fact = f"a line of {len(text):,} characters"
    hint = "a line is a sentence, or a few: divide it"
    require_affordable(fact, CHARACTER_BYTES * len(text), LINE_BYTES, hint, line)
