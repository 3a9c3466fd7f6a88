"""Adverbs of time in both languages: hours, weekdays, months and dates."""

from functools import cache

from tools.phrasebook.numbers import (
    english_number,
    english_ordinal,
    german_number,
    german_ordinal,
)
from tools.phrasebook.words import Adverb

DAYS = (
    ("Monday", "Montag"),
    ("Tuesday", "Dienstag"),
    ("Wednesday", "Mittwoch"),
    ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"),
    ("Saturday", "Samstag"),
    ("Sunday", "Sonntag"),
)
MONTHS = (
    ("January", "Januar", 31),
    ("February", "Februar", 28),
    ("March", "März", 31),
    ("April", "April", 30),
    ("May", "Mai", 31),
    ("June", "Juni", 30),
    ("July", "Juli", 31),
    ("August", "August", 31),
    ("September", "September", 30),
    ("October", "Oktober", 31),
    ("November", "November", 30),
    ("December", "Dezember", 31),
)
TODAY = Adverb("today", "heute")
TOMORROW = Adverb("tomorrow", "morgen")
YESTERDAY = Adverb("yesterday", "gestern")
NOW = Adverb("now", "jetzt")
EVERY_DAY = (Adverb("every day", "jeden Tag"), Adverb("every morning", "jeden Morgen"))
SEASONS = (Adverb("in summer", "im Sommer"), Adverb("in winter", "im Winter"))
ALWAYS_POSSIBLE = (
    TODAY,
    Adverb("in the morning", "am Morgen"),
    Adverb("in the evening", "am Abend"),
    Adverb("at night", "in der Nacht"),
)
HABITS = (
    *EVERY_DAY,
    Adverb("every evening", "jeden Abend"),
    Adverb("every week", "jede Woche"),
    NOW,
)
GONE = (
    YESTERDAY,
    Adverb("yesterday evening", "gestern Abend"),
    Adverb("last week", "letzte Woche"),
)
TO_COME = (
    Adverb("this evening", "heute Abend"),
    TOMORROW,
    Adverb("tomorrow morning", "morgen früh"),
    Adverb("next week", "nächste Woche"),
    Adverb("soon", "bald"),
)
# For the minutes past an hour: the words before the hour in English and in German. English names
# the next hour after half past, German from 25 past on; German counts 25 and 35 from the half hour.
MINUTES = {
    5: ("five past", "fünf nach"),
    10: ("ten past", "zehn nach"),
    15: ("quarter past", "Viertel nach"),
    20: ("twenty past", "zwanzig nach"),
    25: ("twenty-five past", "fünf vor halb"),
    30: ("half past", "halb"),
    35: ("twenty-five to", "fünf nach halb"),
    40: ("twenty to", "zwanzig vor"),
    45: ("quarter to", "Viertel vor"),
    50: ("ten to", "zehn vor"),
    55: ("five to", "fünf vor"),
}


@cache
def hour(h: int, minute: int) -> Adverb:
    """Return the words of a time, for an hour of 1 to 12 and minutes by five: half past four."""
    if minute == 0:
        return Adverb(
            f"{english_number(h)} o'clock", f"{'ein' if h == 1 else german_number(h)} Uhr"
        )
    following = h % 12 + 1
    english, german = MINUTES[minute]
    return Adverb(
        f"{english} {english_number(h if minute <= 30 else following)}",
        f"{german} {german_number(h if minute <= 20 else following)}",
    )


@cache
def clock(h: int, minute: int) -> Adverb:
    """Return the adverb of a time of day: "at half past four", um halb fünf."""
    time = hour(h, minute)
    return Adverb(f"at {time.english}", f"um {time.german}")


@cache
def weekday(day: int) -> Adverb:
    """Return the adverb of a weekday, where 0 is Monday: "on Monday", am Montag."""
    return Adverb(f"on {DAYS[day][0]}", f"am {DAYS[day][1]}")


@cache
def month(number: int) -> Adverb:
    """Return the adverb of a month, where 0 is January: "in May", im Mai."""
    return Adverb(f"in {MONTHS[number][0]}", f"im {MONTHS[number][1]}")


@cache
def date(day: int, number: int) -> Adverb:
    """Return the adverb of a date, where month 0 is January: "on the third of May"."""
    english, german, _ = MONTHS[number]
    return Adverb(
        f"on the {english_ordinal(day)} of {english}", f"am {german_ordinal(day)} {german}"
    )


def joined(day: Adverb, time: Adverb) -> Adverb:
    """Join a day and a time: "at half past four on Friday", am Freitag um halb fünf."""
    return Adverb(f"{time.english} {day.english}", f"{day.german} {time.german}")
