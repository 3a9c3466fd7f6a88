"""Moses tokens of German text, as the paper's BLEU counts them    (section 6.1, Table 2)

The authors published their script for scoring English to German. It processes the output with two
programs of the Moses toolkit in their versions of 2017, splits compounds, and computes BLEU with a
third program, which `scores/sacrebleu_scorers.py` reproduces. The steps before BLEU are here.
"""

import re
from collections.abc import Callable, Iterable

from transduce.errors import InputError

# Makes full-width punctuation of Chinese and Japanese, curly quotes and the ellipsis ASCII. The
# script of 2017 turns a full-width 1 into a quote by mistake and leaves the opening quotes „ and ‘
# as they are; this table does so too.
PLAIN = str.maketrans(
    dict(
        zip("，、∶：？！；（）～━〈〉【】％", ",,::?!;()~-<>[]%", strict=True),
        **dict(zip("０２３４５６７８９", "023456789", strict=True)),
        **dict.fromkeys("“”「」《》１", '"'),
        **{"’": "'", "…": "..."},
    )
)
WIDE_FULL_STOP = re.compile("[。．] *")
# The script works on bytes, and so only ASCII white space counts.
COMPOUND = re.compile(r"(\S)-(\S)", re.ASCII)
ENDS = re.compile(r"[^\s.?!](\s?)[.?!]$", re.ASCII)


def replace_unicode_punctuation(line: str) -> str:
    """Return a line with ASCII punctuation, as Moses' replace-unicode-punctuation.perl does."""
    return WIDE_FULL_STOP.sub(". ", line).translate(PLAIN)


def build_moses_tokenizer() -> Callable[[str], str]:
    """Build a function that tokenises a German line as Moses' tokenizer.perl of 2017 does."""
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "cutting text into the paper's words needs the package sacremoses",
            "pip install sacremoses",
        ) from None
    tokenizer = MosesTokenizer("de")
    return lambda line: tokenizer.tokenize(line, return_str=True)


def split_compounds(line: str) -> str:
    """Replace hyphens within words by " ##AT##-##AT## ", as in "EU ##AT##-##AT## Gipfel"."""
    return COMPOUND.sub(r"\1 ##AT##-##AT## \2", line)


def is_tokenised(lines: Iterable[str]) -> bool | None:
    """Return whether most lines that end in . ? or ! have a blank before it; None if half do."""
    found = [bool(end.group(1)) for line in lines if (end := ENDS.search(line))]
    apart = sum(found)
    return None if 2 * apart == len(found) else 2 * apart > len(found)
