"""PO files (GNU gettext): entries without a translation get one; all other lines stay.

An entry is marked fuzzy if a new translation has other placeholders or tags than its source, lacks
a number, or fills the third or a later plural form, since the model can tell only two forms apart.
Programs do not use a fuzzy entry before a person has reviewed it.
"""

import gettext
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from transduce.errors import InputError
from transduce.text.documents.document import Document, Joined, ParseOptions, warn_of_languages
from transduce.text.markup import Links
from transduce.text.placeholders import compare_placeholders, has_words
from transduce.text.sentences import LINE_END, SplitText, cut_at_spans, find_sentences

CHARSET = re.compile(r"charset=([\w.:-]+)")
# what a template or msginit writes; a translation may need more than ASCII
PLAIN_CHARSET = re.compile(r"charset=(?:CHARSET|(?:US-)?ASCII)\b", re.IGNORECASE)
LANGUAGE = re.compile(r"^Language:[ \t]*(\S+)", re.MULTILINE)
PLURALS = re.compile(r"nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;\n]+)")
STRING = r'"((?:[^"\\]|\\.)*)"\s*'
FIELD = re.compile(rf"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{{1,2}}\])?)\s*{STRING}")
CONTINUATION = re.compile(STRING)
BYTE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2}))")  # an escaped byte of a UTF-8 character
ESCAPE = re.compile(rf"(?:{BYTE.pattern})+|\\.")
MEANINGS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
ESCAPES = {meaning: f"\\{letter}" for letter, meaning in MEANINGS.items()}
ESCAPES |= {'"': '\\"', "\\": "\\\\"}
CONTROL = re.compile(r'["\\\x00-\x1f\x7f]')
WIDTH = 77  # characters of a line between its quotation marks


@final
@dataclass(frozen=True)
class Field:
    """A field of a PO entry, such as msgid: its text, and its lines as indices [start, end)."""

    value: str
    start: int
    end: int  # the index of the first line after the field


@final
@dataclass(eq=False)
class Entry:
    """An entry of a PO file: its fields by name, its flags, and where its flags are or can go."""

    fields: dict[str, Field] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    flags_line: int | None = None  # index of the line of flags, which begins with "#,"
    start: int | None = None  # index of the line that a new line of flags goes before

    @property
    def is_header(self) -> bool:
        """Return whether this entry is the file's header, which holds its settings."""
        return self.fields["msgid"].value == "" and "msgctxt" not in self.fields


@final
@dataclass(frozen=True)
class Gap:
    """A missing translation in a PO file: its entry, its field, and the text to translate."""

    entry: Entry
    name: str  # name of the field: msgstr, or msgstr[0] and so on
    source: str
    split: SplitText


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
    gaps = [gap for one in messages for gap in find_gaps(one, plurals, options)]
    untranslated = {gap.entry for gap in gaps}
    kept = [one for one in messages if one not in untranslated]
    fuzzy = [one for one in kept if "fuzzy" in one.flags]

    def join(translations: Sequence[str], _: Sequence[Links]) -> Joined:
        return fill_gaps(lines, header, gaps, translations)

    sentences = tuple(sentence for gap in gaps for sentence in gap.split.sentences)
    language = LANGUAGE.search(settings)
    warnings = warn_of_languages("", language[1] if language else "", options)
    all_warnings = [*warnings, *warn_of_plurals(settings, plurals[0], messages)]
    if fuzzy:
        first = fuzzy[0].fields["msgid"].start + 1
        all_warnings.append(
            f"fuzzy entries, left as they are: {len(fuzzy):,}, the first at line {first:,}"
        )
    return Document(sentences, join, kept=len(kept) - len(fuzzy), warnings=all_warnings)


def warn_of_plurals(settings: str, count: int, messages: Sequence[Entry]) -> Iterator[str]:
    """Yield a warning for an unusable Plural-Forms header, and for each entry with too many forms.

    `count` is the header's nplurals, or 0 if it is missing or invalid. The value INTEGER, which
    templates have, gives a warning only if an entry has plural forms.
    """
    if "nplurals=INTEGER" in settings:
        if any("msgid_plural" in entry.fields for entry in messages):
            yield "Plural-Forms is still a template's; write the target language's rule into it"
    elif "nplurals" in settings and not count:
        yield "the header's Plural-Forms is impossible; each entry keeps the number that it has"
    for entry in messages:
        forms = sum(name.startswith("msgstr[") for name in entry.fields)
        if count and forms > count:
            line = entry.fields["msgid"].start + 1
            yield f"line {line}: {forms} plural forms, and the header's nplurals is {count}"


def read_plurals(settings: str) -> tuple[int, int]:
    """Return a PO header's (count of plural forms, index of the singular); (0, 0) if invalid."""
    match = PLURALS.search(settings)
    try:
        singular = int(gettext.c2py(match[2])(1)) if match else -1
    except (ValueError, ArithmeticError):
        singular = -1
    return (int(match[1]), singular) if match and 0 <= singular < int(match[1]) else (0, 0)


def find_gaps(entry: Entry, plurals: tuple[int, int], options: ParseOptions) -> Iterator[Gap]:
    """Yield an entry's missing translations; `plurals` is (count of forms, singular's index)."""
    found = entry.fields.items()
    known = {name: one.value for name, one in found if name.startswith("msgstr")}
    if "msgid_plural" not in entry.fields:
        wanted = {"msgstr": entry.fields["msgid"].value}
    else:
        one, many = (entry.fields[name].value for name in ("msgid", "msgid_plural"))
        count = plurals[0] or len(known)
        singular = plurals[1] if count > 1 else None
        wanted = {f"msgstr[{n}]": one if n == singular else many for n in range(count)}
    for name, source in wanted.items():
        if not known.get(name):
            # parts without words, such as %s, stay between the sentences
            spans = find_sentences(source, line_end=LINE_END, language=options.source_language)
            translated = (span for span in spans if has_words(source[slice(*span)]))
            yield Gap(entry, name, source, cut_at_spans(source, translated))


def fill_gaps(
    lines: Sequence[str], header: Entry | None, gaps: Sequence[Gap], translations: Sequence[str]
) -> Joined:
    """Return the filled PO text, doubtful entries marked fuzzy, and a note on each doubtful entry.

    An entry is doubtful if a translation has other placeholders or tags, or is a plural
    form after the second.
    """
    new, pending = [[line] for line in lines], iter(translations)
    doubts = dict[Entry, list[str]]()
    for gap in gaps:
        text = gap.split.join([next(pending) for _ in gap.split.sentences])
        put_field(new, gap, text)
        doubt = compare_placeholders(gap.source, text)
        if not doubt and gap.name not in ("msgstr", "msgstr[0]", "msgstr[1]"):
            doubt = "is one of more than two plural forms"
        if doubt:
            doubts.setdefault(gap.entry, []).append(f"{gap.name} {doubt}")
    for entry in doubts:
        mark_fuzzy(new, entry)
    if header is not None and gaps:
        end = max(one.end for one in header.fields.values())
        for number in range(header.fields["msgid"].start, end):
            new[number] = [PLAIN_CHARSET.sub("charset=UTF-8", line) for line in new[number]]
    notes = [
        f"line {entry.fields['msgid'].start + 1}: {'; '.join(found)}"
        for entry, found in doubts.items()
    ]
    return Joined("\n".join(line for some in new for line in some), tuple(notes))


def put_field(lines: list[list[str]], gap: Gap, text: str) -> None:
    """Write `text` into `lines` as a gap's field, in place of the old one or after the form before.

    `lines` has a list of new lines for each line of the file.
    """
    fields = gap.entry.fields
    line_end = "\r" if lines[fields["msgid"].start][0].endswith("\r") else ""
    written = list(write_field(gap.name, text, line_end))
    if gap.name in fields:
        start, end = fields[gap.name].start, fields[gap.name].end
        lines[start:end] = [written, *[[]] * (end - start - 1)]
    else:  # a plural form; msgfmt takes them in order only, and msgstr[10] follows msgstr[2]
        key = (len(gap.name), gap.name)
        end = max(one.end for name, one in fields.items() if (len(name), name) < key)
        lines[end - 1] = [*lines[end - 1], *written]


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


def read_entries(lines: list[str], file: str) -> list[Entry]:
    """Parse a PO file's lines into entries, except obsolete ones; InputError if malformed."""
    entries, entry, name = list[Entry](), Entry(), ""
    for number, raw in enumerate(lines):
        line = raw.strip()
        match = FIELD.fullmatch(line)
        more = CONTINUATION.fullmatch(line) if name else None
        field_name = match[1] if match else ""
        is_second = field_name == "msgid" and field_name in entry.fields
        if entry.fields and (line.startswith("#") or field_name == "msgctxt" or is_second):
            entries.append(entry)
            entry = Entry()
        if match:
            name = field_name
            add_field(entry, name, Field(unescape(match[2]), number, number + 1), file)
        elif more:
            before = entry.fields[name]
            entry.fields[name] = Field(before.value + unescape(more[1]), before.start, number + 1)
        elif line.startswith("#") or not line:
            name = ""
            entry = add_comment_flags(entry, line, number)
        else:
            fact = 'neither a comment nor a field of an entry, such as msgid "text"'
            raise InputError(fact, "`msgfmt -c` checks such files", file=file, line=number + 1)
    if entry.fields:
        entries.append(entry)
    for one in entries:
        require_complete(one, file)
    return entries


def add_field(entry: Entry, name: str, value: Field, file: str) -> None:
    """Add a field to an entry; raise InputError if it has one of that name."""
    if name in entry.fields:
        raise InputError(f"a second {name} in one entry", file=file, line=value.start + 1)
    entry.fields[name] = value
    if entry.start is None:
        entry.start = value.start


def add_comment_flags(entry: Entry, line: str, line_index: int) -> Entry:
    """Add the flags of a comment line to `entry`; return the entry that the next line belongs to.

    This is a new entry if the line is blank or obsolete and no field was read, because comments
    above such a line do not belong to the fields below it.
    """
    if not entry.fields and (not line or line.startswith("#~")):
        return Entry()
    if line.startswith("#,"):
        entry.flags += [flag.strip() for flag in line[2:].split(",")]
        entry.flags_line = line_index
    elif line.startswith("#|") and entry.start is None:
        entry.start = line_index
    return entry


def require_complete(entry: Entry, file: str) -> None:
    """Raise InputError if an entry lacks the field msgid or msgstr."""
    first = min(one.start for one in entry.fields.values()) + 1
    for name in ("msgid", "msgstr[0]" if "msgid_plural" in entry.fields else "msgstr"):
        if name not in entry.fields:
            raise InputError(f"an entry without {name}", file=file, line=first)


def write_field(name: str, value: str, line_end: str) -> Iterator[str]:
    """Yield the lines that write a field; a long or multi-line text begins on the second line."""
    escaped = [escape(line) for line in value.splitlines(keepends=True)] if value else [""]
    if len(escaped) == 1 and len(escaped[0]) + len(name) < WIDTH:
        yield f'{name} "{escaped[0]}"{line_end}'
        return
    yield f'{name} ""{line_end}'
    for line in escaped:
        for part in wrap(line):
            yield f'"{part}"{line_end}'


def wrap(escaped: str) -> list[str]:
    """Cut escaped text after spaces into parts of up to 77 characters, unless a word is longer."""
    parts = [""]
    for word in re.findall(r"[^ ]* *", escaped):
        if parts[-1] and len(parts[-1]) + len(word) > WIDTH:
            parts.append("")
        parts[-1] += word
    return parts


def escape(text: str) -> str:
    """Return a text with the escapes that the strings of a PO file need."""
    return CONTROL.sub(lambda one: ESCAPES.get(one[0], f"\\{ord(one[0]):03o}"), text)


def unescape(written: str) -> str:
    """Return the text that a string of a PO file holds, with its escapes resolved."""
    return ESCAPE.sub(lambda one: read_escape(one[0]), written)


def read_escape(written: str) -> str:
    """Return the text of an escape such as \\n, or of escaped bytes in a row such as \\303\\251."""
    octets = BYTE.findall(written)
    if not octets:
        return MEANINGS.get(written[1], written[1])
    numbers = (int(octal, 8) if octal else int(digits, 16) for octal, digits in octets)
    return bytes(number & 0xFF for number in numbers).decode("utf-8", "replace")
