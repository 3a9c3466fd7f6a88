"""Changes to a pair of lines, each by example."""

import random
from dataclasses import replace

import pytest

from transduce.settings import Data
from transduce.settings.data import CHANGES
from transduce.text.changes import CHANGE, change_pair, draw_changes

EN_DE, TR_EN, ZH_EN, EN_ZH = ("en", "de"), ("tr", "en"), ("zh", "en"), ("en", "zh")
GERMAN = ("Who ate it?", "Wer aß es?")
CHINESE = ("我很高兴。", "I am glad.")
RAIN = ("If it rains, I'll stay.", "Wenn es regnet, bleibe ich.")
SONG = ("Hello, Tom. Who sings?", "Hallo, Tom. Wer singt?")
FIVE = Data(copied_token=0.3, typos=0.3, no_end_mark=0.4, title_case=0.2, upper_case=0.2)


@pytest.mark.parametrize(
    ("name", "languages", "before", "after"),
    [
        ("upper_case", EN_DE, GERMAN, ("WHO ATE IT?", "WER ASS ES?")),
        ("upper_case", TR_EN, ("ısır, iki", "bite, two"), ("ISIR, İKİ", "BITE, TWO")),
        ("upper_case", ("tr-TR", "az_AZ"), ("izin", "iki"), ("İZİN", "İKİ")),
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
        ("short_input", EN_DE, RAIN, ("If it rains", "Wenn es regnet")),
        ("short_input", EN_DE, ("Hello, Tom", "Hallo, Tom"), ("Hello", "Hallo")),
        ("short_input", EN_DE, ("“Hi,” he said.", "„Hi“, sagte er."), ("“Hi,”", "„Hi“")),
    ],
)
def test_a_change_by_example(name, languages, before, after):
    assert CHANGE[name](before, languages, random.Random(1)) == after


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(GERMAN, id="one clause"),
        pytest.param(CHINESE, id="no spaces"),
        pytest.param(("", ""), id="empty"),
        pytest.param(("– yes", "– ja"), id="a clause of a mark alone"),
        pytest.param(("Yes. I know it.", "Ja, das weiß ich."), id="more sentences"),
        pytest.param(("Wait. I am coming.", "Warte! Ich komme."), id="other marks of sentences"),
        pytest.param(("Yes, I know it.", "Ja: das weiß ich."), id="other marks of clauses"),
        pytest.param(("Tom, why do you ask?", "Warum fragst du denn, Tom?"), id="another order"),
    ],
)
def test_a_pair_whose_parts_may_not_be_translations_is_not_cut(pair):
    assert CHANGE["short_input"](pair, EN_DE, random.Random(1)) == pair


def test_each_sentence_of_a_pair_stands_for_it_by_chance_with_its_own_translation():
    pair = ("Wait, Tom. Who sings?", "Warte, Tom. Wer singt?")
    found = [CHANGE["short_input"](pair, EN_DE, random.Random(seed)) for seed in range(40)]
    assert set(found) == {("Wait, Tom.", "Warte, Tom."), ("Who sings?", "Wer singt?")}


def test_a_share_of_short_inputs_leaves_all_other_draws_as_they_were():
    """The changed pairs are those that were drawn before there were short inputs."""
    found = [change_pair(SONG, draw_changes(FIVE, f"change 3 1 {n}"), FIVE) for n in range(6)]
    assert found == [
        ("PU-2444 HELLO, TOM. WHO SINGS", "PU-2444 HALLO, TOM. WER SINGT"),
        ("Helol, To m. Who sings? GE-595", "Hallo, Tom. Wer singt? GE-595"),
        ("Hello, Tom. Who Sings?", "Hallo, Tom. Wer Singt?"),
        SONG,
        ("Hello, Tom. Who Sings", "Hallo, Tom. Wer Singt"),
        ("SOZO HEL LO, TOM. WHO SINS?", "SOZO HALLO, TOM. WER SINGT?"),
    ]
    short = replace(FIVE, short_input=0.5)
    drawn = [[draw_changes(data, f"{n}").names for data in (FIVE, short)] for n in range(100)]
    assert all(new in (old, ["short_input", *old]) for old, new in drawn)
    assert sum(new != old for old, new in drawn) == pytest.approx(50, abs=15)


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
