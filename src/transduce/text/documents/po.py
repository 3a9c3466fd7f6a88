"""PO files (GNU gettext): entries without a translation get one; all other lines stay.

If a translation has other placeholders than its msgid, or if the target language has more plural
forms than the model can tell apart, the entry is marked fuzzy, so that no program uses it before a
person has seen it.
"""

import gettext
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from transduce.errors import InputError
from transduce.text.documents.document import Document, Joined, ParseOptions
from transduce.text.documents.po_entries import Entry, read_entries, write_field
from transduce.text.inline import Links
from transduce.text.paragraphs import LINE_END, SplitText, cut, find_sentences
from transduce.text.placeholders import compare_placeholders, has_words

CHARSET = re.compile(r"charset=([\w.:-]+)")
PLURALS = re.compile(r"nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;]+);?")


@final
@dataclass(frozen=True)
class Gap:
    """A missing translation in a PO file: its entry, its field, and the text to translate."""

    entry: Entry
    name: str  # of the field: msgstr, or msgstr[0] and so on
    source: str
    split: SplitText


@final
@dataclass(frozen=True)
class Plurals:
    """The number of a target language's plural forms (None: unknown), and the singular's index."""

    count: int | None = None
    singular: int = 0


def parse_po(text: str, options: ParseOptions) -> Document:
    """Parse a PO or POT file into its untranslated sentences and a function that fills them in."""
    lines = text.split("\n")
    entries = read_entries(lines, options.name)
    header = next((one for one in entries if one.is_header), None)
    settings = header.fields["msgstr"].value if header and "msgstr" in header.fields else ""
    charset = CHARSET.search(settings)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii", "ascii", "charset"):
        hint = "convert it: msgconv -t UTF-8 OLD > NEW"
        raise InputError(f"says that its charset is {charset[1]}", hint, file=options.name)
    plurals = read_plurals(settings)
    messages = [one for one in entries if not one.is_header]
    gaps = [gap for one in messages for gap in find_gaps(one, plurals)]
    untranslated = {id(gap.entry) for gap in gaps}

    def join(translations: Sequence[str], _: Sequence[Links]) -> Joined:
        return fill(lines, header, gaps, translations)

    sentences = tuple(sentence for gap in gaps for sentence in gap.split.sentences)
    return Document(sentences, join, kept=len(messages) - len(untranslated))


def read_plurals(settings: str) -> Plurals:
    """Return the plural forms in the settings of a PO file's header; `Plurals()` if invalid."""
    match = PLURALS.search(settings)
    if match is None:
        return Plurals()
    try:
        singular = int(gettext.c2py(match[2])(1))
    except (ValueError, ArithmeticError):
        return Plurals()
    count = int(match[1])
    return Plurals(count, singular) if 0 <= singular < count else Plurals()


def find_gaps(entry: Entry, plurals: Plurals) -> Iterator[Gap]:
    """Yield the missing translations of an entry, one per plural form if the entry has a plural."""
    known = entry.find_translations()
    if "msgid_plural" not in entry.fields:
        wanted = {"msgstr": entry.fields["msgid"].value}
    else:
        one, many = (entry.fields[name].value for name in ("msgid", "msgid_plural"))
        count = plurals.count or len(known)
        singular = plurals.singular if count > 1 else None
        wanted = {f"msgstr[{n}]": one if n == singular else many for n in range(count)}
    for name, source in wanted.items():
        if not known.get(name):
            yield Gap(entry, name, source, split_message(source))


def split_message(text: str) -> SplitText:
    """Split a message into sentences; one without words, such as %s, is left between them."""
    spans = find_sentences(text, line_end=LINE_END)
    return cut(text, (span for span in spans if has_words(text[slice(*span)])))


def fill(
    lines: Sequence[str], header: Entry | None, gaps: Sequence[Gap], translations: Sequence[str]
) -> Joined:
    """Return the PO file with all gaps filled, and a note on each entry to be reviewed."""
    new, pending = [[line] for line in lines], iter(translations)
    doubts = dict[int, list[str]]()
    for gap in gaps:
        text = gap.split.join([next(pending) for _ in gap.split.sentences])
        put_field(new, gap, text)
        doubt = compare_placeholders(gap.source, text)
        if not doubt and gap.name not in ("msgstr", "msgstr[0]", "msgstr[1]"):
            doubt = "is one of more than two plural forms"
        if doubt:
            doubts.setdefault(id(gap.entry), []).append(f"{gap.name} {doubt}")
    marked = {id(gap.entry): gap.entry for gap in gaps if id(gap.entry) in doubts}
    for entry in marked.values():
        mark_fuzzy(new, entry)
    if header is not None and gaps:
        for number in range(header.fields["msgid"].start, header.end):
            new[number] = [line.replace("charset=CHARSET", "charset=UTF-8") for line in new[number]]
    lost = [
        f"line {entry.fields['msgid'].start + 1}: {'; '.join(doubts[key])}"
        for key, entry in marked.items()
    ]
    return Joined("\n".join(line for some in new for line in some), tuple(lost))


def put_field(lines: list[list[str]], gap: Gap, text: str) -> None:
    """Write a gap's translation into `lines`: over its field, or after its entry's last field.

    `lines` has a list of new lines for each line of the file.
    """
    fields = gap.entry.fields
    line_end = "\r" if lines[fields["msgid"].start][0].endswith("\r") else ""
    written = list(write_field(gap.name, text, line_end))
    if gap.name in fields:
        start, end = fields[gap.name].start, fields[gap.name].end
        lines[start:end] = [written, *[[]] * (end - start - 1)]
    else:
        lines[gap.entry.end - 1] = [*lines[gap.entry.end - 1], *written]


def mark_fuzzy(lines: list[list[str]], entry: Entry) -> None:
    """Add the flag fuzzy to an entry in `lines`, unless the entry has it."""
    if "fuzzy" in entry.flags:
        return
    if entry.flags_line is not None:
        (line,) = lines[entry.flags_line]
        lines[entry.flags_line] = [line.replace("#,", "#, fuzzy,", 1)]
        return
    assert entry.start is not None
    line_end = "\r" if lines[entry.start][0].endswith("\r") else ""
    lines[entry.start] = [f"#, fuzzy{line_end}", *lines[entry.start]]
