"""Changes to a pair of lines, each by example."""

import random

import pytest

from transduce.settings.data import CHANGES
from transduce.text.changes import CHANGE

EN_DE, TR_EN, ZH_EN, EN_ZH = ("en", "de"), ("tr", "en"), ("zh", "en"), ("en", "zh")
GERMAN = ("Who ate it?", "Wer aß es?")
CHINESE = ("我很高兴。", "I am glad.")


@pytest.mark.parametrize(
    ("name", "languages", "before", "after"),
    [
        ("upper_case", EN_DE, GERMAN, ("WHO ATE IT?", "WER ASS ES?")),
        ("upper_case", TR_EN, ("ısır, iki", "bite, two"), ("ISIR, İKİ", "BITE, TWO")),
        ("upper_case", EN_ZH, CHINESE[::-1], ("I AM GLAD.", "我很高兴。")),
        ("upper_case", ZH_EN, CHINESE, CHINESE),
        (
            "title_case",
            EN_DE,
            ("don't “sit” 2day", "sitz nicht"),
            ("Don't “Sit” 2day", "Sitz Nicht"),
        ),
        ("title_case", TR_EN, ("iki ısır", "two"), ("İki Isır", "Two")),
        ("title_case", ZH_EN, CHINESE, CHINESE),
        ("no_end_mark", EN_DE, GERMAN, ("Who ate it", "Wer aß es")),
        ("no_end_mark", ("es", "fr"), ("¿Quién?", "Qui ?"), ("Quién", "Qui")),
        ("no_end_mark", ZH_EN, CHINESE, ("我很高兴", "I am glad")),
        ("no_end_mark", EN_DE, ("?!", "?!"), ("?!", "?!")),
        ("no_end_mark", EN_DE, ("Tom", "Tom."), ("Tom", "Tom.")),
        ("typos", ZH_EN, CHINESE, CHINESE),
        ("typos", EN_DE, ("B2 a@b.c 4711", "B2"), ("B2 a@b.c 4711", "B2")),
    ],
)
def test_a_change_by_example(name, languages, before, after):
    assert CHANGE[name](before, languages, random.Random(1)) == after


def test_typing_errors_are_small_differ_by_seed_and_leave_the_target():
    before = ("Yesterday nobody came.", "Gestern kam niemand.")
    after = {CHANGE["typos"](before, EN_DE, random.Random(seed)) for seed in range(40)}
    assert len(after) > 25
    assert {target for _, target in after} == {before[1]}
    assert all(abs(len(source) - len(before[0])) <= 2 for source, _ in after)


def test_one_token_is_copied_to_the_same_end_of_both_sides():
    for seed in range(40):
        source, target = CHANGE["copied_token"](GERMAN, EN_DE, random.Random(seed))
        token = source.replace(GERMAN[0], "").strip()
        assert (source, target) in [
            tuple(f"{token} {side}" for side in GERMAN),
            tuple(f"{side} {token}" for side in GERMAN),
        ]


def test_every_setting_has_its_change():
    assert tuple(CHANGE) == CHANGES
