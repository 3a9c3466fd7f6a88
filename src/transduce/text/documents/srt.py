"""SubRip subtitles: numbers and times stay; the lines of a cue are joined, translated and wrapped.

A cue is a subtitle with the time when it is shown. A sentence ends with its cue, even if the text
goes on in the next cue, because each cue has its own time. If a line after the first begins with a
dash, the cue has several speakers, and its lines are translated one by one. Tags such as <i> and
{\\an8} stay.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import final

from transduce.errors import InputError
from transduce.text.documents.document import Document, Joined, ParseOptions
from transduce.text.documents.markup import SplitMarkup, split_markup
from transduce.text.documents.wrapping import wrap_evenly
from transduce.text.inline import Kind, Links, Piece

TIME = r"\d{1,3}:\d\d:\d\d[,.]\d{1,3}"
TIMES = re.compile(rf"\s*{TIME}\s*-->\s*{TIME}(?:\s.*)?")
TAG = re.compile(r"(</?(?:[biu]|font)(?:\s[^<>]*)?>|\{\\[^{}]*\})", re.IGNORECASE)
WORD = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\}|\S)+")  # a blank inside of a tag does not end a word
NAME = re.compile(r"</?([a-z]+)", re.IGNORECASE)
SPEAKER = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\}|\s)*[-–—]")
WIDTH = 42  # characters of a subtitle's line, as most guides have it


@final
@dataclass(frozen=True)
class Cue:
    """The lines of a subtitle that are translated together, unchanged and split into sentences."""

    raw: str
    split: SplitMarkup
    line_end: str  # between the lines
    lines: int  # the number of lines

    def join(self, translations: Sequence[str], links: Sequence[Links]) -> str:
        """Return the translated text in as many lines as the source, or in more if it is long."""
        if tuple(translations) == self.split.sentences:
            return self.raw
        text = self.split.join(translations, links)
        count = max(self.lines, math.ceil(measure(text) / WIDTH))
        return self.line_end.join(wrap_evenly(WORD.findall(text), count, measure))


def measure(text: str) -> int:
    """Return the number of characters of a cue's text without its tags."""
    return len(TAG.sub("", text))


def parse_srt(text: str, options: ParseOptions) -> Document:
    """Parse a SubRip file into sentences and a function that puts translations in their place."""
    parts = split_cues(text, options)
    cues = [part for part in parts if isinstance(part, Cue)]
    ends = list(accumulate((len(cue.split.sentences) for cue in cues), initial=0))

    def join(translations: Sequence[str], links: Sequence[Links]) -> Joined:
        links = links or [()] * len(translations)
        spans = iter(map(slice, ends, ends[1:]))
        new = [
            part if isinstance(part, str) else part.join(translations[span], links[span])
            for part in parts
            for span in ([slice(0)] if isinstance(part, str) else [next(spans)])
        ]
        return Joined("".join(new))

    sentences = tuple(sentence for cue in cues for sentence in cue.split.sentences)
    has_inline = any(cue.split.has_inline_markup for cue in cues)
    raws = [part if isinstance(part, str) else part.raw for part in parts]
    firsts = accumulate((raw.count("\n") for raw in raws), initial=1)
    lines = [
        line
        for part, first in zip(parts, firsts, strict=False)
        if isinstance(part, Cue)
        for line in part.split.written.list_lines(first)
    ]
    return Document(sentences, join, has_inline, lines)


def split_cues(text: str, options: ParseOptions) -> list[str | Cue]:
    """Split a SubRip file into cues and the strings between them; raise InputError if malformed."""
    parts, cue, in_cue = list[str | Cue](), "", False
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), start=1):
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
        parts += [*build_cues(cue, options), line] if cue else [line]
        cue, in_cue = "", is_time
    return [*parts, *build_cues(cue, options)] if cue else parts


def build_cues(text: str, options: ParseOptions) -> Iterator[str | Cue]:
    """Yield a cue's text as one `Cue`, or one for each speaker's line, each before its line end."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    groups = [[line] for line in lines] if any(map(SPEAKER.match, lines[1:])) else [lines]
    for group in groups:
        whole = "".join(group)
        raw = whole.rstrip("\r\n")
        line_end = "\r\n" if "\r\n" in raw else "\n"
        split = split_markup(find_pieces(raw, options), str, str)
        yield Cue(raw, split, line_end, len(group))
        yield whole[len(raw) :]


def find_pieces(text: str, options: ParseOptions) -> list[Piece]:
    """Split a cue's text at its tags; unless `options.inline`, each tag ends a sentence."""
    pieces = list[Piece]()
    for index, raw in enumerate(TAG.split(text)):
        kind: Kind = "text"
        if index % 2 and not options.inline:
            kind = "boundary"
        elif index % 2:
            kind = "close" if raw.startswith("</") else "open" if raw[0] == "<" else "empty"
        if raw:
            name = NAME.match(raw)
            pieces.append(Piece(kind, raw, name[1].lower() if name else ""))
    return pieces
