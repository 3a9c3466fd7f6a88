"""Number words from 0 to 99 and ordinals from 1 to 31, in English and German."""

ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ENGLISH_TENS = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
ENGLISH_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
GERMAN = (
    "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
    "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn",
    "neunzehn",
)  # fmt: skip
GERMAN_TENS = (
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
)  # fmt: skip
GERMAN_ORDINALS = {"eins": "ersten", "drei": "dritten", "sieben": "siebten", "acht": "achten"}


def english_number(n: int) -> str:
    """Return the English word of a number: "twenty-one", for 0 <= n <= 99."""
    if n < 20:
        return ENGLISH[n]
    tens, ones = divmod(n, 10)
    return f"{ENGLISH_TENS[tens]}-{ENGLISH[ones]}" if ones else ENGLISH_TENS[tens]


def german_number(n: int) -> str:
    """Return the German word of a number: "einundzwanzig", for 0 <= n <= 99."""
    if n < 20:
        return GERMAN[n]
    tens, ones = divmod(n, 10)
    first = "ein" if ones == 1 else GERMAN[ones]
    return f"{first}und{GERMAN_TENS[tens]}" if ones else GERMAN_TENS[tens]


def english_ordinal(n: int) -> str:
    """Return the English ordinal of a number: "twenty-first", for 1 <= n <= 31."""
    before, hyphen, last = english_number(n).rpartition("-")
    if last.endswith("ty"):
        return before + hyphen + last[:-1] + "ieth"
    return before + hyphen + ENGLISH_ORDINALS.get(last, last + "th")


def german_ordinal(n: int) -> str:
    """Return the German ordinal of a date after "am": "einundzwanzigsten", 1 <= n <= 31."""
    if n >= 20:
        return german_number(n) + "sten"
    return GERMAN_ORDINALS.get(GERMAN[n], GERMAN[n] + "ten")
