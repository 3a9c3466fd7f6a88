"""Moses tokens of German text, as the paper's BLEU counts them    (section 6.1, Table 2)

The authors published the script that they scored English to German with. It takes the output
through two programs of the Moses toolkit as they were in 2017, splits compounds, and counts with a
third (`scores/multi_bleu.py`). These are the steps before the count.
"""

import re
from collections.abc import Callable, Iterable

from transduce.errors import InputError

# Wide punctuation of Chinese and Japanese, curly quotes and the ellipsis. That a wide 1 becomes a
# quote was a mistake of 2017, and is kept. The opening quotes „ and ‘ were not thought of.
PLAIN = str.maketrans(
    dict(
        zip("，、∶：？！；（）～━〈〉【】％", ",,::?!;()~-<>[]%", strict=True),
        **dict(zip("０２３４５６７８９", "023456789", strict=True)),
        **dict.fromkeys("“”「」《》１", '"'),
        **{"’": "'", "…": "..."},
    )
)
WIDE_FULL_STOP = re.compile("[。．] *")
# The script splits bytes, so that no blank but those of ASCII is one.
COMPOUND = re.compile(r"(\S)-(\S)", re.ASCII)
ENDS = re.compile(r"[^\s.?!](\s?)[.?!]$", re.ASCII)


def replace_unicode_punctuation(line: str) -> str:
    """Return a line with ASCII punctuation, by the 36 rules of replace-unicode-punctuation.perl."""
    return WIDE_FULL_STOP.sub(". ", line).translate(PLAIN)


def build_moses_tokenizer() -> Callable[[str], str]:
    """Build the function that tokenises a line as tokenizer.perl -l de did in 2017."""
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "cutting text into the paper's words needs the package sacremoses",
            "pip install 'transduce[paper]'",
        ) from None
    tokenizer = MosesTokenizer("de")
    return lambda line: tokenizer.tokenize(line, return_str=True)


def split_compounds(line: str) -> str:
    """Split words at hyphens, with a mark between: "EU ##AT##-##AT## Gipfel"."""
    return COMPOUND.sub(r"\1 ##AT##-##AT## \2", line)


def is_tokenised(lines: Iterable[str]) -> bool | None:
    """Return whether most lines have a blank before their last mark; None if undecided."""
    found = [bool(end.group(1)) for line in lines if (end := ENDS.search(line))]
    apart = sum(found)
    return None if 2 * apart == len(found) else 2 * apart > len(found)
