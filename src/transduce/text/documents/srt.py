"""SubRip subtitles: numbers and times stay; the lines of a cue are joined, translated and wrapped.

A cue is a subtitle with the time when it is shown. A sentence ends with its cue, even if the text
goes on in the next cue, because each cue has its own time. A line that ends a sentence is not
joined to one that begins another. If a line after the first begins with a dash, the cue has
several speakers, and its lines are translated one by one. Tags such as <i> and {\\an8} stay.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from transduce.errors import InputError
from transduce.text.documents.document import Block, Document, ParseOptions, build_document
from transduce.text.documents.plain import LINE, wrap_evenly
from transduce.text.markup import Kind, Links, Piece, split_markup
from transduce.text.sentences import can_end_sentence, can_start_sentence

TIME = r"\d{1,3}:\d\d:\d\d[,.]\d{1,3}"
TIMES = re.compile(rf"\s*({TIME})\s*-->\s*({TIME})(?:\s.*)?")
TAG = re.compile(r"(</?(?:[biu]|font)(?:\s[^<>]*)?>|\{\\[^{}]*\})", re.IGNORECASE)
# a space inside of a tag does not end a word, nor does a no-break space
WORD = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\}|\S|(?<=\S)[\xa0\u202f]+(?=\S))+")
NAME = re.compile(r"</?([a-z]+)", re.IGNORECASE)
SPEAKER = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\}|\s)*[-–—]")
WIDTH = 42  # the most characters in a line of a subtitle, by most style guides


def parse_srt(text: str, options: ParseOptions) -> Document:
    """Parse a SubRip file into sentences and a function that puts translations in their place."""
    found = build_document(split_cues(text, options))
    lines = enumerate(text.split("\n"), start=1)
    times = ((number, TIMES.fullmatch(line.strip())) for number, line in lines)
    wrong = [number for number, one in times if one and read_time(one[1]) > read_time(one[2])]
    if not wrong:
        return found
    warning = (
        f"subtitles that end before they begin: {len(wrong):,}, the first at line {wrong[0]:,}"
    )
    return replace(found, warnings=[warning])


def read_time(text: str) -> tuple[float, ...]:
    """Return hours, minutes and seconds of a subtitle's time, such as 00:01:02,500."""
    return tuple(map(float, text.replace(",", ".").split(":")))


def split_cues(text: str, options: ParseOptions) -> list[str | Block]:
    """Split a SubRip file into blocks and the strings between them; InputError if malformed."""
    parts, cue, in_cue = list[str | Block](), "", False
    line_end = "\r\n" if "\r\n" in text else "\n"
    for number, line in enumerate(LINE.findall(text), start=1):
        content = line.strip()
        is_time = TIMES.fullmatch(content) is not None
        if in_cue and is_time:
            fact = "times where a cue's text goes on"
            raise InputError(fact, "part cues by a blank line", file=options.name, line=number)
        if in_cue and content:
            cue += line
            continue
        if not (is_time or not content or content.isdecimal()):
            fact = "neither the number nor the times of a cue"
            hint = "cues are a number, a line such as 00:01:02,000 --> 00:01:04,500, and text"
            raise InputError(fact, hint, file=options.name, line=number)
        parts += [*build_cues(cue, line_end, options), line] if cue else [line]
        cue, in_cue = "", is_time
    return [*parts, *build_cues(cue, line_end, options)] if cue else parts


def build_cues(text: str, line_end: str, options: ParseOptions) -> Iterator[str | Block]:
    """Split a cue after lines that end a sentence; yield each part as a block, then its line end.

    A cue is not split inside a pair of tags. With several speakers, each line is a block.
    """
    lines, groups, opened = LINE.findall(text), list[list[str]](), 0
    has_speakers = any(map(SPEAKER.match, lines[1:]))
    for line in lines:
        if not groups or has_speakers or (not opened and ends_sentence(groups[-1][-1], line)):
            groups.append([])
        groups[-1].append(line)
        tags = [tag for tag in TAG.findall(line) if tag[0] == "<"]
        opened += len(tags) - 2 * sum(tag.startswith("</") for tag in tags)
    for group in groups:
        whole = "".join(group)
        raw = whole.rstrip("\r\n")
        yield build_cue(raw, len(group), line_end, options)
        yield whole[len(raw) :]


def ends_sentence(line: str, following: str) -> bool:
    """Return whether a line of a cue ends a sentence and the line `following` begins another."""
    before, after = (TAG.sub("", one).split() for one in (line, following))
    return bool(before and after) and can_end_sentence(before[-1]) and can_start_sentence(after[0])


def build_cue(raw: str, line_count: int, line_end: str, options: ParseOptions) -> Block:
    """Build one block from a cue's text of `line_count` lines, which are translated together.

    The translation has as many lines, or more if it is long.
    """
    language, inline = options.source_language, options.inline
    split = split_markup(find_pieces(raw), str, str, language, inline=inline)

    def join(translations: Sequence[str], links: Sequence[Links]) -> str:
        if tuple(translations) == split.sentences:
            return raw
        text = split.join(translations, links)
        count = max(line_count, math.ceil(measure_cue(text) / WIDTH))
        return line_end.join(wrap_evenly(WORD.findall(text), count, measure_cue))

    found = split.written.list_lines()
    return Block(raw, split.sentences, found, join, split.has_inline_markup)


def measure_cue(text: str) -> int:
    """Return the number of characters in a cue's text, not counting its tags."""
    return len(TAG.sub("", text))


def find_pieces(text: str) -> list[Piece]:
    """Split a cue's text at its tags."""
    pieces = list[Piece]()
    for index, raw in enumerate(TAG.split(text)):
        kind: Kind = "text"
        if index % 2:
            kind = "close" if raw.startswith("</") else "open" if raw[0] == "<" else "empty"
        if raw:
            name = NAME.match(raw)
            pieces.append(Piece(kind, raw, name[1].lower() if name else ""))
    return pieces
