"""transduce.clean: the pairs that are left, what a second call does, and two models."""

from dataclasses import replace

import pytest
from tests.inference.random_models import random_translator

import transduce
from transduce.errors import InputError
from transduce.settings.recipe import with_changes

PAIRS = [(f"the dog sees {n} cats", f"der Hund sieht {n} Katzen") for n in range(40)]
BAD = [("the dog", "the dog"), ("a cat", ""), ("two", "2")]


def read(found):
    return [tuple(line.split("\t")) for line in found.pairs.read_text().splitlines()]


def test_good_pairs_are_left_in_their_order_and_normalised(tmp_path):
    mixed = [*PAIRS[:20], BAD[0], ("a\tdog", " ein  Hund "), BAD[1], *PAIRS[20:]]
    found = transduce.clean(tmp_path / "c", mixed)
    assert read(found) == [*PAIRS[:20], ("a dog", "ein Hund"), *PAIRS[20:]]
    assert (found.report.read, found.report.kept) == (43, 41)
    assert found.report.broken == {"copy": 1, "empty": 1}


def test_a_second_call_opens_the_folder_and_refuses_other_rules(tmp_path):
    found = transduce.clean(tmp_path / "c", [*PAIRS, *BAD])
    before = found.pairs.stat().st_mtime_ns
    again = transduce.clean(tmp_path / "c", [*PAIRS, *BAD])
    assert (again, again.pairs.stat().st_mtime_ns) == (found, before)
    with pytest.raises(InputError, match="was made with other rules"):
        transduce.clean(tmp_path / "c", [*PAIRS, *BAD], numbers=True)
    with pytest.raises(InputError, match="was made with another text"):
        transduce.clean(tmp_path / "c", PAIRS)


def test_nothing_is_written_where_no_pair_is_left(tmp_path):
    with pytest.raises(InputError, match="no pair of 2 passed the rules\nhint: copy: 1; empty: 1"):
        transduce.clean(tmp_path / "c", BAD[:2])
    (tmp_path / "a.tsv").touch()
    with pytest.raises(InputError, match="the text is empty\nhint: look at its files"):
        transduce.clean(tmp_path / "c", tmp_path / "a.tsv")
    assert not (tmp_path / "c").exists()


def test_two_models_drop_what_is_improbable_or_of_unequal_probability(tmp_path):
    forward, backward = (replace(random_translator(n), on_warning=print) for n in (1, 2))
    back = {"data.source_language": "de", "data.target_language": "en"}
    backward = replace(backward, recipe=with_changes(backward.recipe, back))
    found = transduce.clean(tmp_path / "c", PAIRS, models=(forward, backward), worst=0.25)

    nats = []
    for model, pairs in ((forward, PAIRS), (backward, [pair[::-1] for pair in PAIRS])):
        encoded = model.task.encode_targets([target for _, target in pairs])
        sizes = [len(ids or ()) for ids in encoded]
        scored = model.likelihood(pairs)
        nats.append([-one.log_prob / size for one, size in zip(scored, sizes, strict=True)])
    rates = {
        pair: -abs(one - other) - (one + other) / 2
        for pair, one, other in zip(PAIRS, *nats, strict=True)
    }
    kept = read(found)
    assert len(kept) == 30
    worst = max(rates[pair] for pair in PAIRS if pair not in kept)
    assert worst <= min(rates[pair] for pair in kept) + 1e-4
    assert found.report.broken == {"improbable": 10}


def test_a_warning_of_a_model_names_a_pair_by_its_number_in_the_text(tmp_path):
    heard = list[object]()
    forward, backward = (
        replace(random_model(*sides), on_warning=heard.append)
        for sides in (("en", "de"), ("de", "en"))
    )
    long = " ".join(["dog"] * 3 + [f"{n}" for n in range(300)])
    text = [BAD[0], *PAIRS[:9], BAD[1], (long, long.replace("dog", "Hund")), *PAIRS[9:]]
    transduce.clean(tmp_path / "c", text, models=(forward, backward))
    assert {str(one).partition(":")[0] for one in heard} == {"pair 12"}


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"languages": "en"}, "a text has a source and a target language"),
        ({"languages": (1, 2)}, "py3langid does not know the language 1"),
        ({"not_in": "test.en"}, "not_in must be a list of files"),
        ({"models": ("there", "back")}, "forward must be a translator"),
        ({"models": (random_translator(),)}, "models must be two translators"),
        ({"models": (random_translator(), None)}, "models must be two translators"),
    ],
)
def test_a_rule_of_another_type_is_refused(tmp_path, given, fact):
    with pytest.raises(InputError, match=fact):
        transduce.clean(tmp_path / "c", PAIRS, **given)


def random_model(source, target):
    model = random_translator()
    named = {"data.source_language": source, "data.target_language": target}
    return replace(model, recipe=with_changes(model.recipe, named))


@pytest.mark.parametrize("languages", [("en", "de"), ("fi", "en"), ("de", "sv")])
def test_a_backward_model_that_does_not_translate_back_is_refused(tmp_path, languages):
    forward, backward = random_model("en", "de"), random_model(*languages)
    refused = f"model is {' to '.join(languages)}, and the other one en to de\nhint: .* de to en"
    with pytest.raises(InputError, match=refused):
        transduce.clean(tmp_path / "c", PAIRS, models=(forward, backward))
    with pytest.raises(InputError, match=refused):
        transduce.distil(forward, tmp_path / "d", source=tmp_path / "a", backward=backward)
    assert not list(tmp_path.iterdir())
