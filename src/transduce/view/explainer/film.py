"""The script of the film of one minute, and a storyboard for those who speak or draw it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from transduce.durable.json import parse_json, parse_record
from transduce.errors import InputError
from transduce.text.files import read_bytes
from transduce.view.page.document import read_part

SECONDS, PER_SECOND = 60.0, 15  # the length of the film; characters read in a second
MOST_CAPTIONS, MOST_CHARACTERS, MAX_BYTES = 15, 800, 1 << 20
OWN, TITLE = "explainer/film.json", "The film: one minute"
HINT = f"the page's own, src/transduce/view/{OWN}, shows the form"
PARTS = ("hook", "intro", "experiment", "results", "conclusion")
NEEDS = ("", "turn", "positions", "stages")  # what a page must have for a line to be shown
PICTURES = {
    "sentence": "The sentence, and below it its translation.",
    "order": "Lines from each word of the translation to the word that it comes from.",
    "recurrent": "Drawing, not of this model: boxes in a row, each hands one memory on.",
    "fading": "Drawing, not of this model: the row again; the first words fade.",
    "pieces": "The pieces of the sentence, each with a column of its numbers as colours.",
    "heads": "All heads of the last encoder layer: which piece reads which, from 0 to 1.",
    "write": "The translation word by word, with lines to what is read.",
    "mask": "Training: each piece of the answer reads those up to it; the rest is hatched.",
    "swap": "The same words in two orders: their translations, and those without positions.",
    "stages": "The translation at each stage of the training.",
    "table": "The paper's Table 2, not of this model: English to German, BLEU and cost.",
    "map": "Figure 1 of this model; encoder and decoder light up in turn.",
    "figure": "Figure 1 of this model.",
    "without": "The sentence, its translation, and that without the largest weight's head.",
}


@final
@dataclass(frozen=True)
class Line:
    """A caption with its picture and part; `needs` names what a page must have to show it."""

    part: str
    text: str
    picture: str
    needs: str = ""
    goal: str = ""  # the goal of the part, only at its first line

    def __post_init__(self) -> None:
        values = {"part": PARTS, "picture": tuple(PICTURES), "needs": NEEDS}
        for name, known in values.items():
            value = getattr(self, name)
            if value not in known:
                named = ", ".join(filter(None, known))
                raise ValueError(f"the {name} {value[:40]!r} is unknown; known: {named}")
        if not self.text.strip():
            raise ValueError("a caption is empty")


def read_film(file: Path | None) -> list[Line]:
    """Read a film's script from a JSON file, by default ours; raise InputError if it is unfit."""
    try:
        own = read_part(OWN).encode() if file is None else b""
        lines = parse_json(own or read_bytes(file or Path(), MAX_BYTES))
        if not isinstance(lines, list) or not 0 < len(lines) <= MOST_CAPTIONS:
            raise ValueError(f"it has not 1 to {MOST_CAPTIONS} captions")
        film = [parse_record(Line, line) for line in lines]
        characters = sum(len(line.text) for line in film)
        if characters > MOST_CHARACTERS:
            fact = f"its captions have {characters:,} characters"
            raise ValueError(f"{fact}, and a minute has room for {MOST_CHARACTERS}")
    except ValueError as error:
        raise InputError(f"is no film: {error}", HINT, file=file) from error
    return film


def time_lines(texts: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Yield each caption's (begin, end) in seconds; they share the film's spare time equally."""
    rest = (SECONDS - sum(map(len, texts)) / PER_SECOND) / max(1, len(texts))
    now = 0.0
    for text in texts:
        begin, now = now, now + len(text) / PER_SECOND + rest
        yield begin, now


def choose_lines(header: Mapping[str, Any]) -> list[Line]:
    """Return the captions of a page's film, without those that need what the page lacks."""
    has = {
        "": True,
        "turn": header["reading"]["turns"] > 0,
        "positions": bool(header["experiments"]["positions"]["text"]),
        "stages": len(header["stages"]) > 1,
    }
    lines = [Line(**line) for line in header["film"]]
    return [line for line in lines if has[line.needs]]


def write_storyboard(header: Mapping[str, Any], said: str, texts: Mapping[str, str]) -> str:
    """Return a page's film as Markdown: for each line its time, what is said, and what is seen.

    `said` is the translation of the film's sentence; `texts` translate captions, goals, pictures.
    """
    swap, reading = header["experiments"]["positions"], header["reading"]
    steps = [f"{one['name']} ({one['step']})" for one in header["stages"]]
    sentence = f"“{reading['text']}” → “{said}”."
    facts = {
        **dict.fromkeys(("sentence", "order", "write", "mask", "without"), sentence),
        **dict.fromkeys(("recurrent", "fading", "pieces", "heads"), f"“{reading['text']}”."),
        "swap": f"“{swap['text']}” → “{swap['before']}”, “{swap['after']}”. {swap['twin']}".strip(),
        "stages": f"{sentence} {', '.join(steps)}.",
    }
    film = choose_lines(header)
    captions = [texts.get(line.text, line.text) for line in film]
    written = [f"# {texts.get(TITLE, TITLE)}", ""]
    for line, text, (begin, end), before in zip(
        film, captions, time_lines(captions), [None, *film], strict=False
    ):
        if before is None or line.part != before.part:
            written += [f"## {texts.get(line.part, line.part).capitalize()}", ""]
        if line.goal:
            written += [f"*{texts.get(line.goal, line.goal)}*", ""]
        seen = texts.get(PICTURES[line.picture], PICTURES[line.picture])
        shown = " ".join(filter(None, [seen, facts.get(line.picture, "")]))
        written += [f"**{begin:.1f} to {end:.1f} s.** {text}", "", f"> {shown}", ""]
    return "\n".join(written)
