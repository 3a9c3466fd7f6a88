"""The paper's own BLEU, English to German: tokenised, compounds split    (section 6.1, Table 2)

The metric bleu-paper tokenises only the output, because the authors' references were already
tokenised. The metric bleu-paper-plain tokenises plain references too, and gives another score.
"""

from collections.abc import Sequence

from transduce.errors import InputError
from transduce.scores.multi_bleu import protect_other_blanks
from transduce.text.moses import (
    build_moses_tokenizer,
    is_tokenised,
    replace_unicode_punctuation,
    split_compounds,
)

Texts = Sequence[Sequence[str]]  # the output first, then its references
STEPS = "punctuation+moses2017de+compounds"
UNDO_HINT = "undo the tokenisation; or --metric bleu-tok scores tokenised text as it is"


def tokenise_output(texts: Texts) -> tuple[Texts, str]:
    """Return `texts` for bleu-paper: output tokenised, compounds split; and a signature suffix."""
    output, *references = texts
    require_untokenised("output", output, UNDO_HINT)
    for reference in references:
        if is_tokenised(reference) is False:
            raise InputError(
                "the reference is plain text, and bleu-paper wants one that is tokenised",
                "--metric bleu-paper-plain tokenises it, which gives another figure",
            )
    split = [[protect_other_blanks(split_compounds(line)) for line in text] for text in references]
    return [
        tokenise_german(output),
        *split,
    ], f"|blanks:ascii|output:{STEPS}|reference:compounds{sacremoses_signature()}"


def tokenise_both_sides(texts: Texts) -> tuple[Texts, str]:
    """Return `texts` for bleu-paper-plain: tokenised, compounds split; and a signature suffix."""
    output, *references = texts
    require_untokenised("output", output, UNDO_HINT)
    for reference in references:
        require_untokenised("reference", reference, "--metric bleu-paper takes it as it is")
    return [
        tokenise_german(text) for text in texts
    ], f"|blanks:ascii|output:{STEPS}|reference:{STEPS}{sacremoses_signature()}"


def tokenise_german(text: Sequence[str]) -> list[str]:
    """Tokenise plain German lines as the paper's script does, with compounds split."""
    words = build_moses_tokenizer()
    return [
        protect_other_blanks(split_compounds(words(replace_unicode_punctuation(line))))
        for line in text
    ]


def require_untokenised(name: str, text: Sequence[str], hint: str) -> None:
    """Raise InputError if a text is already tokenised; a second tokenisation would change it."""
    if is_tokenised(text):
        raise InputError(f"the {name} is tokenised already, and this score tokenises it", hint)


def sacremoses_signature() -> str:
    """Return the signature suffix that names the version of sacremoses."""
    from importlib.metadata import version

    return f"|sacremoses:{version('sacremoses')}"
