"""The stages of a distillation: each line once, the rules, and equal bytes after a break."""

import json
from dataclasses import replace
from math import nan
from types import SimpleNamespace

import pytest
from tests.inference.random_models import random_translator

from transduce.cleaning.clean import require_translators
from transduce.cleaning.rules import RuleReport
from transduce.distillation.report import build_report_page
from transduce.distillation.stages import (
    PAIRS,
    REPORT,
    SOURCES,
    Inputs,
    PairOptions,
    choose_nearest,
    choose_pairs,
    gather_text,
    translate_text,
)
from transduce.errors import FolderError, InputError
from transduce.inference.shards import Shard, ShardText, create_shard, measure_text
from transduce.inference.translator import with_warnings_at

SIZE = {"parameters": 1, "megabytes": 4e-6}
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
    pairs, report = choose_pairs(folder, text, PairOptions(), None, ignore)
    return pairs.verified_path(PAIRS), report


def test_every_line_is_translated_once_and_most_are_kept(tmp_path, source):
    pairs, report = distilled(tmp_path / "whole", source)
    sources = [line.split("\t")[0] for line in pairs.read_text().splitlines()]
    assert report.read == len(LINES)
    assert report.kept == len(sources) > 300
    assert set(sources) <= set(LINES)
    assert len(set(sources)) == len(sources)
    assert sources != [line for line in LINES if line in set(sources)], "they are shuffled"
    assert report.broken["improbable"] == int(0.05 * (report.kept + report.broken["improbable"]))


def test_duplicates_are_shown_with_their_line_and_that_of_the_first(tmp_path):
    (tmp_path / "a.tsv").write_text("the dog\tder Hund\na cat\teine Katze\n")
    (tmp_path / "b").write_text("\na  cat\na bird\nthe dog\nthe dog\n")
    text = gather_text(tmp_path, Inputs(pairs=tmp_path / "a.tsv", source=tmp_path / "b"))
    assert text.verified_path(SOURCES).read_text() == "the dog\na cat\na bird\n"
    found = json.loads(text.read(REPORT))
    assert found["duplicates"] == [[4, 2, "a cat"], [6, 1, "the dog"], [7, 1, "the dog"]]
    (tmp_path / "run").mkdir()
    (tmp_path / "run/log.jsonl").touch()
    page = build_report_page(tmp_path, text, RuleReport(), {"student": SIZE}).decode()
    assert "<tr><td>4</td><td>2</td><td>a cat</td></tr>" in page


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


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", "5", "junk", '[["a"]]', "[[5, -1.0]]", "[" * 9_999]
)
def test_a_shard_of_a_stranger_whose_lines_are_no_translations_is_refused(tmp_path, line):
    file = tmp_path / "source"
    file.write_text("a cat\n")
    text = gather_text(tmp_path / "d", Inputs(source=file))
    part = ShardText(Shard(1, 1), text.verified_path(SOURCES), *measure_text(file))
    with create_shard(tmp_path / "d" / "shards" / part.shard.name, part, {}) as stream:
        stream.write(f"{line}\n".encode() if line else b"")
    with pytest.raises(FolderError, match="delete this one, and repeat what wrote it"):
        choose_pairs(tmp_path / "d", text, PairOptions(), None, ignore)


def test_a_line_that_is_gone_when_the_text_is_read_again_is_refused(source):
    inputs = Inputs(source=source)
    assert inputs.find_line(LINES[1]) == 2
    with pytest.raises(InputError, match="the text changed while it was read\nhint: repeat"):
        inputs.find_line("a line that was there")


def test_columns_without_a_file_of_pairs_are_refused(source):
    with pytest.raises(InputError, match="columns are of a file of pairs, and none is given"):
        Inputs(source=source, columns=(1, 2))


def test_another_teacher_or_text_is_refused(tmp_path, source):
    distilled(tmp_path / "one", source)
    with pytest.raises(InputError, match="is there already, of other models"):
        distilled(tmp_path / "one", source, seed=2)
    source.write_text("another line\n")
    with pytest.raises(InputError, match="was made with other inputs"):
        distilled(tmp_path / "one", source)


def test_of_several_outputs_the_one_nearest_to_the_reference_is_taken(tmp_path):
    file = tmp_path / "given.tsv"
    file.write_text("".join(f"{line}\tein {line}\n" for line in LINES[:20]))
    teacher = replace(random_translator(), on_warning=ignore)
    text = gather_text(tmp_path / "d", Inputs(pairs=file))
    translate_text(tmp_path / "d", text, teacher, 2, ignore)
    pairs, _ = choose_pairs(tmp_path / "d", text, PairOptions(worst=0.0), None, ignore)
    for line in pairs.verified_path(PAIRS).read_text().splitlines():
        source, target = line.split("\t")
        outputs = [one.text for one in teacher.nbest(source, 2)]
        assert target == outputs[choose_nearest(outputs, f"ein {source}")]


@pytest.mark.parametrize(
    ("reference", "near", "far"),
    [
        ("我吃了一个苹果", "我吃了一颗苹果", "今天天气很好"),
        ("りんごを食べました", "りんごを食べた", "今日はいい天気です"),
    ],
)
def test_the_nearest_is_found_where_words_have_no_blanks_between_them(reference, near, far):
    assert choose_nearest([far, near], reference) == 1


def test_a_warning_names_the_line_of_a_file_and_not_the_line_of_what_was_taken_from_it():
    heard = list[object]()
    translator = replace(random_translator(), on_warning=heard.append)
    named = with_warnings_at(translator, "stage pairs, a.txt, line", [4, 9])
    long = " ".join(["eins"] * 400)
    list(named.likelihood([("eins", "two"), (long, "two")]))
    assert [str(one).partition(": ")[0] for one in heard] == ["stage pairs, a.txt, line 9"]


def test_a_backward_model_names_the_worst(tmp_path, source):
    folder, backward = tmp_path / "d", replace(random_translator(7), on_warning=ignore)
    teacher = replace(random_translator(), on_warning=ignore)
    text = gather_text(folder, Inputs(source=source))
    translate_text(folder, text, teacher, 1, ignore)
    pairs, report = choose_pairs(folder, text, PairOptions(worst=0.2), backward, ignore)
    kept = [tuple(line.split("\t")) for line in pairs.verified_path(PAIRS).read_text().splitlines()]

    def rate(pair):
        (found,) = backward.likelihood([(pair[1], pair[0])])
        return found.log_prob / len(pair[0])

    worst = [rate(pair) for pair in report.examples["improbable"]]
    assert max(worst) <= min(map(rate, kept)) + 1e-4


@pytest.mark.parametrize("given", [{"seed": -1}, {"seed": 2**63}, {"worst": 1.0}, {"worst": nan}])
def test_a_seed_or_share_that_none_can_be_is_refused(given):
    with pytest.raises(InputError, match=f"{next(iter(given))} must"):
        PairOptions(**given)


@pytest.mark.parametrize("columns", [(0, 1), (1, 1), (1, True), ("en", "en"), ("", "de")])
def test_columns_that_are_not_two_different_ones_are_refused(tmp_path, columns):
    with pytest.raises(InputError, match="two different numbers from 1, or two names"):
        Inputs(pairs=tmp_path / "a.tsv", columns=columns)


@pytest.mark.usefixtures("unchecked_types")
def test_a_model_of_another_task_is_no_teacher():
    task = SimpleNamespace(describe=lambda _: SimpleNamespace(command="tag"))
    tagger = replace(random_translator(), task=task)  # type: ignore[arg-type]
    for name, models in (("teacher", (tagger, None)), ("backward", (random_translator(), tagger))):
        with pytest.raises(InputError, match=f"{name} needs a model that translates"):
            require_translators("teacher", *models)
