"""Keeps URLs, placeholders and the like unchanged in translations, and reports lost ones.

The items of a line are replaced by words that most models copy: by names, and in a second attempt
by years. If the words do not come back, the line is translated without its items. Word links then
place each item next to the translations of its neighbours, like inline markup.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import final

from transduce.inference.lines import Line, LineWarning
from transduce.inference.outputs import BlockResult, Output
from transduce.text.clean import normalise
from transduce.text.markup import PRIVATE, Piece, insert_markup
from transduce.text.placeholders import (
    Masked,
    describe_items,
    find_items,
    find_lost,
    has_words,
    list_masks,
    replace_items,
)
from transduce.text.sentences import OPENING

MAX_ITEMS = 100  # in a line; the time to place them is quadratic
Restore = Callable[[Output], tuple[str, bool]]  # returns (text with items, whether all are there)


@final
@dataclass(frozen=True)
class Attempt:
    """One way to translate a line: what the model reads, and how to put URLs back into outputs."""

    read: Line
    restore: Restore
    needs_links: bool = False  # whether `restore` needs the output's word alignment

    def restore_output(self, output: Output, source: str) -> tuple[Output, bool]:
        """Return an output with URLs and the like put back, and whether none was lost or added.

        For the plain attempt, which puts nothing back, the bool is always True; `lost` still lists
        what is missing. The alignment is dropped if putting items back changed the number of words
        of a side.
        """
        text, is_whole = self.restore(output)
        links, lost = output.alignment, tuple(find_lost(source, text))
        if links is not None:  # links count the words that the model read
            texts = (self.read.text, output.text, source, text)
            read, written, *after = (len(one.split()) for one in texts)
            links = links if [read, written] == after else None
        if (text, links, lost) == (output.text, output.alignment, output.lost):
            return output, is_whole
        return replace(output, text=text, lost=lost, alignment=links), is_whole


def build_plain_attempt(line: Line) -> Attempt:
    """Return the attempt in which the model reads the line unchanged."""
    return Attempt(line, lambda output: (output.text, True))


def list_attempts(line: Line, *, can_align: bool) -> list[Attempt]:
    """Return attempts at a line, best first; if `can_align`, the last may need word alignments."""
    spans = list(find_items(line.text))
    if not spans or len(spans) > MAX_ITEMS:
        return [build_plain_attempt(line)]
    if not has_words(line.text) and not line.prefix:
        kept = normalise_around(line.text, spans)
        return [Attempt(Line(line.number, ""), lambda _: (kept, True))]
    attempts = list[Attempt]()
    for masked in list_masks(line.text, line.prefix or ""):
        prefix = None if line.prefix is None else masked.mask(line.prefix)
        read = Line(line.number, masked.text, prefix)
        attempts.append(Attempt(read, partial(restore_items, masked)))
    if not can_align or line.prefix is not None:
        return [*attempts, build_plain_attempt(line)]
    rest = replace_items(line.text, lambda _: "")
    place = partial(insert_items, line.text, spans)
    return [*attempts, Attempt(Line(line.number, rest), place, needs_links=True)]


def normalise_around(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text normalised, except at its `spans`, which stay as they are."""
    marks = list(islice((chr(code) for code in PRIVATE if chr(code) not in text), len(spans)))
    found = normalise("".join(piece.raw for piece in cut_pieces(text, spans, marks)))
    for mark, (start, end) in zip(marks, spans, strict=True):
        found = found.replace(mark, text[start:end])
    return found


def restore_items(masked: Masked, output: Output) -> tuple[str, bool]:
    """Return the output's text with URLs and the like back, and whether none is lost or added."""
    return masked.restore(output.text)


def insert_items(text: str, spans: Sequence[tuple[int, int]], output: Output) -> tuple[str, bool]:
    """Return the output's text with the `spans` of `text` placed in it by word links, and True.

    A span is a URL, for example. It keeps the space before it, and touches a word only if it
    touched one in `text`.
    """
    used = set(text + output.text)
    marks = list(islice((chr(code) for code in PRIVATE if chr(code) not in used), len(spans)))
    links = output.alignment.rank_links() if output.alignment else ()
    found = insert_markup(cut_pieces(text, spans, marks), output.text, links, str)
    for mark, (start, end) in zip(marks, spans, strict=True):
        before, _, after = found.partition(mark)
        was_apart = not start or text[start - 1].isspace()
        is_apart = not before or before[-1].isspace() or before[-1] in OPENING
        left = not is_apart and (was_apart or before[-1].isalnum() > text[start - 1].isalnum())
        right = touches_word(after) > touches_word(text[end:])
        found = before + " " * left + text[start:end] + " " * right + after
    return found, True


def touches_word(after: str) -> bool:
    """Return whether the text `after` has a letter or digit before its first space."""
    return any(map(str.isalnum, re.split(r"\s", after, maxsplit=1)[0]))


def cut_pieces(text: str, spans: Sequence[tuple[int, int]], marks: Sequence[str]) -> list[Piece]:
    """Cut a text into pieces: for each span an "empty" piece with its mark, for the rest "text"."""
    pieces, last = list[Piece](), 0
    for mark, (start, end) in zip(marks, spans, strict=True):
        pieces += [Piece("text", text[last:start]), Piece("empty", mark)]
        last = end
    return [piece for piece in (*pieces, Piece("text", text[last:])) if piece.raw]


def keep_items(
    lines: Sequence[Line],
    search: Callable[[Sequence[Line], bool], BlockResult],
    *,
    can_align: bool,
) -> BlockResult:
    """Translate lines by `search`; if a best output loses URLs, make the line's next attempt.

    `search` is called with lines, and whether outputs need word alignments. A line gets outputs
    from its first attempt that keeps all URLs and the like, or from the last one, and a warning if
    the best output lacks a placeholder, URL, address or number.
    """
    attempts = [list_attempts(line, can_align=can_align) for line in lines]
    outputs: list[list[Output]] = [[] for _ in lines]
    warnings: list[list[LineWarning]] = [[] for _ in lines]
    pending = list(range(len(lines)))
    while pending:
        now = [(index, attempts[index].pop(0)) for index in pending]
        pending = []
        for needs_links in (False, True):
            group = [one for one in now if one[1].needs_links == needs_links]
            if not group:
                continue
            result = search([attempt.read for _, attempt in group], needs_links)
            noted = defaultdict[int, list[LineWarning]](list)
            for warning in result.warnings:
                noted[warning.line].append(warning)
            for (index, attempt), found in zip(group, result.outputs, strict=True):
                line = lines[index]
                restored = [attempt.restore_output(output, line.text) for output in found]
                if not restored[0][1] and attempts[index]:
                    pending.append(index)
                    continue
                outputs[index] = [output for output, _ in restored]
                warnings[index] = [*noted[line.number], *warn_of_loss(line.number, outputs[index])]
    return BlockResult(outputs, [one for some in warnings for one in some])


def warn_of_loss(line_number: int, outputs: Sequence[Output]) -> list[LineWarning]:
    """Return [a warning] if a line's best output lacks URLs, placeholders or numbers, else []."""
    if not outputs[0].lost:
        return []
    fact = f"its translation lacks {describe_items(outputs[0].lost)}"
    return [LineWarning(line_number, fact, "lost")]
