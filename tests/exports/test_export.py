"""`transduce.export`: what is refused, what is said, and that nothing half-written stays."""

import json
import sys
import zipfile
from dataclasses import replace
from functools import partial

import pytest
from tests.exports.random_members import random_member, save_member, shapes
from tests.inference.random_models import SIZES

import transduce
from transduce.errors import InputError, SaveError
from transduce.exports import export as module
from transduce.exports import proof
from transduce.exports.export import require_exportable
from transduce.exports.proof import (
    Comparison,
    Proof,
    compare_programs,
    explain_unproved,
    make_up_lines,
    require_proven,
)
from transduce.exports.target import EngineOutput
from transduce.exports.to_argos import ARGOS
from transduce.exports.to_ctranslate2 import describe_use
from transduce.fast.unchanged import is_changed
from transduce.inference.outputs import search_sources
from transduce.paper.model import FeedForward

LINES = ["the dog", "a woman", "who runs", "the cat", "now runs", "a dog"]  # few lengths: fast


class Twin:
    """An engine that answers as the model does, but for a wrong text every `wrong` lines."""

    name = "twin 1"
    limits_length, is_greedy, ends_in_best_beam = True, False, False

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
    engine.ends_in_best_beam = True  # but it answers by our own rule
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


def test_an_export_says_that_an_edited_chapter_is_not_in_it(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    monkeypatch.setattr(FeedForward, "compute_inner", lambda self, x: self.inner(x).tanh())
    is_changed.cache_clear()
    found = transduce.export(folder, to="ctranslate2", output=tmp_path / "out")
    of_layers = module.describe_edits(module.TARGETS["onnx"])
    monkeypatch.undo()
    is_changed.cache_clear()
    names = "as edited (add_gradients, run_layers)"
    assert found.differences[-1] == f"it computes the paper's formulas, not those of paper/ {names}"
    assert of_layers.startswith(f"the graphs have the layers of paper/ {names}, but ")


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
    with pytest.raises(InputError, match="this model names none: --languages en-de"):
        transduce.export(folder, to="argos", output=out)
    with pytest.raises(InputError, match="'e n' is no code of a language"):
        transduce.export(folder, to="argos", output=out, languages=("e n", "de"))
    twin = replace(module.TARGETS["argos"], open_engine=lambda _, member: Twin(member))
    monkeypatch.setitem(module.TARGETS, "argos", twin)
    monkeypatch.setattr("transduce.exports.sentencepiece.compile_rules", lambda *_, **__: [])
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


def test_a_proof_that_is_asked_for_and_cannot_be_given_is_an_error(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    ask = partial(transduce.export, folder, to="ctranslate2", output=tmp_path / "out")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match="ctranslate2 is not installed here") as refused:
        ask(prove=LINES)
    assert refused.value.hint == "pip install ctranslate2; or export without --prove"
    twin = replace(
        module.TARGETS["ctranslate2"], open_engine=lambda _, member: Twin(member, wrong=1)
    )
    monkeypatch.setitem(module.TARGETS, "ctranslate2", twin)
    with pytest.raises(InputError, match="could load it, but nothing was compared: 2 lines are "):
        ask(prove=["", "the dog " * 400])
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_export_without_the_program_says_that_it_is_not_proved(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    found = transduce.export(folder, to="ctranslate2", output=tmp_path / "out")
    assert found.proof is None
    assert found.unproved.startswith("ctranslate2 is not installed here, so the export is not pro")
    assert found.format_proof() == []
    assert not (tmp_path / "out" / "proof.json").exists()


@pytest.fixture
def carded(tmp_path):
    """A model folder whose card has a section of data."""
    member = random_member(source_language="is", target_language="fo", corpus="your own: law.tsv")
    save_member(member, tmp_path / "model", "# m\n\n## Data\n\n3 pairs\n\n## How to use it\n\nit\n")
    return tmp_path / "model"


@pytest.mark.parametrize("to", ["ctranslate2", "huggingface"])
def test_a_readme_says_what_the_model_is_how_it_is_loaded_and_what_its_card_says(
    carded, tmp_path, monkeypatch, to
):
    twin = replace(module.TARGETS[to], open_engine=lambda _, member: Twin(member))
    monkeypatch.setitem(module.TARGETS, to, twin)
    found = transduce.export(carded, to=to, output=tmp_path / "out")
    readme = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert f"\nlibrary_name: {twin.library}\n" in readme
    assert '\nlanguage:\n- "is"\n- "fo"\n' in readme
    assert "# random: is to fo\n" in readme
    assert "## Data\n\n3 pairs\n" in readme
    assert readme.count("## How to use it") == 1
    assert twin.describe_use(random_member()) in readme
    assert all(one in readme for one in found.differences)
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["model"] in readme


def test_the_python_of_every_readme_is_python():
    member = random_member()
    for target in module.TARGETS.values():
        code = target.describe_use(member).removeprefix("```python").removesuffix("```")
        if target.name not in ("onnx", "bergamot"):  # they speak of other languages
            compile(code, target.name, "exec")


def test_a_card_that_was_edited_is_left_out_and_that_is_said(carded, tmp_path, monkeypatch):
    (carded / "README.md").write_text("# a better model\n\n## Data\n\nnone\n", "utf-8")
    monkeypatch.setitem(sys.modules, "transformers", None)
    found = transduce.export(carded, to="huggingface", output=tmp_path / "out")
    assert found.differences[-1].startswith("the model's card is not in the README: ")
    assert "## Data" not in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_force_replaces_an_export_and_nothing_else(carded, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    export = partial(transduce.export, carded, to="huggingface", force=True)
    out = tmp_path / "out"
    export(output=out)
    export(output=out, languages=("en", "fr"))
    assert '- "fr"' in (out / "README.md").read_text("utf-8")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    (out / "notes.txt").write_text("mine")
    for place in (out, carded):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        with pytest.raises(InputError, match="is not replaced"):
            export(output=place)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_force_replaces_a_package_and_no_other_file(tmp_path):
    package, thesis = tmp_path / "a.argosmodel", tmp_path / "thesis.argosmodel"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("a/metadata.json", "{}")
    thesis.write_text("mine")
    module.require_free_output(ARGOS, package, force=True)
    with pytest.raises(InputError, match=r"thesis\.argosmodel: is not replaced"):
        module.require_free_output(ARGOS, thesis, force=True)


def test_a_package_is_refused_before_the_work_where_it_cannot_be_written(tmp_path, monkeypatch):
    folder = save_member(random_member(), tmp_path / "model")
    idle = replace(ARGOS, write=lambda *_: pytest.fail("it was converted"))
    monkeypatch.setitem(module.TARGETS, "argos", idle)
    with pytest.raises(SaveError, match="cannot be written"):
        transduce.export(folder, to="argos", output=folder / "README.md/a.argosmodel")


def test_a_package_never_replaces_what_appeared_while_it_was_made(tmp_path, monkeypatch):
    folder, out = save_member(random_member(), tmp_path / "model"), tmp_path / "a.argosmodel"

    def write(_member, _writer, _precision):
        out.write_text("mine")

    late = replace(ARGOS, write=write, open_engine=lambda _, member: Twin(member))
    monkeypatch.setitem(module.TARGETS, "argos", late)
    with pytest.raises(InputError, match="exists already"):
        transduce.export(folder, to="argos", output=out)
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.argosmodel", "model"]


@pytest.mark.parametrize(
    ("penalty", "there"), [("gnmt", 0.6), ("average", 1.0), ("none", 0.0), ("reward", 0.0)]
)
def test_the_ctranslate2_readme_has_the_length_penalty_that_comes_nearest(penalty, there):
    member = random_member()
    search = replace(member.recipe.search, penalty=penalty)
    used = describe_use(replace(member, recipe=replace(member.recipe, search=search)))
    assert f"length_penalty={there})" in used
    assert '\nsource = target = Tokenizer.from_file("FOLDER/tokenizer.json")\n' in used


def test_a_proof_of_outputs_without_an_end_says_that_nothing_was_compared():
    endless = Comparison(1, 0, 0, None, None, unfinished=3)
    assert str(endless) == "beam 1: nothing is compared, 3 without an end"
    assert explain_unproved(Proof("twin 1", "3 lines", (endless,))) == (
        "twin 1 could load it, but nothing was compared: 3 outputs have no end"
    )
    some = replace(endless, lines=6, equal=5, ended_otherwise=2)
    assert str(some) == (
        "beam 1: 5 of 6 texts equal, 3 without an end; "
        "our own search gives 2 compared lines another output"
    )
    assert "there are no lines" in explain_unproved(
        Proof("twin 1", "0 lines", (replace(endless, unfinished=0),))
    )


@pytest.mark.parametrize("fault", ["ImportError('numpy')", "OSError('numpy')"])
@pytest.mark.parametrize(("to", "package"), [("ctranslate2", "ctranslate2"), ("onnx", "onnx")])
def test_a_program_that_does_not_load_is_told_of(tmp_path, monkeypatch, fault, to, package):
    folder = save_member(random_member(), tmp_path / "model")
    monkeypatch.delitem(sys.modules, package, raising=False)
    (tmp_path / f"{package}.py").write_text(f"raise {fault}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=rf"{package} does not load here \(\w+Error: numpy\)"):
        transduce.export(folder, to=to, output=tmp_path / "out", prove=LINES)
    assert not (tmp_path / "out").exists()
