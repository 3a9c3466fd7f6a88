"""Sentences longer than the model takes: split, all parts translated, one warning a line."""

from dataclasses import replace

import pytest
from tests.inference.random_models import WORDS, random_translator

from transduce.errors import InputError
from transduce.inference.lines import LineWarning, halve, split_line
from transduce.tasks import SplitLevel
from transduce.tasks.tagging import Tagging
from transduce.tasks.text import Toy, Translation

TASK = Translation(WORDS, WORDS)
CLAUSE = "the dog sees a cat, "
LONG = "The dog sees a cat and a woman and the old red house"


def split_text(text, max_length, **options):
    parts, warning = split_line(text, 7, TASK, max_length, **{"strict": False} | options)
    assert all(len(part.ids) <= max_length for part in parts)
    decoded = [TASK.decode(part.ids[:-1]) for part in parts]
    assert decoded == [part.text for part in parts]
    return decoded, warning


def test_a_line_that_fits_is_whole_and_one_of_several_sentences_is_split_without_a_warning():
    assert split_text("the dog runs", 24) == (["the dog runs"], None)
    parts, warning = split_text("The dog sees a cat. A woman runs now.", 12)
    assert (parts, warning) == (["The dog sees a cat.", "A woman runs now."], None)


def test_a_sentence_that_is_too_long_is_halved_at_clauses_first():
    parts, warning = split_text((CLAUSE * 4).strip(), 24)
    assert all(part.endswith(",") for part in parts)
    assert " ".join(parts) == (CLAUSE * 4).strip()
    assert str(warning).startswith("line 7: a sentence of ")
    assert str(warning).endswith(" pieces, and this model takes 24; split at clauses")


def test_a_clause_that_is_too_long_is_halved_at_words_and_a_word_at_characters():
    parts, warning = split_text(LONG, 12)
    assert " ".join(parts) == LONG
    assert str(warning).endswith("; split at words")
    parts, warning = split_text("x" * 100, 12)
    assert "".join(parts) == "x" * 100
    assert str(warning).endswith("; split at characters")


def test_only_the_sentences_that_are_too_long_are_split_further():
    parts, _ = split_text(f"The dog runs. {LONG}. A cat runs.", 12)
    assert parts[0] == "The dog runs."
    assert parts[-1] == "A cat runs."
    assert " ".join(parts) == f"The dog runs. {LONG}. A cat runs."


def test_a_strict_model_a_task_that_cannot_split_and_a_character_that_does_not_fit_refuse():
    expected = "line 7: a sentence of [0-9]+ pieces, and this model takes 12\nhint: split the sent"
    with pytest.raises(InputError, match=expected):
        split_text(LONG, 12, strict=True)
    with pytest.raises(InputError, match=expected):
        split_line(LONG, 7, Toy(WORDS, WORDS, action="copies"), 12, strict=False)
    with pytest.raises(InputError, match="line 7: a sentence of 5 pieces, and this model takes 3"):
        split_text("\N{DOG FACE}", 3)


def test_a_token_of_very_many_characters_is_refused_by_a_task_that_cannot_cut_it():
    with pytest.raises(InputError, match="line 7: a sentence of 60,000 characters"):
        split_line("x" * 60_000, 7, Tagging(WORDS, WORDS, "raw"), 12, strict=False)


def test_a_text_is_cut_at_the_boundary_nearest_its_middle():
    words = SplitLevel("words", str.split, " ")
    assert halve("a bb ccc dddddd", words) == ("a bb ccc", "dddddd")
    assert halve("aaaaaaaa b c", words) == ("aaaaaaaa", "b c")
    assert halve("word", words) == ["word"]


def test_all_parts_are_translated_and_joined_and_each_line_has_one_warning_by_its_number():
    warnings = list[LineWarning]()
    translate = replace(random_translator(longest=12), on_warning=warnings.append)
    lines = ["a dog", LONG, "", f"{LONG}. {LONG}."]
    outputs = translate(lines)
    parts, _ = split_text(LONG, 12)
    assert outputs[1] == " ".join(translate(parts))
    assert outputs[::2] == translate(lines[::2])
    assert [warning.line for warning in warnings] == [2, 4]


def test_without_a_callback_a_warning_is_one_of_python():
    with pytest.warns(UserWarning, match="line 1: a sentence of .* split at words"):
        random_translator(longest=12)(LONG)


def test_a_forced_prefix_begins_the_first_part():
    translate = replace(random_translator(longest=12), on_warning=lambda _: None)
    forced, free = translate(LONG, prefix="who"), translate(LONG)
    assert forced.startswith("who")
    parts, _ = split_text(LONG, 12)
    rest = " ".join(translate(parts[1:]))
    assert forced.endswith(rest)
    assert free.endswith(rest)
