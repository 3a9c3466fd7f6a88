"""`transduce.export`: what is refused, what is said, and that nothing half-written stays."""

import json
import sys
import zipfile
from dataclasses import replace

import pytest
from tests.exports.random_members import random_member, save_member, shapes
from tests.inference.random_models import SIZES

import transduce
from transduce.errors import InputError, SaveError
from transduce.exports import export as module
from transduce.exports import proof
from transduce.exports.proof import (
    Comparison,
    Proof,
    compare_programs,
    find_why_unproved,
    make_up_lines,
    require_proven,
)
from transduce.exports.subject import require_exportable
from transduce.exports.target import EngineOutput
from transduce.inference.outputs import search_sources

LINES = ["the dog", "a woman", "who runs", "the cat", "now runs", "a dog"]  # few lengths: fast


class Twin:
    """An engine that answers as the model does, but for a wrong text every `wrong` lines."""

    name = "twin 1"
    limits_length, ends_in_best_half = True, False

    def __init__(self, member, wrong=0, off=0.0):
        self.member, self.wrong, self.off, self.asked = member, wrong, off, 0

    def translate(self, lines, beam, max_length):
        member = self.member
        search = replace(member.recipe.search, beam=beam, penalty="none")
        sources = member.task.encode_sources([member.task.normalise(line) for line in lines])
        assert {len(one) - 1 + search.extra_length for one in sources} == {max_length}
        return [
            self.answer(best)
            for best, *_ in search_sources((member.transformer,), sources, search, 1)
        ]

    def answer(self, best):
        self.asked += 1
        wrong = self.wrong and self.asked % self.wrong == 0
        text = "wrong" if wrong else self.member.task.decode(best.ids, "")
        return EngineOutput(text, best.log_prob + self.off)


def test_a_proof_searches_by_the_rule_of_the_other_program(monkeypatch):
    member, beams = random_member(shapes()["narrow keys"]), []

    def search_otherwise(model, sources, beam):
        beams.append(beam)
        first, *rest = proof.translate(model, sources, beam)
        return [replace(first, ids=tuple(model.task.target.encode("another"))), *rest]

    monkeypatch.setattr(proof, "search_with_restricted_ends", search_otherwise)
    engine = Twin(member)
    engine.ends_in_best_half = True  # but it answers by our own rule
    greedy, wider = compare_programs(member, engine, LINES, "lines").comparisons
    assert beams == [wider.beam]
    assert (greedy.equal, greedy.ended_otherwise) == (greedy.lines, 0)
    assert (wider.equal, wider.ended_otherwise) == (wider.lines - 1, 1)


def test_a_proof_counts_equal_texts_and_the_differences_of_their_log_probabilities():
    member = random_member(shapes()["narrow keys"])
    lines = [*LINES, "", "the dog " * 40]
    found = compare_programs(member, Twin(member, wrong=3, off=0.25), lines, "lines")
    assert [one.beam for one in found.comparisons] == [1, 3]
    assert found.left_out == 2
    for one in found.comparisons:
        assert 0 < one.equal < one.lines
        assert one.lines + one.unfinished * (one.beam > 1) == len(lines) - found.left_out
        assert one.largest_difference == pytest.approx(0.25, abs=1e-4)
        assert one.mean_difference == pytest.approx(0.25, abs=1e-4)


def test_made_up_lines_are_the_same_each_time_and_are_not_all_empty():
    member = random_member()
    assert make_up_lines(member) == make_up_lines(member)
    assert len(set(make_up_lines(member))) > 40


def test_an_engine_that_translates_otherwise_proves_nothing():
    member = random_member()
    require_proven(compare_programs(member, Twin(member), LINES, "lines"))
    with pytest.raises(SaveError, match="does not translate as this model does"):
        require_proven(compare_programs(member, Twin(member, wrong=2), LINES, "lines"))


def test_a_failed_proof_leaves_no_folder(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    target = module.TARGETS["ctranslate2"]
    broken = replace(target, open_engine=lambda _, member: Twin(member, wrong=1))
    monkeypatch.setitem(module.TARGETS, "ctranslate2", broken)
    with pytest.raises(SaveError):
        transduce.export(folder, to="ctranslate2", output=tmp_path / "out", prove=LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_export_says_what_differs_and_is_not_written_twice(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    twin = replace(module.TARGETS["ctranslate2"], open_engine=lambda _, member: Twin(member))
    monkeypatch.setitem(module.TARGETS, "ctranslate2", twin)
    found = transduce.export(
        folder, to="ctranslate2", output=tmp_path / "out", prove=["the dog", "a cat."]
    )
    assert any("length penalty" in one for one in found.differences)
    assert found.proof is not None
    assert found.as_json()["proof"]["engine"] == "twin 1"
    with pytest.raises(InputError, match="exists already"):
        transduce.export(folder, to="ctranslate2", output=tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mixing": "convolution"}, "self-attention only"),
        ({"encoder_neighbourhood": 3}, "attend to all positions"),
    ],
)
def test_layers_that_no_other_program_computes_are_refused(changes, why):
    with pytest.raises(InputError, match=why):
        require_exportable(random_member(replace(SIZES, **changes)))


def test_a_package_is_not_written_without_codes_of_its_languages(tmp_path, monkeypatch):
    member = random_member(source_language="source", target_language="target")
    folder, out = save_member(member, tmp_path / "model"), tmp_path / "out.argosmodel"
    with pytest.raises(InputError, match="this model names none: --languages en de"):
        transduce.export(folder, to="argos", output=out)
    with pytest.raises(InputError, match="'e n' is no code of a language"):
        transduce.export(folder, to="argos", output=out, languages=("e n", "de"))
    twin = replace(module.TARGETS["argos"], open_engine=lambda _, member: Twin(member))
    monkeypatch.setitem(module.TARGETS, "argos", twin)
    monkeypatch.setattr("transduce.exports.sentencepiece_model.compile_rules", list)
    transduce.export(folder, to="argos", output=out, prove=LINES, languages=("en", "de"))
    metadata = json.loads(zipfile.ZipFile(out).read("out/metadata.json"))
    assert (metadata["from_code"], metadata["to_code"]) == ("en", "de")


def test_unknown_targets_and_precisions_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match="did you mean ctranslate2"):
        transduce.export("nowhere", to="ctranslate", output=tmp_path / "out")
    with pytest.raises(InputError, match="precision must be float32 or int8"):
        transduce.export("nowhere", to="ctranslate2", output=tmp_path / "o", precision="int4")


def test_every_shape_that_can_be_exported_passes_the_check():
    for sizes in shapes().values():
        require_exportable(random_member(sizes))


def test_a_package_that_is_missing_is_named_and_nothing_is_written(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(InputError, match="sentencepiece is not installed"):
        transduce.export(folder, to="argos", output=tmp_path / "out.argosmodel")
    with pytest.raises(InputError, match=r"one file, whose name ends in \.argosmodel") as refused:
        transduce.export(folder, to="argos", output=tmp_path / "out")
    assert refused.value.hint == f"-o {tmp_path / 'out'}.argosmodel"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_proof_without_a_comparable_line_says_that_nothing_was_compared(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    twin = replace(
        module.TARGETS["ctranslate2"], open_engine=lambda _, member: Twin(member, wrong=1)
    )
    monkeypatch.setitem(module.TARGETS, "ctranslate2", twin)
    lines = ["", "the dog " * 400]
    found = transduce.export(folder, to="ctranslate2", output=tmp_path / "out", prove=lines)
    assert found.proof is None
    assert found.unproved.startswith("twin 1 could load it, but nothing was compared: 2 lines are ")
    assert found.format_proof() == []
    assert not (tmp_path / "out" / "proof.json").exists()


def test_a_proof_of_outputs_without_an_end_says_that_nothing_was_compared():
    endless = Comparison(1, 0, 0, None, None, unfinished=3)
    assert str(endless) == "beam 1: nothing is compared, 3 without an end"
    assert find_why_unproved(Proof("twin 1", "3 lines", (endless,))) == (
        "twin 1 could load it, but nothing was compared: 3 outputs have no end"
    )
    assert "there are no lines" in find_why_unproved(
        Proof("twin 1", "0 lines", (replace(endless, unfinished=0),))
    )
