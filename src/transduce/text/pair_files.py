"""Files of pairs: tab-separated columns, CSV, and the translation memories TMX and XLIFF.

The files are read one unit at a time. A unit that is no pair, such as one without a translation, is
yielded as ("", reason), which the cleaning counts and shows.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as Xml
from xml.parsers import expat

from transduce.durable.files import PACKED
from transduce.errors import InputError, short_repr
from transduce.settings.fields import require
from transduce.text.documents.xliff import is_finished
from transduce.text.files import (
    count_columns,
    display_name,
    explain_read_errors,
    find_wide_encoding,
    guess_encoding,
    open_unpacked,
    read_pairs_tsv,
)
from transduce.text.languages import LANGUAGE_NAMES
from transduce.text.xml import INVALID_TOKEN, LONE_HINT

Pair = tuple[str, str]
Columns = tuple[int, int] | tuple[str, str]  # numbers from 1; or names, or languages
XLIFF = (".xlf", ".xliff", ".sdlxliff", ".mqxliff")
NO_PAIR = "headings: "  # begins the reason given for a first line of headings
PAIR_FILES = (".tsv", ".csv", ".tmx", *XLIFF)
PART = 1 << 16
DEEPEST = 100  # most levels of nested elements
CODE_TAGS = {"bpt", "bx", "ec", "ept", "ex", "it", "ph", "sc", "sub", "ut", "x"}  # hold no words
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
DELIMITERS = "\t;,|"  # the first one wins a tie
LINE_END = re.compile(r"\r\n?|\n")
QUOTED = re.compile(r'(?<![^\t;,|\n])"(?:[^"]|"")*(?:"|\Z)')
OTHER_NAMES = """
ar:العربية cs:čeština da:dansk de:deutsch:allemand el:ελληνικά en:englisch:anglais:inglés:inglese
es:español:spanisch fi:suomi fr:français:französisch he:עברית hi:हिन्दी hu:magyar it:italiano
ja:日本語 ko:한국어 nl:nederlands no:norwegian:norsk pl:polski pt:português ro:română ru:русский
sv:svenska tr:türkçe uk:українська zh:中文
"""
HEADINGS = {  # from a name of a column to the side or the language of its texts
    name: names[0]
    for names in (
        *((code, name.lower()) for code, name in LANGUAGE_NAMES.items()),
        *(one.split(":") for one in OTHER_NAMES.split()),
        ("source", "src"),
        ("target", "tgt", "trg"),
    )
    for name in names
    if len(name) > 2  # a code such as "it" may be a word
}
LONGEST_CELL = 1 << 24  # characters


def read_pair_file(
    path: Path, columns: Columns | None = None, more_hint: str = ""
) -> Iterator[Pair]:
    """Yield the pairs of a CSV, TMX, XLIFF or TSV file, ("", reason) for a unit that is no pair.

    The file's name determines the format. A first line that names the two sides, such as source
    and target, is no pair. CSV leaves it out; tab-separated columns yield ("", reason), which the
    cleaning counts.

    `columns` are the source and target columns: their numbers from 1, in CSV also their names, and
    in TMX and XLIFF the codes of two languages. By default a line has two columns (in CSV also
    more, two of them called source and target), and a translation memory has two languages.
    `more_hint` is as for `read_pairs_tsv`. Raises InputError for a malformed file.
    """
    readers = {".csv": read_csv, ".tmx": read_tmx, **dict.fromkeys(XLIFF, read_xliff)}
    read = readers.get(find_suffix(path))
    if read is not None:
        return read(path, columns)
    numbers = None if columns is None else read_column_numbers(columns, path)
    return mark_headings(read_pairs_tsv(path, numbers, more_hint))


def mark_headings(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Yield the pairs, but ("", reason) for a first pair of headings such as English and German."""
    for first in islice(pairs, 1):
        sides = [HEADINGS.get(cell.strip().lower()) for cell in first]
        are_headings = all(sides) and sides[0] != sides[1]
        yield ("", f"{NO_PAIR}{', '.join(first)}") if are_headings else first
    yield from pairs


def require_one_side(path: Path, hint: str = "") -> None:
    """Raise InputError if a file is named as TMX or XLIFF, which hold both sides of pairs."""
    fact = f"{path} is a translation memory, which holds both sides"
    require(not is_memory(path), fact, hint or f"--pairs {path}")


def require_columns(columns: object) -> None:
    """Raise InputError unless `columns` are two different numbers from 1, or two names."""
    both = columns if isinstance(columns, tuple) else ()
    are_numbers = all(type(one) is int and one > 0 for one in both)
    is_right = are_numbers or all(isinstance(one, str) and one for one in both)
    fact = f"columns must be two different numbers from 1, or two names, not {short_repr(columns)}"
    require(len(both) == len({*both}) == 2 and is_right, fact, "columns=(1, 3), for example")


def is_exchange_file(path: Path) -> bool:
    """Return whether a file is named as CSV, TMX or XLIFF, such as pairs.csv or pairs.tmx.gz."""
    return find_suffix(path) in {".csv", ".tmx", *XLIFF}


def is_memory(path: Path) -> bool:
    """Return whether a file is named as TMX or XLIFF, which have languages and no columns."""
    return find_suffix(path) in {".tmx", *XLIFF}


def find_suffix(path: Path) -> str:
    """Return a file's suffix in lower case, such as ".csv" for pairs.csv.gz; "" if it has none."""
    suffixes = [one.lower() for one in path.suffixes]
    return next((one for one in reversed(suffixes) if one not in PACKED), "")


def read_column_numbers(columns: Columns, path: Path) -> tuple[int, int]:
    """Return (source, target) column numbers; raise InputError if `columns` holds names."""
    source, target = columns
    if isinstance(source, int) and isinstance(target, int):
        return source, target
    fact = f"--columns {source},{target}: these columns have no names"
    raise InputError(fact, "count the columns from 1, such as --columns 1,3", file=path)


def read_csv(path: Path, columns: Columns | None) -> Iterator[Pair]:
    """Yield a CSV file's (source, target) cells, but no row of headings; InputError if invalid."""
    name = display_name(path)
    with explain_read_errors(name, str), open_unpacked(path) as file:
        skip_marks(file)
        head = file.peek(PART)
        wide = find_wide_encoding(head)
        encoding = wide or "utf-8"
        stream = io.TextIOWrapper(file, encoding, newline="")
        csv.field_size_limit(max(LONGEST_CELL, csv.field_size_limit()))  # of the whole process
        delimiter = find_delimiter(head.decode(encoding, "ignore"))
        rows = csv.reader(stream, delimiter=delimiter, strict=True)
        places, width = None, 0
        try:
            for row in filter(None, rows):
                if places is None:
                    width = len(row)
                    places, is_head = find_columns(row, columns, name, rows.line_num)
                    if is_head:
                        continue
                require_no_more_cells(row, width, name, rows.line_num)
                yield take_pair(row, places, name, rows.line_num)
        except csv.Error as error:
            hint = "quotes stand around a whole text, and are doubled in it"
            raise InputError(f"is no CSV: {error}", hint, file=name, line=rows.line_num) from None
        except UnicodeDecodeError as error:  # it has the bytes after line `rows.line_num`
            ends = LINE_END.findall(error.object[: error.start].decode(encoding, "ignore"))
            convert = (
                f"convert it, for example: iconv -f {guess_encoding(head, 1)} -t UTF-8 OLD > NEW"
            )
            hint = "is the file complete? save it again" if wide else convert
            fact = f"not {wide or 'UTF-8'}"
            raise InputError(fact, hint, file=name, line=rows.line_num + 1 + len(ends)) from None


def skip_marks(file: io.BufferedReader) -> None:
    """Read past a file's byte-order mark; some programs write it twice."""
    while file.peek(3).startswith(codecs.BOM_UTF8):
        file.read(3)


def find_delimiter(head: str) -> str:
    """Return the most frequent delimiter in a CSV's first row outside of quotes, "," if none."""
    unquoted = QUOTED.sub("", head).partition("\n")[0]
    return max(filter(unquoted.count, DELIMITERS), key=unquoted.count, default=",")


def require_no_more_cells(row: Sequence[str], width: int, name: str, line: int) -> None:
    """Raise InputError if a CSV row has more cells than `width`, those of the first row."""
    if any(row[width:]):
        hint = "quote a text with a delimiter or a line break in it"
        fact = f"{count_columns(row)}, and the first row has {width}"
        raise InputError(fact, hint, file=name, line=line)


def take_pair(row: Sequence[str], places: tuple[int, int], name: str, line: int) -> Pair:
    """Return a CSV row's source and target cell; raise InputError if one is missing or has NUL."""
    if len(row) <= max(places):
        fact = f"{count_columns(row)}, and number {max(places) + 1} is read"
        hint = "quote a text with a delimiter or a line break in it"
        raise InputError(fact, hint, file=name, line=line)
    source, target = row[places[0]], row[places[1]]
    if "\0" in source + target:
        raise InputError("a NUL character", r"tr -d '\0' < OLD > NEW", file=name, line=line)
    return source, target


def find_columns(
    row: Sequence[str], columns: Columns | None, name: str, line: int
) -> tuple[tuple[int, int], bool]:
    """Return the (source, target) indices in a CSV's first row, and whether the row is a heading.

    Raises InputError if a column is missing, or if several columns have its name.
    """
    names = [cell.strip().lower() for cell in row]
    if columns is None:
        columns = (1, 2) if len(row) == 2 else ("source", "target")
    indices = []
    for column in columns:
        if isinstance(column, int):
            if column > len(row):
                fact = f"{count_columns(row)}, and --columns asks for number {column}"
                raise InputError(fact, "count the columns from 1", file=name, line=line)
            indices.append(column - 1)
            continue
        if names.count(column.lower()) != 1:
            many = "several columns are" if column.lower() in names else "no column is"
            fact = f"{many} called {column}"
            hint = f"--columns names two of these: {', '.join(row)}"
            raise InputError(fact, hint, file=name, line=line)
        indices.append(names.index(column.lower()))
    is_named = isinstance(columns[0], str)
    cells = [names[index] for index in indices]
    known = {*HEADINGS, *HEADINGS.values()}  # another cell of two letters may be a word
    are_headings = all(one.partition("-")[0] in known for one in cells)
    are_equal = len({HEADINGS.get(one, one) for one in cells}) == 1  # such as German, Deutsch
    return (indices[0], indices[1]), is_named or (are_headings and not are_equal)


def read_tmx(path: Path, columns: Columns | None) -> Iterator[Pair]:
    """Yield a TMX file's pairs, ("", reason) for an incomplete unit; InputError if no pair.

    A unit is incomplete if it has no text in one of the two languages.
    """
    sides = read_languages(columns, path)
    counts, known = {"units": 0, "pairs": 0}, dict[str, None]()
    for name, texts, declared in read_tmx_units(path):
        known |= dict.fromkeys(texts)
        counts["units"] += 1
        if sides is None and len(texts) > 1:
            sides = choose_languages(list(texts), declared, path)
        pair = [find_variant(texts, side) for side in sides or ()]
        counts["pairs"] += len(list(filter(None, pair))) == 2
        if len(pair) == 2 and all(pair):
            yield pair[0], pair[1]
        else:
            yield "", explain_missing(name, texts)
    require_pairs(counts, sides, known, path)


def explain_missing(name: str, texts: Mapping[str, str]) -> str:
    """Return a phrase that says a unit lacks one or both texts, and quotes the texts that it has.

    `name` is the unit's id, or "" if it has none.
    """
    filled = "; ".join(f"{code}: {text}" for code, text in texts.items() if code and text)
    fact = f"no text in both languages{', but in ' if filled else ''}{filled}"
    return f"unit {name}: {fact}" if name else fact


def read_tmx_units(path: Path) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield (id, {language: text}, source language in the header) for each unit of a TMX file."""
    declared = ""
    for unit, _ in parse_file(path, {"header", "tu"}):
        if local_name(unit) == "header":
            declared = normalise_code(unit.get("srclang", ""))
            continue
        texts = dict[str, str]()
        for variant in find_all(unit, "tuv"):
            code = normalise_code(variant.get(LANGUAGE) or variant.get("lang") or "")
            texts.setdefault(code, join_text(next(find_all(variant, "seg"), None)))
        yield unit.get("tuid", ""), texts, declared


def read_xliff(path: Path, columns: Columns | None) -> Iterator[Pair]:
    """Yield an XLIFF file's pairs, ("", reason) for an incomplete unit; InputError if no pair.

    A unit is incomplete if it lacks a side or if its target is unfinished.
    """
    sides = read_languages(columns, path)
    counts, known = {"units": 0, "pairs": 0}, dict[str, None]()
    for unit, above in parse_file(path, {"trans-unit", "segment"}):
        languages = read_declared_languages(above)
        known |= dict.fromkeys(filter(None, languages))
        if sides is None and all(languages) and languages[0] != languages[1]:
            # another <file> may have variants such as en-gb, or exchange the two languages
            sides = choose_main_codes(languages)
        target = next(find_all(unit, "target"), None)
        both = (join_text(next(find_all(unit, "source"), None)), join_text(target))
        texts = dict(zip(languages, both, strict=True))
        state = unit.get("state") or (None if target is None else target.get("state"))
        pair = both if sides is None else tuple(find_variant(texts, side) for side in sides)
        counts["units"] += 1
        if not all(pair):
            yield "", explain_missing(unit.get("id", ""), texts)
        elif not is_finished(state, unit.get("approved")):
            yield "", f"state {state}: {pair[1]}"
        else:
            counts["pairs"] += 1
            yield pair[0], pair[1]
    require_pairs(counts, sides, known, path)


def choose_main_codes(codes: tuple[str, str]) -> tuple[str, str]:
    """Return the first parts of two codes, such as en for en-gb; the codes if these are equal."""
    source, target = (code.partition("-")[0] for code in codes)
    return codes if source == target else (source, target)


def read_declared_languages(above: Iterable[Xml.Element]) -> tuple[str, str]:
    """Return the (source, target) languages that the elements around an XLIFF unit declare."""
    found = {name: value for one in above for name, value in one.attrib.items()}
    source = found.get("source-language") or found.get("srcLang") or ""
    target = found.get("target-language") or found.get("trgLang") or ""
    return normalise_code(source), normalise_code(target)


def detect_languages(path: Path) -> tuple[str, str]:
    """Return a TMX or XLIFF file's (source, target) language codes, "" for one it does not name.

    The first unit decides; in TMX it is the first with two languages, and InputError is raised if
    the header does not say which is the source.
    """
    if find_suffix(path) == ".tmx":
        for _, texts, declared in read_tmx_units(path):
            if len(texts) > 1:
                return choose_languages(list(texts), declared, path)
    elif find_suffix(path) in XLIFF:
        for _, above in parse_file(path, {"trans-unit", "segment"}):
            return choose_main_codes(read_declared_languages(above))
    return "", ""


def read_languages(columns: Columns | None, path: Path) -> tuple[str, str] | None:
    """Return `columns` as normalised language codes, or None for None; InputError for numbers."""
    if columns is None:
        return None
    source, target = columns
    if isinstance(source, str) and isinstance(target, str):
        return normalise_code(source), normalise_code(target)
    raise InputError("has no numbered columns", "--columns en,de names languages", file=path)


def normalise_code(code: str) -> str:
    """Return a language's code in a form that can be compared, such as en-gb for EN_GB."""
    return code.strip().replace("_", "-").lower()


def choose_languages(codes: Sequence[str], declared: str, path: Path) -> tuple[str, str]:
    """Return (source, target) codes if `codes` are `declared` and one other; else InputError.

    Only the first part of a code counts and is returned, such as en for en-gb.
    """
    main = [code.partition("-")[0] for code in codes]
    source = declared.partition("-")[0]
    others = {*main} - {source}
    if source in main and len(others) == 1:
        return source, others.pop()
    fact = f"has texts in {', '.join(codes)}, and its source language is {declared or 'not named'}"
    sides = main if main[0] != main[1] else codes
    raise InputError(fact, f"--columns {sides[0]},{sides[1]} names source and target", file=path)


def find_variant(texts: Mapping[str, str], wanted: str) -> str:
    """Return the text in the language `wanted`, or else in a variant (en-gb for en); "" if none."""
    if wanted in texts:
        return texts[wanted]
    return next((text for code, text in texts.items() if code.partition("-")[0] == wanted), "")


def require_pairs(
    counts: Mapping[str, int], sides: Sequence[str] | None, known: Iterable[str], path: Path
) -> None:
    """Raise InputError if a translation memory has no units, or no units that are pairs.

    `counts` has the numbers of "units" and "pairs", and `known` the codes of all languages found.
    """
    if not counts["units"]:
        fact = "has no unit with a text and its translation"
        raise InputError(fact, "is this a translation memory?", file=path)
    wanted = "for source and target" if sides is None else f"in {' and '.join(sides)}"
    fact = f"none of its {counts['units']:,} units has a finished text {wanted}"
    codes = list(filter(None, known))
    hint = f"--columns SOURCE,TARGET names two of its languages: {', '.join(codes)}"
    if len(codes) < 2:
        hint = f"its units have {f'one language, {codes[0]}' if codes else 'no language'}"
    if not counts["pairs"]:
        raise InputError(fact, hint, file=path)


def parse_file(
    path: Path, units: Collection[str]
) -> Iterator[tuple[Xml.Element, list[Xml.Element]]]:
    """Yield a file's XML elements named in `units`, each with its ancestors, outermost first."""
    name = display_name(path)
    with explain_read_errors(name, str), open_unpacked(path) as file:
        try:
            yield from parse_units(iter(lambda: file.read(PART), b""), units, name)
        except (Xml.ParseError, ValueError, LookupError) as error:  # the last two: a bad encoding
            fact = f"is no XML that can be read ({error})"
            hint = "is the file complete? export it anew, in UTF-8"
            if isinstance(error, Xml.ParseError) and error.code == INVALID_TOKEN:
                hint = f"{LONE_HINT}; is the file in UTF-8?"
            raise InputError(fact, hint, file=name) from None


def parse_units(
    parts: Iterable[bytes], units: Collection[str], name: str
) -> Iterator[tuple[Xml.Element, list[Xml.Element]]]:
    """Yield each element named in `units` with its ancestors, outermost first, in constant memory.

    The list of ancestors changes when the next element is read. Raises InputError for too many
    nested elements, and for declared entities, because they let a small file stand for gigabytes.
    """
    parser: Xml.XMLPullParser[Xml.Element] = Xml.XMLPullParser(("start", "end"))
    check_prolog = start_prolog_check(name)
    above, inside = list[Xml.Element](), 0
    for part in parts:
        check_prolog(part)
        parser.feed(part)
        for event, element in cast("Iterator[tuple[str, Xml.Element]]", parser.read_events()):
            is_unit = local_name(element) in units
            if event == "start":
                above.append(element)
                inside += is_unit
                require(len(above) <= DEEPEST, f"{name}: over {DEEPEST} nested elements")
                continue
            above.pop()
            inside -= is_unit
            if is_unit:
                yield element, above
            if above and not inside:
                del above[-1][:]  # frees the elements that have been read
    parser.close()


def start_prolog_check(name: str) -> Callable[[bytes], None]:
    """Return a function that reads parts of XML and raises InputError at a declared entity."""
    parser, elements = expat.ParserCreate(), list[str]()

    def refuse(entity: str, *_: object) -> None:
        hint = "with entities a small file can stand for gigabytes: export it without them"
        raise InputError(f"declares the entity {entity}", hint, file=name)

    def check(part: bytes) -> None:
        if not elements:  # entities are declared before the first element
            with suppress(expat.ExpatError, ValueError, LookupError):  # `parse_units` raises it
                parser.Parse(part, False)  # noqa: FBT003 - expat's "this is the last part"

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda element, _: elements.append(element)
    return check


def local_name(element: Xml.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def find_all(element: Xml.Element, name: str) -> Iterator[Xml.Element]:
    """Yield an element's children with this name, in any namespace."""
    return (child for child in element if local_name(child) == name)


def join_text(element: Xml.Element | None) -> str:
    """Return the text of a segment on one line, without formatting codes; "" for None."""
    return "" if element is None else " ".join("".join(list_fragments(element)).split())


def list_fragments(element: Xml.Element) -> Iterator[str]:
    """Yield the texts inside an element, in order, except those inside formatting codes."""
    yield element.text or ""
    for inner in element:
        if local_name(inner) not in CODE_TAGS:
            yield from list_fragments(inner)
        yield inner.tail or ""
