"""German text cut into the words that the paper's BLEU counts    (section 6.1, Table 2)

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
WIDE_STOP = re.compile("[。．] *")
# The script splits bytes, so that no blank but those of ASCII is one.
COMPOUND = re.compile(r"(\S)-(\S)", re.ASCII)
ENDS = re.compile(r"[^\s.?!](\s?)[.?!]$", re.ASCII)


def plain_punctuation(line: str) -> str:
    """Unicode punctuation as ASCII, by the 36 rules of replace-unicode-punctuation.perl, 2017."""
    return WIDE_STOP.sub(". ", line).translate(PLAIN)


def moses_words() -> Callable[[str], str]:
    """tokenizer.perl -l de of 2017: words and punctuation apart, special characters escaped."""
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "cutting text into the paper's words needs the package sacremoses",
            "pip install 'transduce[paper]'",
        ) from None
    tokenizer = MosesTokenizer("de")
    return lambda line: tokenizer.tokenize(line, return_str=True)


def compounds_split(line: str) -> str:
    """Words with a hyphen as two and a mark between: "EU ##AT##-##AT## Gipfel"."""
    return COMPOUND.sub(r"\1 ##AT##-##AT## \2", line)


def looks_tokenised(lines: Iterable[str]) -> bool | None:
    """Whether most marks at the ends of lines stand apart; None if as many do as do not."""
    found = [bool(end.group(1)) for line in lines if (end := ENDS.search(line))]
    apart = sum(found)
    return None if 2 * apart == len(found) else 2 * apart > len(found)
