"""The paper's own BLEU, English to German: tokenised, compounds split    (section 6.1, Table 2)

Only the output passes the tokeniser; the authors had references that were tokenised already, by
others. Whoever has plain references can have them cut here, but that is another figure: it has
another name and another signature.
"""

from collections.abc import Sequence

from transduce.errors import InputError
from transduce.scores.multi_bleu import ascii_blanks
from transduce.text.moses import (
    build_moses_tokenizer,
    is_tokenised,
    replace_unicode_punctuation,
    split_compounds,
)

Texts = Sequence[Sequence[str]]  # the output first, then its references
CUT = "punctuation+moses2017de+compounds"
UNDO = "undo the tokenisation; or --metric bleu-tok scores tokenised text as it is"


def tokenise_output(texts: Texts) -> tuple[Texts, str]:
    """The output cut, compounds of all split."""
    output, *references = texts
    require_plain("output", output, UNDO)
    for reference in references:
        if is_tokenised(reference) is False:
            raise InputError(
                "the reference is plain text, and bleu-paper wants one that is tokenised",
                "--metric bleu-paper-plain tokenises it, which gives another figure",
            )
    split = [[ascii_blanks(split_compounds(line)) for line in text] for text in references]
    return [cut(output), *split], f"|blanks:ascii|output:{CUT}|reference:compounds{version()}"


def tokenise_both_sides(texts: Texts) -> tuple[Texts, str]:
    """Output and references cut alike: else their quotes would differ."""
    output, *references = texts
    require_plain("output", output, UNDO)
    for reference in references:
        require_plain("reference", reference, "--metric bleu-paper takes it as it is")
    return [cut(text) for text in texts], f"|blanks:ascii|output:{CUT}|reference:{CUT}{version()}"


def cut(text: Sequence[str]) -> list[str]:
    """Plain lines as the words that are counted."""
    words = build_moses_tokenizer()
    return [
        ascii_blanks(split_compounds(words(replace_unicode_punctuation(line)))) for line in text
    ]


def require_plain(name: str, text: Sequence[str], hint: str) -> None:
    """Refuse what is cut already: cut twice, its escapes would be escaped."""
    if is_tokenised(text):
        raise InputError(f"the {name} is tokenised already, and this score tokenises it", hint)


def version() -> str:
    """Of the library that cut the words, for the signature."""
    from importlib.metadata import version as installed

    return f"|sacremoses:{installed('sacremoses')}"
