"""What a user may bring to the explainer's page: words in another language, a tour, a film.

The film of one minute also has a storyboard, for those who speak or draw it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from transduce.durable.json import Record, parse_json, parse_record
from transduce.errors import InputError
from transduce.text.files import read_bytes
from transduce.view.page.document import VIEW, Texts, read_texts

PAGE, ENGLISH, OWN_TOUR = "explainer", "en", "explainer/tour.json"
MAX_BYTES, NAMED = 1 << 20, 3  # of a file; texts that an error names
MAX_STEPS = 200  # the most steps of a tour
TOUR_HINT = (
    'a list of {"title": "…", "text": "…", "link": "#p=cross&l=2"}, the link as the page has it'
)
CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?")  # as Intl takes it
VALUE = re.compile(r"\{\w\}")  # a placeholder, such as {0}
SECONDS, PER_SECOND = 60.0, 15  # the length of the film; characters read in a second
MOST_CAPTIONS, MOST_CHARACTERS = 15, 800
OWN_FILM, FILM_TITLE = "explainer/film.json", "The film: one minute"
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


def choose_page_texts(language: str, file: Path | None) -> tuple[str, dict[str, Texts]]:
    """Return a page's language ("" if the browser chooses) and its texts by language code.

    Raises InputError for a `language` that the package lacks, for a `language` and a `file`
    together, and for a `file` that is not named after its language or lacks a text.
    """
    own = read_texts(PAGE)
    if file is not None:
        if language:
            fact = f"a file of texts and the language {language!r} exclude each other"
            raise InputError(fact, "leave one of them out")
        return file.stem, {file.stem: read_texts_file(file, own["de"])}
    if language and language not in (ENGLISH, *own):
        known = ", ".join((ENGLISH, *own))
        hint = f"known: {known}; a file has another one: --texts {language}.json"
        raise InputError(f"the page has no language {language!r}", hint)
    return language, {code: own[code] for code in own if language in ("", code)}


def read_texts_file(file: Path, wanted: Texts) -> Texts:
    """Read a file of texts, {English: translation}; raise InputError if it lacks one of `wanted`.

    A text that the page lacks is also refused, and a translation without its text's placeholders.
    """
    own = VIEW / PAGE / "texts" / "de.json"
    hint = f"{own} has each text of the page; translate its right side"
    if not CODE.fullmatch(file.stem):
        raise InputError("its name is no code of a language", "fr.json for French", file=file)
    try:
        found = parse_json(read_bytes(file, MAX_BYTES))
        if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
            raise ValueError("not an object of texts")
    except ValueError as error:
        raise InputError(f"has no texts of the page: {error}", hint, file=file) from error
    missing = [text for text in wanted if not found.get(text, "").strip()]
    unknown = [text for text in found if text not in wanted]
    incomplete = [
        text
        for text in wanted
        if text not in missing and {*VALUE.findall(text)} != {*VALUE.findall(found[text])}
    ]
    faults = {"lacks": missing, "has unknown": unknown, "leaves out a value of": incomplete}
    for fact, texts in faults.items():
        if texts:
            raise InputError(f"{fact} {name_texts(texts)}", hint, file=file)
    return {text: found[text] for text in wanted}


def name_texts(texts: list[str]) -> str:
    """Return the first three texts in quotes, and how many others there are."""
    named = ", ".join(repr(text) for text in texts[:NAMED])
    return named if len(texts) <= NAMED else f"{named} and {len(texts) - NAMED:,} more"


@final
@dataclass(frozen=True)
class TourStep:
    """A step of a tour: its title and text, and a link that opens the page at its place."""

    title: str
    text: str
    link: str = ""  # the page's address from its "#" on; what is before it is ignored


def read_tour(path: Path | None) -> list[dict[str, Any]]:
    """Return a tour's steps from a JSON file, or the page's own tour; InputError if malformed."""
    if path is None:
        return parse_json((VIEW / OWN_TOUR).read_bytes())
    try:
        steps = read_records(path, TourStep, MAX_STEPS, "steps")
        for number, step in enumerate(steps, start=1):
            if step.link and "#" not in step.link:
                raise ValueError(f"the link of step {number} has no #, and names no place")
    except ValueError as error:
        raise InputError(f"is no tour: {error}", TOUR_HINT, file=path) from error
    return [asdict(step) for step in steps]


def read_records(file: Path, kind: type[Record], most: int, named: str) -> list[Record]:
    """Return the list in a JSON file as records; ValueError if it has not 1 to `most`."""
    found = parse_json(read_bytes(file, MAX_BYTES))
    if not isinstance(found, list) or not 0 < len(found) <= most:
        raise ValueError(f"it has not 1 to {most} {named}")
    return [parse_record(kind, one) for one in found]


# --- The film -------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Caption:
    """A caption of a film, its picture and part; `needs` is what a page must have to show it."""

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


def read_film(file: Path | None) -> list[Caption]:
    """Return a film's captions from a JSON file, or the page's own; InputError if malformed."""
    try:
        film = read_records(file or VIEW / OWN_FILM, Caption, MOST_CAPTIONS, "captions")
        characters = sum(len(line.text) for line in film)
        if characters > MOST_CHARACTERS:
            fact = f"its captions have {characters:,} characters"
            raise ValueError(f"{fact}, and a minute has room for {MOST_CHARACTERS}")
        if all(line.needs for line in film):
            raise ValueError("it has no caption without `needs`, which every page can show")
    except ValueError as error:
        hint = f"{VIEW / OWN_FILM} is the page's own, and shows the form"
        raise InputError(f"is no film: {error}", hint, file=file) from error
    return film


def time_lines(texts: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Yield each caption's (begin, end) in seconds: reading time and an equal share of the rest.

    Translations that are too long for the film are shown for less time than reading takes.
    """
    characters = sum(map(len, texts))
    a_second = max(PER_SECOND, characters / SECONDS)
    rest = (SECONDS - characters / a_second) / max(1, len(texts))
    now = 0.0
    for text in texts:
        begin, now = now, now + len(text) / a_second + rest
        yield begin, now


def write_storyboard(header: Mapping[str, Any], said: str, texts: Mapping[str, str]) -> str:
    """Return a page's film as Markdown: for each line its time, what is said, and what is seen.

    Lines whose `needs` the page does not meet are left out. `said` is the translation of the film's
    sentence; `texts` translate captions, goals, pictures.
    """
    swap, reading = header["experiments"]["positions"], header["reading"]
    stages = header["stages"]
    steps = [one["name"] + ("" if one["step"] is None else f" ({one['step']})") for one in stages]
    sentence = f"“{reading['text']}” → “{said}”"
    facts = {
        **dict.fromkeys(("sentence", "order", "write", "mask", "without"), sentence),
        **dict.fromkeys(("recurrent", "fading", "pieces", "heads"), f"“{reading['text']}”"),
        "swap": f"“{swap['text']}” → “{swap['before']}”, “{swap['after']}” {swap['twin']}".strip()
        if swap["text"]
        else f"“{reading['text']}”",
        "stages": f"{sentence} · {', '.join(steps)}",
    }
    has = {"": True, "turn": reading["turns"] > 0}
    has |= {"positions": bool(swap["text"]), "stages": len(stages) > 1}
    lines = [Caption(**one) for one in header["film"]]
    film = [line for line in lines if has[line.needs]]
    captions = [texts.get(line.text, line.text) for line in film]
    written = [f"# {texts.get(FILM_TITLE, FILM_TITLE)}", ""]
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
