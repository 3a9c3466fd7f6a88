"""The stages of a distillation: each line once, the rules, and equal bytes after a break."""

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from tests.inference.random_models import random_translator

from transduce.distillation.distil import require_translators
from transduce.distillation.rules import choose_nearest, find_lowest, find_rules_broken, repeats
from transduce.distillation.stages import (
    Inputs,
    PairOptions,
    choose_pairs,
    gather_text,
    translate_text,
)
from transduce.errors import InputError

LINES = [f"the {word} sees {count} cats" for count in range(300) for word in ("dog", "cat")]


def ignore(*_):
    pass


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "mono.en"
    file.write_text("".join(f"{line}\n" for line in [*LINES, "", *LINES[:50]]), encoding="utf-8")
    return file


def distilled(folder, source, on_line=ignore, seed=1):
    teacher = replace(random_translator(seed), on_warning=ignore, hashes=(f"{seed:064}",))
    text = gather_text(folder, Inputs(source=source))
    translate_text(folder, text, teacher, 1, on_line, shard_lines=250)
    return choose_pairs(folder, text, PairOptions(), None, ignore)


def test_every_line_is_translated_once_and_most_are_kept(tmp_path, source):
    pairs, report = distilled(tmp_path / "whole", source)
    sources = [line.split("\t")[0] for line in pairs.read_text().splitlines()]
    assert report.read == len(LINES)
    assert report.kept == len(sources) > 300
    assert set(sources) <= set(LINES)
    assert len(set(sources)) == len(sources)
    assert sources != [line for line in LINES if line in set(sources)], "they are shuffled"
    assert report.broken["improbable"] == int(0.05 * (report.kept + report.broken["improbable"]))


def test_a_broken_distillation_goes_on_to_the_same_bytes(tmp_path, source):
    def stop(_stage, done, _total):
        if done == 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distilled(tmp_path / "broken", source, stop)
    assert sorted(one.name for one in (tmp_path / "broken" / "shards").iterdir()) == [
        "shard-1-of-3"
    ]
    translated = []
    again, _ = distilled(tmp_path / "broken", source, lambda _s, done, _t: translated.append(done))
    assert min(translated) == 251
    assert again.read_bytes() == distilled(tmp_path / "whole", source)[0].read_bytes()


def test_another_teacher_or_text_is_refused(tmp_path, source):
    distilled(tmp_path / "one", source)
    with pytest.raises(InputError, match="is there already, of another models"):
        distilled(tmp_path / "one", source, seed=2)
    source.write_text("another line\n")
    with pytest.raises(InputError, match="was made with another inputs"):
        distilled(tmp_path / "one", source)


def test_of_several_outputs_the_one_nearest_to_the_reference_is_taken(tmp_path):
    file = tmp_path / "given.tsv"
    file.write_text("".join(f"{line}\tein {line}\n" for line in LINES[:20]))
    teacher = replace(random_translator(), on_warning=ignore)
    text = gather_text(tmp_path / "d", Inputs(pairs=file))
    translate_text(tmp_path / "d", text, teacher, 2, ignore)
    pairs, _ = choose_pairs(tmp_path / "d", text, PairOptions(worst=0.0), None, ignore)
    for line in pairs.read_text().splitlines():
        source, target = line.split("\t")
        outputs = [one.text for one in teacher.nbest(source, 2)]
        assert target == outputs[choose_nearest(outputs, f"ein {source}")]


def test_a_backward_model_names_the_worst(tmp_path, source):
    folder, backward = tmp_path / "d", replace(random_translator(7), on_warning=ignore)
    teacher = replace(random_translator(), on_warning=ignore)
    text = gather_text(folder, Inputs(source=source))
    translate_text(folder, text, teacher, 1, ignore)
    pairs, report = choose_pairs(folder, text, PairOptions(worst=0.2), backward, ignore)
    kept = [tuple(line.split("\t")) for line in pairs.read_text().splitlines()]

    def rate(pair):
        (found,) = backward.likelihood([(pair[1], pair[0])])
        return found.log_prob / len(pair[0])

    worst = [rate(pair) for pair in report.examples["improbable"]]
    assert max(worst) <= min(map(rate, kept)) + 1e-4


@pytest.mark.parametrize(
    ("source", "target", "broken"),
    [
        ("a dog", "", ["empty"]),
        ("a dog", "a dog", ["copy"]),
        ("a dog", "ein Hund und noch ein Hund", ["length"]),
        ("a dog runs home", "ja ja ja ja nein", ["repetition"]),
        ("no no no no yes", "ja ja ja ja nein", []),
        ("a dog runs home", "der Hund der Hund der Hund der Hund", ["repetition"]),
        ("a dog", "ein Hund", []),
    ],
)
def test_a_rule_is_broken(source, target, broken):
    assert find_rules_broken(source, target) == broken


def test_an_output_in_another_language_is_dropped_where_that_is_asked_for():
    pytest.importorskip("py3langid")
    french = "le chien court très vite à la maison"
    assert find_rules_broken("the dog runs home very fast", french, "de") == ["language"]
    assert find_rules_broken("the dog runs home very fast", french, "fr") == []
    assert find_rules_broken("the dog runs home very fast", french) == []


def test_repeats_are_those_of_brute_force():
    def brute(words):
        return max(
            [
                count
                for size in range(1, 5)
                for start in range(len(words))
                for count in range(1, len(words) + 1)
                if words[start : start + size * count] == words[start : start + size] * count
                and len(words[start : start + size]) == size
            ],
            default=1,
        )

    for text in (
        "",
        "a",
        "a a",
        "a b a b a",
        "b a a b a a b",
        "a b c a b c a b c x x",
        "a b a a b",
    ):
        assert repeats(text) == brute(text.split()), text


def test_the_lowest_share_is_found():
    assert find_lowest(np.array([0.5, -3.0, 2.0, -3.0, 1.0]), 0.4) == {1, 3}
    assert find_lowest(np.array([1.0, 2.0]), 0.4) == set()


@pytest.mark.parametrize("given", [{"seed": -1}, {"seed": 2**63}, {"worst": 1.0}, {"worst": nan}])
def test_a_seed_or_share_that_none_can_be_is_refused(given):
    with pytest.raises(InputError, match=f"{next(iter(given))} must"):
        PairOptions(**given)


@pytest.mark.usefixtures("unchecked_types")
def test_a_model_of_another_task_is_no_teacher():
    task = SimpleNamespace(describe=lambda _: SimpleNamespace(command="tag"))
    tagger = replace(random_translator(), task=task)  # type: ignore[arg-type]
    for names in ({"teacher": tagger}, {"teacher": random_translator(), "backward": tagger}):
        with pytest.raises(InputError, match=f"{[*names][-1]} needs a model that translates"):
            require_translators(**names)
