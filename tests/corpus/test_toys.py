import pytest

from transduce.corpus.toys import generate_pairs
from transduce.errors import InputError


@pytest.mark.parametrize(
    ("name", "rule"), [("copy", list), ("reverse", lambda x: x[::-1]), ("sort", sorted)]
)
def test_the_target_is_what_the_name_says(name, rule):
    for source, target in generate_pairs(name, 500):
        assert target.split(" ") == rule(source.split(" "))


def test_lines_are_1_to_20_letters_with_one_blank_between():
    lines = [source.split(" ") for source, _ in generate_pairs("copy", 2_000)]
    assert {len(line) for line in lines} == set(range(1, 21))
    assert {letter for line in lines for letter in line} == set("abcdefghijklmnopqrst")


def test_there_are_as_many_pairs_as_asked_for_and_all_differ():
    found = list(generate_pairs("reverse", 3_000))
    assert len(found) == len(set(found)) == 3_000
    assert list(generate_pairs("reverse", 0)) == []


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others():
    first = list(generate_pairs("sort", 50))
    assert (
        first == list(generate_pairs("sort", 50, seed=1)) == list(generate_pairs("sort", 90))[:50]
    )
    assert first != list(generate_pairs("sort", 50, seed=2))


def test_an_unknown_toy_is_refused_with_the_nearest():
    with pytest.raises(InputError) as error:
        next(generate_pairs("revers", 10))
    assert str(error.value) == ("there is no toy task 'revers'\nhint: did you mean reverse?")
