"""The paper's own BLEU, and which scores compare with it    (section 6.1, Table 2)

The authors published their script for scoring English to German. It runs the output through two
programs of the Moses toolkit of 2017, splits compounds in the output and in the references (which
are already tokenised), and computes BLEU with a third program, multi-bleu.perl. The metric
bleu-paper does the same. The metric bleu-paper-plain also tokenises plain references, so that its
scores differ.

The paper prints BLEU of English to German on newstest2013 (Table 3) and newstest2014 (Table 2), and
of English to French on newstest2014. newstest2014 English-German exists in two editions. The
authors' published script uses the shorter edition, with references that were already tokenised.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from transduce.errors import InputError
from transduce.scores.sacrebleu_scorers import protect_other_blanks
from transduce.scores.score import Texts
from transduce.scores.test_sets import (
    FRENCH_2014,
    GERMAN_2013,
    GERMAN_2014_ALL,
    GERMAN_2014_FILTERED,
    OTHER_FORM,
)

STEPS = "punctuation+moses2017de+compounds"
UNDO_HINT = "undo the tokenisation; or --metric bleu-tok scores tokenised text as it is"

# Turns Chinese and Japanese full-width punctuation, curly quotes and the ellipsis into ASCII.
# The Moses program of 2017 turns a full-width 1 into a quote by mistake and leaves the opening
# quotes „ and ‘ as they are; this table does so too.
PLAIN = str.maketrans(
    dict(
        zip("，、∶：？！；（）～━〈〉【】％", ",,::?!;()~-<>[]%", strict=True),
        **dict(zip("０２３４５６７８９", "023456789", strict=True)),
        **dict.fromkeys("“”「」《》１", '"'),
        **{"’": "'", "…": "..."},
    )
)
WIDE_FULL_STOP = re.compile("[。．] *")
# The authors' script works on bytes, and so only ASCII whitespace counts.
COMPOUND = re.compile(r"(\S)-(\S)", re.ASCII)
ENDS = re.compile(r"[^\s.?!](\s?)[.?!]$", re.ASCII)

TABLE_2 = "27.3 (base) and 28.4 (big) of Table 2"
TABLE_2_FRENCH = "38.1 (base) and 41.8 (big) of Table 2"
TABLE_3 = "25.8 (base) and 26.4 (big) of Table 3"
PAPER_FIGURES = {GERMAN_2014_FILTERED: TABLE_2, GERMAN_2013: TABLE_3}
BLEU_METRICS = (
    *("bleu", "bleu-lc", "bleu-mecab", "bleu-tok", "bleu-tok-lc"),
    *("bleu-paper", "bleu-paper-plain"),
)


def tokenise_output(texts: Texts) -> tuple[Texts, str]:
    """Tokenise the output, split all texts' compounds; return the texts and a signature suffix.

    Raises InputError if the output is tokenised already, or if a reference is not.
    """
    output, *references = texts
    require_untokenised("output", output, UNDO_HINT)
    for reference in references:
        if is_tokenised(reference) is False:
            raise InputError(
                "the reference is plain text, and bleu-paper wants one that is tokenised",
                "--metric bleu-paper-plain tokenises it, which gives another figure",
            )
    split = [[protect_other_blanks(split_compounds(line)) for line in text] for text in references]
    tokenised = tokenise_german(output)
    suffix = f"|blanks:ascii|output:{STEPS}|reference:compounds{sacremoses_signature()}"
    return [tokenised, *split], suffix


def tokenise_both_sides(texts: Texts) -> tuple[Texts, str]:
    """Tokenise all texts, split their compounds; return the texts and a signature suffix.

    Raises InputError if a text is tokenised already.
    """
    output, *references = texts
    require_untokenised("output", output, UNDO_HINT)
    for reference in references:
        require_untokenised("reference", reference, "--metric bleu-paper takes it as it is")
    tokenised = [tokenise_german(text) for text in texts]
    return tokenised, f"|blanks:ascii|output:{STEPS}|reference:{STEPS}{sacremoses_signature()}"


def tokenise_german(text: Sequence[str]) -> list[str]:
    """Tokenise plain German lines as the paper's script does, and split compounds at hyphens."""
    tokenise = build_moses_tokenizer()
    return [
        protect_other_blanks(split_compounds(tokenise(replace_unicode_punctuation(line))))
        for line in text
    ]


def replace_unicode_punctuation(line: str) -> str:
    """Replace Unicode punctuation by ASCII, as Moses' replace-unicode-punctuation.perl does."""
    return WIDE_FULL_STOP.sub(". ", line).translate(PLAIN)


def build_moses_tokenizer() -> Callable[[str], str]:
    """Return a tokenizer of German lines like Moses' of 2017; InputError without sacremoses."""
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


def require_untokenised(name: str, text: Sequence[str], hint: str) -> None:
    """Raise InputError if a text is already tokenised; a second tokenisation would change it."""
    if is_tokenised(text):
        raise InputError(f"the {name} is tokenised already, and this score tokenises it", hint)


def is_tokenised(lines: Iterable[str]) -> bool | None:
    """Return whether most lines that end in . ? or ! have a space before it; None at a tie."""
    found = [bool(end.group(1)) for line in lines if (end := ENDS.search(line))]
    apart = sum(found)
    return None if 2 * apart == len(found) else 2 * apart > len(found)


def sacremoses_signature() -> str:
    """Return the signature suffix that names the version of sacremoses."""
    from importlib.metadata import version

    return f"|sacremoses:{version('sacremoses')}"


def describe_paper_comparability(metric: str, test_set: str) -> str:
    """Return a phrase on whether a score compares with the paper's BLEU, or "" if none is printed.

    It is "" if the paper prints no BLEU of the test set, and for metrics other than BLEU.
    """
    test_set = test_set.removesuffix(OTHER_FORM)
    if metric not in BLEU_METRICS:
        return ""
    if test_set == GERMAN_2014_ALL:
        why = "these are on the shorter edition, 2,737 of the 3,003 lines"
        return f"not comparable with {TABLE_2}: {why}"
    if test_set == FRENCH_2014:
        why = "the paper does not say how it cut French into words"
        return f"not comparable with {TABLE_2_FRENCH}: {why}"
    if test_set not in PAPER_FIGURES:
        return ""
    printed = PAPER_FIGURES[test_set]
    if metric == "bleu-paper":
        return f"comparable with {printed}, if the reference is tokenised as the authors' was"
    if metric == "bleu-paper-plain":
        return f"near {printed}, but not comparable: the reference was tokenised here"
    return (
        f"not comparable with {printed}: the paper counts other words, as --metric bleu-paper does"
    )
