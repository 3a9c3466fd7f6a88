"""Placeholders, URLs and e-mail addresses, which are not translated, and numbers.

A model cannot translate %s or a URL. Each placeholder, URL and e-mail address is replaced by a
stand-in, a word that models copy, such as a name or a year, and is put back afterwards. Numbers
stay in the text and are only compared. Every regular expression here takes linear time.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import final

FORMAT = (
    r"%(?:\(\w{1,100}\)|\d{1,2}\$)?[-+#0]*+(?:[1-9]\d*|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[qjztL])?"
    r"[diouxXeEfFgGaAcsrpn@]"
)
PRINTF = rf"(?<!\d)(?<!\d[ \u00a0\u202f]){FORMAT}"  # a percent sign after a number is a percentage
AFTER_NUMBER = rf"(?<=\d[ \u00a0\u202f]){FORMAT}(?![^\W_])"  # "2 %s", but not "50 %ige"
PERCENT = r"(?<!\d)(?:\d{1,9}[.,])?\d{0,9}%%"  # %% and any number before it
QT = r"(?<!\d)%L?[1-9]\d?(?!\d)"
BRACES = r"\{{3,9}[^{}]{0,200}\}{3,9}|\{\{[^{}]{0,200}\}\}|[$%#]?\{[^{}\s]{0,200}\}"
STATEMENT = r"\{%[^{}%]{0,200}%\}|<%[^%]{0,200}%>"  # of Jinja, Django and Twig; of ERB and EJS
ICU = r"\{\w{1,100}, ?(?:number|date|time|spellout|ordinal|duration)(?:, ?[^{}]{0,50})?\}"
CASES = (  # of ICU's messages: {n, plural, one {# dog} other {# dogs}}
    r"\{\w{1,100}, ?(?:plural|select|selectordinal),(?:[^{}]{0,100}\{[^{}]{0,100}\}){1,9} ?\}"
)
# Thai, Lao, Burmese, Khmer; Chinese, Japanese and Korean, with their punctuation
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
URL = (  # letters of these scripts belong to it only behind a mark such as /
    r"(?<![a-zA-Z0-9_])(?:(?i:https?|ftps?|sftp|file)://|(?i:mailto:|www\.)(?=[\w@]))"
    rf"(?:[^\s<>\"“”„«»{UNSPACED}]|(?<=[/=#&_-])(?:(?=\w)[{UNSPACED}])+)+"
)
LETTER = rf"[^\W{UNSPACED}]"
EMAIL = (
    rf"(?<![.+-])(?<!{LETTER})(?:{LETTER}|[.+-]){{1,64}}@(?:{LETTER}|-){{1,63}}"
    rf"(?:\.(?:{LETTER}|-){{1,63}})+"
)
ITEM = re.compile(
    "|".join((URL, EMAIL, CASES, STATEMENT, BRACES, ICU, PERCENT, PRINTF, AFTER_NUMBER, QT))
)
TAG, ENTITY = r"</?[a-zA-Z][^<>]*>", r"&(?:[a-zA-Z]+|#\d+|#x[0-9a-fA-F]+);"
MARKUP = re.compile(f"{TAG}|{ENTITY}")
DIGIT = re.compile(r"\d")
NUMBER = re.compile(r"(?<!\d)\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)|\d+")
TRAILING = ".,;:!?'’)]}*_"  # they end the sentence around a URL, not the URL
BRACKETS = {")": "(", "]": "[", "}": "{"}

MOST_NAMED, LONGEST = 5, 60  # how many items a warning names, and with how many characters
YEARS = tuple(str(year) for year in range(1981, 2000))
NAMES = ("Tom", "Anna", "Paul", "Laura", "Martin", "Maria", "Peter", "Julia", "Daniel", "Eva")


def find_items(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each placeholder, URL and e-mail address; touching items are merged."""
    if not any(map(text.__contains__, "%{@:")) and "www." not in text.lower():
        return  # every item has one of these; most lines have none, and the search is slow
    start = end = -1
    for match in ITEM.finditer(text):
        first, last = match.start(), match.start() + len(trim_url(match[0]))
        if first != end:
            if end > start:
                yield start, end
            start = first
        end = last
    if end > start:
        yield start, end


def trim_url(item: str) -> str:
    """Return an item, without the sentence's punctuation at its end if the item is a URL."""
    if not item[0].isalpha():
        return item
    end = len(item)
    surplus = {close: item.count(close) - item.count(start) for close, start in BRACKETS.items()}
    while end and item[end - 1] in TRAILING and surplus.get(item[end - 1], 1) > 0:
        end -= 1
        if item[end] in surplus:
            surplus[item[end]] -= 1
    return item[:end]


@final
@dataclass(frozen=True)
class Masked:
    """A text in which the words of `stand_ins` replace placeholders, URLs and e-mail addresses."""

    text: str
    stand_ins: dict[str, str]  # from an item to the word in its place

    def restore(self, output: str) -> tuple[str, bool]:
        """Return an output with its items put back, and whether no stand-in was lost or added."""
        items = {word: item for item, word in self.stand_ins.items()}
        pattern = build_word_pattern(list(items))
        is_whole = Counter(pattern.findall(output)) == Counter(pattern.findall(self.text))
        return pattern.sub(lambda found: items[found[0]], output), is_whole

    def mask(self, text: str) -> str:
        """Return another text, such as the beginning of an output, with the same items replaced."""
        return replace_items(text, lambda item: self.stand_ins.get(item, item))


def list_masks(text: str, avoid: str = "") -> list[Masked]:
    """Return a text masked with names and the text masked with years, the better one first.

    No word of the masks occurs in `avoid`, such as the beginning that an output is to have.
    Years come first if there is a placeholder for a number, such as %d. An impossible mask is left
    out, so that the list may be empty.
    """
    has_number = any(one[0] == "%" and one[-1] in "diufFeEgG" for one in count_items(text))
    order = (YEARS, NAMES) if has_number else (NAMES, YEARS)
    return [found for words in order if (found := mask(text, words, avoid)) is not None]


def mask(text: str, words: Sequence[str], avoid: str = "") -> Masked | None:
    """Replace each URL, e-mail address and placeholder by one of `words`; None if impossible.

    Words that occur in the text or in `avoid` are not used. It is impossible if there are too few
    words, or if a letter or digit would touch a word.
    """
    items = [text[start:end] for start, end in find_items(text)]
    free = [word for word in words if word not in text and word not in avoid]
    distinct = dict.fromkeys(items)
    if len(distinct) > len(free):
        return None
    stand_ins = dict(zip(distinct, free, strict=False))
    masked = replace_items(text, stand_ins.__getitem__)
    is_legible = len(build_word_pattern(free).findall(masked)) == len(items)
    return Masked(masked, stand_ins) if is_legible else None


def build_word_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that matches these words where no letter or digit stands next to them."""
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, words))})(?![^\W_])")


def replace_items(text: str, replace: Callable[[str], str] = lambda _: " ") -> str:
    """Replace each placeholder, URL and e-mail address by `replace(item)`, by default a space."""
    parts, last = list[str](), 0
    for start, end in find_items(text):
        parts += [text[last:start], replace(text[start:end])]
        last = end
    return "".join([*parts, text[last:]])


def has_words(text: str) -> bool:
    """Return whether a text has a letter outside of placeholders, URLs, tags and entities."""
    return any(map(str.isalpha, MARKUP.sub("", replace_items(text))))


def find_lost(source: str, translation: str) -> list[str]:
    """Return the placeholders, URLs, addresses and numbers of `source` that `translation` lacks."""
    lost = list[str]()
    for count in (count_items, count_numbers):
        if wanted := count(source):  # most lines have none
            lost += (wanted - count(translation)).elements()
    return lost


def compare_placeholders(source: str, translation: str) -> str:
    """Return a phrase on lost or added placeholders and tags, and lost numbers; "" if none."""
    old_tags, new_tags = (Counter(MARKUP.findall(text)) for text in (source, translation))
    lacks = [*find_lost(source, translation), *(old_tags - new_tags).elements()]
    adds = [*(count_items(translation) - count_items(source)).elements()]
    adds += (new_tags - old_tags).elements()
    both = (("lacks", lacks), ("adds", adds))
    return " and ".join(f"{fact} {describe_items(some)}" for fact, some in both if some)


def describe_items(items: Sequence[str]) -> str:
    """Return a phrase with the first 5 items, each cut to 60 characters, and the others' number.

    An item that is there several times is named once, with a count.
    """
    counts, named = Counter(items), list[str]()
    for item, count in islice(counts.items(), MOST_NAMED):
        name = item if len(item) <= LONGEST else f"{item[:LONGEST]}…"
        times = f" ({count:,} times)" if count > 1 else ""
        named.append(f"{'the number ' if item.isdecimal() else ''}{name}{times}")
    others = len(counts) - len(named)
    return ", ".join(named) + (f" and {others:,} more" if others else "")


def count_items(text: str) -> Counter[str]:
    """Count each placeholder, URL and e-mail address of a text."""
    return Counter(text[start:end] for start, end in find_items(text))


def count_numbers(text: str) -> Counter[str]:
    """Count each number outside placeholders, URLs, addresses and tags; 1,000 counts as 1000."""
    if not DIGIT.search(text):
        return Counter()
    return Counter(map(read_number, NUMBER.findall(MARKUP.sub(" ", replace_items(text)))))


def read_number(written: str) -> str:
    """Return a number's digits as 0 to 9; all separators, the decimal one too, are left out."""
    return "".join(str(unicodedata.decimal(one)) for one in written if one.isdecimal())
