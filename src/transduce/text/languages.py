"""Codes of languages, and the language that a text seems to be in."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from transduce.errors import InputError, short_repr
from transduce.text.files import FEWEST_LINES, describe_records

CODE = r"[a-z]{2,3}(?:[-_](?:[A-Z][A-Za-z]{1,3}|[0-9]{3}))*"  # en, pt-BR, zh-Hans, sr_Latn
CODES = re.compile(rf"({CODE})(?:-({CODE}))?")
FORM = "--languages en-fr: the code of the source, then that of the target"
OTHER_CODES = {"no": "nb"}  # py3langid's code -> the code that is used instead
NO_LANGUAGE = "zxx"  # py3langid's code for what is in no language, such as numbers
SURE = 0.9  # a text is in a language that has at least this probability
DOUBTFUL = 0.05  # a text is not in a language that has at most this probability
NAMES = """
ar:Arabic bg:Bulgarian ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English
eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician
he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian
ja:Japanese ka:Georgian kk:Kazakh ko:Korean la:Latin lt:Lithuanian lv:Latvian mk:Macedonian
mt:Maltese nb:Norwegian nl:Dutch nn:Nynorsk pl:Polish pt:Portuguese ro:Romanian ru:Russian
sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil th:Thai tr:Turkish
uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese
"""
LANGUAGE_NAMES = dict(pair.split(":") for pair in NAMES.split())  # by code, in English
SAMPLE_CHARACTERS = 20_000  # a text's language is guessed from at most this many
SAMPLE_LINES = 500  # a text's language is guessed from at most this many lines


def parse_languages(text: str) -> tuple[str, ...]:
    """Return the language codes in a text such as en-fr or en; raise InputError for other text."""
    found = CODES.fullmatch(text)
    if found is None:
        raise InputError(f"{short_repr(text)} names no languages by their codes", FORM)
    return tuple(code for code in found.groups() if code)


def is_language_code(value: object) -> bool:
    """Return whether a value is text in the form of a language's code: en, pt-BR or zh-Hans."""
    return isinstance(value, str) and re.fullmatch(CODE, value) is not None


@lru_cache  # called for each word that gets a capital
def read_primary_code(language: str) -> str:
    """Return the first part of a language's code in lower case, such as "pt" for "pt_BR"."""
    return re.split(r"[-_@.]", language, maxsplit=1)[0].lower()


def to_detected_code(language: str) -> str:
    """Return the code that a language has in detection: "nb" for "no", "pt" for "pt-BR"."""
    primary = read_primary_code(language)
    return OTHER_CODES.get(primary, primary)


def can_detect_languages() -> bool:
    """Return whether py3langid, which `rank_languages` needs, is installed and loads."""
    try:
        import_module("py3langid")
    except Exception:  # noqa: BLE001 - with an unfit numpy the import may raise anything
        return False
    return True


def rank_languages(text: str) -> list[tuple[str, float]]:
    """Return (code, probability) of each language that py3langid knows, most likely first.

    For text without a letter, such as an emoji, the only pair is (`NO_LANGUAGE`, 0.0).
    """
    if not any(map(str.isalpha, text)):
        return [(NO_LANGUAGE, 0.0)]
    ranked = load_identifier().rank(text)
    return [(OTHER_CODES.get(code, code), probability) for code, probability in ranked]


def find_other_language(text: str, expected: str) -> str:
    """Return the code of a text's language if this is surely not `expected`, else "".

    Only the first 20,000 characters count. Also "" if py3langid is not installed, cannot unpack
    its tables into the folder for temporary files, or does not know the expected language.
    """
    if not can_detect_languages():
        return ""
    try:
        (code, probability), *others = rank_languages(text[:SAMPLE_CHARACTERS])
    except OSError:
        return ""
    of_expected = dict(others).get(to_detected_code(expected), 1.0)
    is_other = probability >= SURE and of_expected <= DOUBTFUL and code != NO_LANGUAGE
    return code if is_other else ""


def find_wrong_side(languages: tuple[str, str], sides: Mapping[str, Sequence[str]]) -> str:
    """Return a warning if source or target is not plain text in the model's language; else "".

    Only the first 500 lines of a side count, and fewer than 20 give no warning. `languages` are
    the model's source and target language. `sides` maps a name to the lines of a side: the source
    first, then the target, which may be left out.
    """
    verbs = ("reads", "writes")
    for (name, lines), language, verb in zip(sides.items(), languages, verbs, strict=False):
        some = lines[:SAMPLE_LINES]
        if records := describe_records(some):
            return f"the {name} is no plain text: {records}"
        if len(some) >= FEWEST_LINES and (
            found := describe_wrong_language(name, some, language, verb)
        ):
            return found
    return ""


def describe_wrong_language(
    name: str, lines: Sequence[str], language: str, verb: str = "reads"
) -> str:
    """Return a warning if lines are surely in a language other than the model's; "" if not.

    `verb` is what the model does with the language: "reads" or "writes".
    """
    other = find_other_language(" ".join(lines), language)
    return other and f"the {name} is in the language {other}, and the model {verb} {language}"


def detect_language(text: str) -> tuple[str, float]:
    """Return the code and the probability of the language that a text is most likely in."""
    code, probability = load_identifier().classify(text)
    return OTHER_CODES.get(code, code), probability


@cache
def load_identifier() -> Any:  # noqa: ANN401 - py3langid has no types
    """Return py3langid's identifier; the first call loads its tables, 78 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
