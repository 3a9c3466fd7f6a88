"""Entries of PO files (GNU gettext) by their lines, so that all other lines keep their bytes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from transduce.errors import InputError

STRING = r'"((?:[^"\\]|\\.)*)"\s*'
FIELD = re.compile(rf"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{{1,2}}\])?)\s*{STRING}")
CONTINUATION = re.compile(STRING)
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
MEANINGS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
ESCAPES = {meaning: f"\\{letter}" for letter, meaning in MEANINGS.items()}
ESCAPES |= {'"': '\\"', "\\": "\\\\"}
CONTROL = re.compile(r'["\\\x00-\x1f\x7f]')
WIDTH = 77  # characters of a line between its quotation marks


@final
@dataclass(frozen=True)
class Field:
    """A field of an entry, such as msgid: its text, and the lines that it takes."""

    value: str
    start: int
    end: int  # the index of the first line after the field


@final
@dataclass
class Entry:
    """An entry of a PO file: its fields by name, its flags, and the indices of their lines."""

    fields: dict[str, Field] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    flags_line: int | None = None  # index of the line of flags, which begins with "#,"
    start: int | None = None  # index of the line that a new line of flags goes before

    @property
    def is_header(self) -> bool:
        """Return whether this entry is the file's header, which holds its settings."""
        return self.fields["msgid"].value == "" and "msgctxt" not in self.fields

    @property
    def end(self) -> int:
        """Return the index of the first line after the entry's last field."""
        return max(one.end for one in self.fields.values())

    def find_translations(self) -> Mapping[str, str]:
        """Return the text of each field that holds a translation, by the field's name."""
        found = self.fields.items()
        return {name: one.value for name, one in found if name.startswith("msgstr")}


def read_entries(lines: list[str], file: str) -> list[Entry]:
    """Parse the lines of a PO file into entries, without obsolete ones; refuse malformed lines."""
    entries, entry, name = list[Entry](), Entry(), ""
    for number, raw in enumerate(lines):
        line = raw.strip()
        match = FIELD.fullmatch(line)
        more = CONTINUATION.fullmatch(line) if name else None
        begins = line.startswith("#") or (match is not None and match[1] in ("msgctxt", "msgid"))
        if begins and has_ended(entry, match):
            entries.append(entry)
            entry = Entry()
        if match:
            name = match[1]
            add_field(entry, name, Field(unescape(match[2]), number, number + 1), file)
        elif more:
            before = entry.fields[name]
            entry.fields[name] = Field(before.value + unescape(more[1]), before.start, number + 1)
        elif line.startswith("#") or not line:
            name = ""
            entry = note_comment(entry, line, number)
        else:
            fact = 'neither a comment nor a field of an entry, such as msgid "text"'
            raise InputError(fact, "`msgfmt -c` checks such files", file=file, line=number + 1)
    if entry.fields:
        entries.append(entry)
    for one in entries:
        require_complete(one, file)
    return entries


def has_ended(entry: Entry, match: re.Match[str] | None) -> bool:
    """Return whether an entry ends before the next line: a field in `match`, or else a comment."""
    if not entry.fields:
        return False
    if match is not None and match[1] == "msgid":
        return "msgid" in entry.fields
    return True


def add_field(entry: Entry, name: str, value: Field, file: str) -> None:
    """Add a field to an entry; raise InputError if it has one of that name."""
    if name in entry.fields:
        raise InputError(f"a second {name} in one entry", file=file, line=value.start + 1)
    entry.fields[name] = value
    if entry.start is None:
        entry.start = value.start


def note_comment(entry: Entry, line: str, number: int) -> Entry:
    """Add the flags in a comment to an entry; return the entry that the next lines belong to.

    Comments do not belong to the next entry if a blank line or an obsolete entry is between them.
    """
    if not entry.fields and (not line or line.startswith("#~")):
        return Entry()
    if line.startswith("#,"):
        entry.flags += [flag.strip() for flag in line[2:].split(",")]
        entry.flags_line = number
    elif line.startswith("#|") and entry.start is None:
        entry.start = number
    return entry


def require_complete(entry: Entry, file: str) -> None:
    """Raise InputError if an entry lacks the field msgid or msgstr."""
    first = min(one.start for one in entry.fields.values()) + 1
    for name in ("msgid", "msgstr[0]" if "msgid_plural" in entry.fields else "msgstr"):
        if name not in entry.fields:
            raise InputError(f"an entry without {name}", file=file, line=first)


def write_field(name: str, value: str, line_end: str) -> Iterator[str]:
    """Yield the lines of a field; a text of several lines, or a long one, begins on a new line."""
    escaped = [escape(line) for line in value.splitlines(keepends=True)] if value else [""]
    if len(escaped) == 1 and len(escaped[0]) + len(name) < WIDTH:
        yield f'{name} "{escaped[0]}"{line_end}'
        return
    yield f'{name} ""{line_end}'
    for line in escaped:
        for part in wrap(line):
            yield f'"{part}"{line_end}'


def wrap(escaped: str) -> list[str]:
    """Cut escaped text after blanks into parts of at most 77 characters or one longer word."""
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
    return ESCAPE.sub(lambda one: read_escape(one[1]), written)


def read_escape(letters: str) -> str:
    """Return the character of an escape sequence, given without its backslash."""
    if letters[0] in "01234567":
        return chr(int(letters, 8))
    if letters[0] == "x" and len(letters) > 1:
        return chr(int(letters[1:], 16))
    return MEANINGS.get(letters, letters)
