"""transduce evaluate: translate a test set and score it."""

import gzip
import hashlib
import json
import math
import re
import sys
from dataclasses import replace

import pytest
import torch
from tests.cli.language import sentences
from tests.inference.random_models import random_translator

import transduce
from transduce.cli.evaluate import evaluation_as_json
from transduce.inference.evaluate import (
    FORMS,
    EvaluationText,
    list_words,
    perplexity,
    score_run_on,
    score_translations,
)
from transduce.inference.load import load
from transduce.inference.pairs import token_log_probs


@pytest.fixture
def evaluate(call, corpus, model):
    """Evaluate the model on the development set."""
    files = (corpus / "d.en", corpus / "d.de")
    return lambda *options: call("evaluate", model, *files, *options)


def test_the_scores_are_those_of_the_translations(evaluate, call, corpus, model):
    ended = evaluate("-o", corpus / "out")
    assert (ended.code, ended.stderr) == (0, "")
    *scores, perplexity = ended.stdout.splitlines()
    assert scores == call("score", corpus / "out", corpus / "d.de").stdout.splitlines()
    assert perplexity.startswith("perplexity ")
    call("translate", model, corpus / "d.en", "-o", corpus / "ours")
    assert (corpus / "ours").read_bytes() == (corpus / "out").read_bytes()


@pytest.mark.parametrize("is_swapped", [True, False])
def test_exchanged_files_are_warned_of(is_swapped):
    english, german = zip(*sentences(40, 1), strict=True)
    text = EvaluationText(english, german, ["bleu"], "")
    if is_swapped:
        text = replace(text, sources=german, references=english)
    outputs = [line for _, line in sentences(40, 2)]  # as of a model from English to German
    found = score_translations(random_translator(), text, outputs)
    warned = "warning: the source reads more like the translations than the reference does" in str(
        found
    )
    assert warned == is_swapped
    assert evaluation_as_json(found)["warnings"] == ([found.warning] if is_swapped else [])


def test_references_in_a_third_language_are_named_and_not_called_exchanged():
    english = [line for line, _ in sentences(40, 1)]
    spanish = (
        "La vieja maestra compró ayer una casa pequeña para su hermana.",
        "¿Dónde está el niño que hablaba con los pescadores?",
        "Mañana los estudiantes leerán todos los libros en la biblioteca.",
        "Mi abuelo nunca había visto un árbol tan grande como ese.",
    ) * 10
    text = EvaluationText(english, spanish, ["bleu"], "")
    found = score_translations(random_translator(), text, english)  # as if the model copied
    assert found.warning == "the reference is in the language es, and the model writes de"


def test_json_is_one_object(evaluate):
    found = json.loads(evaluate("--json", "--metric=bleu").stdout)
    assert [score["signature"][:7] for score in found["scores"]] == ["nrefs:1"]
    assert found["perplexity"]["pieces"] > 20


def test_the_search_is_that_of_translate_with_the_same_options(evaluate, call, corpus, model):
    options = ("--beam=1", "--penalty=none", "--extra-length=3")
    ended = evaluate("--json", *options, "-o", corpus / "out")
    search = json.loads(ended.stdout)["recipe"]["search"]
    assert (search["beam"], search["penalty"], search["extra_length"]) == (1, "none", 3)
    call("translate", model, corpus / "d.en", *options, "-o", corpus / "ours")
    assert (corpus / "ours").read_bytes() == (corpus / "out").read_bytes()
    evaluate("-o", corpus / "recipe's")
    assert (corpus / "recipe's").read_bytes() != (corpus / "out").read_bytes()


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_json_says_what_the_figures_are_of(evaluate, model):
    found = json.loads(evaluate("--json", f"--ensemble={model}", "--precision=bfloat16").stdout)
    assert found["models"] == [sha256(model / "manifest.json")] * 2
    assert found["recipe"] == json.loads((model / "recipe.json").read_text())
    assert (found["precision"], found["environment"]["torch"]) == ("bfloat16", torch.__version__)


def test_a_run_is_named_by_the_checkpoint_that_was_loaded(call, corpus, trained):
    found = json.loads(call("evaluate", trained, corpus / "d.en", corpus / "d.de", "--json").stdout)
    assert found["models"] == [sha256(max((trained / "checkpoints").iterdir()) / "manifest.json")]


def test_an_ensemble_of_a_model_with_itself_scores_as_the_model(evaluate, model):
    assert evaluate("--ensemble", model).stdout == evaluate().stdout


def test_a_model_can_compute_in_bfloat16(evaluate):
    exact, found = (
        json.loads(evaluate("--json", f"--precision={precision}").stdout)["perplexity"]
        for precision in ("float32", "bfloat16")
    )
    assert found["per_piece"] != exact["per_piece"]
    assert found["per_piece"] == pytest.approx(exact["per_piece"], rel=0.02)


def test_unequal_files_are_refused_with_both_counts(call, corpus, model):
    ended = call("evaluate", model, corpus / "d.en", corpus / "a.de")
    assert ended.code == 2
    assert ended.stderr.startswith(
        "error: the source has 20 lines, but the reference has 200\nhint: line i of one must"
    )


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (("--metric=blue",), "invalid value for '--metric': 'blue'\nhint: did you mean bleu"),
        (("-o", "-"), "standard output is for the scores\nhint: -o FILE"),
        (("--baseline", ""), "--baseline is empty\nhint: a file"),
    ],
)
def test_wrong_usage_is_reported(evaluate, options, answer):
    ended = evaluate(*options)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {answer}")


def test_an_output_that_cannot_be_is_refused_before_the_work(evaluate, corpus, model):
    (model / "model.safetensors").write_bytes(b"unread")
    ended = evaluate("-o", corpus)
    assert ended.stderr == (f"error: {corpus}: is no regular file\nhint: choose another name\n")


def test_the_perplexity_is_of_the_lines_that_fit_in_parts_that_fit(model, corpus, monkeypatch):
    translator = load(model)
    sides = [(corpus / name).read_text().splitlines() for name in ("d.en", "d.de")]
    whole, left_out = perplexity(translator, *sides)
    assert left_out == 0
    sizes: list[int] = []

    def counted(model, source, target):
        sizes.append(len(source.ids) + len(target.ids))
        return token_log_probs(model, source, target)

    monkeypatch.setattr("transduce.inference.pairs.token_log_probs", counted)
    monkeypatch.setattr("transduce.inference.evaluate.TOKENS", 1)  # then two longest sentences
    long = "a very long line " * 200
    found, left_out = perplexity(translator, *([long, *side] for side in sides))
    assert left_out == 1
    assert (found.pieces, found.words) == (whole.pieces, whole.words)
    assert found.nats == pytest.approx(whole.nats)
    assert len(sizes) > 1
    assert max(sizes) <= 2 * translator.recipe.data.max_length
    found, left_out = perplexity(translator, [long], ["a"])
    assert (math.isnan(found.per_piece), left_out) == (True, 1)


def test_texts_whose_lines_are_all_too_long_have_scores_and_no_perplexity(call, corpus, model):
    for side in ("en", "de"):
        (corpus / f"long.{side}").write_text("A dog runs. " * 400 + "\n")
    files = [corpus / f"long.{side}" for side in ("en", "de")]
    ended = call("evaluate", model, *files, "-o", corpus / "out")
    assert ended.code == 0
    assert "\nperplexity nan a piece (0), nan a word (0)\n  without 1 line " in ended.stdout
    assert ended.stdout.startswith("BLEU 0.00 | ")
    assert len((corpus / "out").read_text().splitlines()) == 1
    ended = call("evaluate", model, *files, "--json")
    nothing = {"per_piece": None, "per_word": None, "nats": None, "pieces": 0, "words": 0}
    assert json.loads(ended.stdout)["perplexity"] == nothing | {"left_out": 1}


def test_standard_input_is_one_file(call, corpus, model):
    assert call("evaluate", model, "-", "-").stderr.startswith(
        "error: standard input can be one of the files only\nhint: name the other"
    )
    ended = call("evaluate", model, "-", corpus / "d.de", stdin=(corpus / "d.en").read_bytes())
    assert ended.code == 0


def test_a_file_of_pairs_alone_is_a_test_set(evaluate, call, corpus, model):
    sides = ((corpus / name).read_text().splitlines() for name in ("d.en", "d.de"))
    pairs, side = [*zip(*sides, strict=True)], '<tuv xml:lang="{}"><seg>{}</seg></tuv>'.format
    units = "".join(f"<tu>{side('de', b)}{side('en', a)}</tu>" for a, b in pairs)
    lone = f"<tu>{side('en', 'of no pair')}</tu>"
    for name, code in (("t.tmx", "en"), ("other.tmx", "de")):
        head = f'<tmx><header srclang="{code}"/>'
        (corpus / name).write_text(f"{head}<body>{units}{lone}</body></tmx>")
    rows = "".join(f"{a}\t{b}\n" for a, b in pairs)
    (corpus / "t.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    for name in ("t.tmx", "other.tmx", "t.tsv.gz"):
        assert call("evaluate", model, corpus / name) == evaluate()
        assert f"{transduce.evaluate(model, corpus / name)}\n" == evaluate().stdout


@pytest.mark.parametrize(("rows", "number"), [("\tb\na\tb\n", 1), ("a\tb\na\t\n", 2)])
def test_a_pair_without_a_side_is_refused_by_its_number(call, corpus, model, rows, number):
    (corpus / "t.tsv").write_text(rows)
    ended = call("evaluate", model, corpus / "t.tsv")
    assert (ended.code, f"pair {number} has an empty side" in ended.stderr) == (2, True)


def test_an_empty_test_set_is_refused(call, corpus, model):
    (corpus / "empty").write_bytes(b"")
    ended = call("evaluate", model, corpus / "empty", corpus / "empty")
    assert ended.code == 2
    assert "\nhint: " in ended.stderr


def test_a_score_that_cannot_be_is_refused_before_the_work(evaluate, monkeypatch):
    monkeypatch.setattr(
        "transduce.inference.translator.Translator.nbest_lines", None
    )  # never called
    ended = evaluate("--metric=bleu-paper")
    assert ended.stderr.startswith("error: the reference is plain text, and bleu-paper wants one")
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    ended = evaluate("--metric=bleu-paper-plain")
    assert "hint: pip install sacremoses" in ended.stderr


def test_the_paper_s_bleu_takes_the_language_from_the_recipe(evaluate, call, corpus):
    ended = evaluate("--metric=bleu-paper-plain", "-o", corpus / "out")
    same = ("--metric=bleu-paper-plain", "--language=de")
    scores = call("score", corpus / "out", corpus / "d.de", *same).stdout
    assert ended.stdout.startswith(scores)
    assert scores.startswith("BLEU-paper-plain ")


def test_another_language_can_be_said(evaluate):
    ended = evaluate("--metric=bleu-paper-plain", "--language=at")
    assert ended.stderr.startswith("error: bleu-paper-plain is for German only, and the language")


def test_a_figure_says_whether_it_may_stand_beside_one_of_the_paper(evaluate, monkeypatch):
    monkeypatch.setattr(
        "transduce.scores.scoring.identify_test_set", lambda _: "newstest2013, German"
    )
    ended = evaluate("--metric=bleu")
    assert ended.stderr == (
        "  BLEU: not comparable with 25.8 (base) and 26.4 (big) of Table 3: the paper counts "
        "other words, as --metric bleu-paper does\n"
    )


def test_translations_may_not_overwrite_the_reference(evaluate, corpus):
    before = (corpus / "d.de").read_bytes()
    ended = evaluate("-o", corpus / "d.de")
    assert ended.code == 2
    assert f"{corpus / 'd.de'}: is read here, and would be overwritten" in ended.stderr
    assert (corpus / "d.de").read_bytes() == before


def test_a_contrast_scores_what_a_file_in_upper_case_would_and_is_the_same_again(
    evaluate, call, corpus, model
):
    found = json.loads(evaluate("--json", "--contrast", "--metric=chrf").stdout)
    contrast = {one["form"]: one for one in found["contrast"]}
    assert set(contrast) == {*FORMS, "one_word"}
    for name in ("d.en", "d.de"):
        upper = (corpus / name).read_text(encoding="utf-8").upper()
        (corpus / f"upper.{name}").write_text(upper, encoding="utf-8")
    files = (corpus / "upper.d.en", corpus / "upper.d.de")
    by_hand = json.loads(call("evaluate", model, *files, "--json", "--metric=chrf").stdout)
    assert by_hand["scores"][0]["value"] == contrast["upper_case"]["scores"][0]["value"]
    [typos] = contrast["typos"]["scores"]
    assert typos["signature"].endswith("|contrast:typos|seed:1")
    table = evaluate("--contrast", "--metric=chrf").stdout.splitlines()
    rows = [line.split() for line in table if line.startswith(("plain", "upper case", "typos"))]
    assert [row[-1] for row in rows] == [
        f"{value:.2f}"
        for value in (
            found["scores"][0]["value"],
            by_hand["scores"][0]["value"],
            typos["value"],
        )
    ]


def test_outputs_for_one_word_that_run_on_are_counted():
    assert list_words(["“Hi,” 2 he-man!", "Hi Tom?"]) == ["Hi", "Tom"]
    outputs = ["Hund", "das Haus", "ja ja", "Es ist sehr weit", "der kleine Hund"]
    assert score_run_on(outputs).value == 40


def test_that_ter_takes_long_is_said_before_translating(evaluate, monkeypatch):
    monkeypatch.setattr("transduce.scores.scoring.estimate_ter_seconds", lambda _: 3.0)
    assert evaluate().stderr.startswith("TER alone may take a minute for lines of so many words; ")
    assert "TER" not in evaluate("--metric=bleu").stderr
    assert "TER" not in evaluate("--quiet").stderr


def test_a_reference_in_another_language_than_the_model_writes_is_warned_of(call, made, tmp_path):
    french = "Le chien dort sous la table, et le chat regarde par la fenêtre."
    english = "The dog sleeps under the table, and the cat looks out of the window."
    for name, line in (("t.en", english), ("t.fr", french)):
        (tmp_path / name).write_text(f"{line}\n" * 20)
    ended = call("evaluate", made / "model", tmp_path / "t.en", tmp_path / "t.fr")
    assert "warning: the reference is in the language fr, and the model writes de" in (
        ended.stdout + ended.stderr
    )


def test_a_baseline_is_not_overwritten(evaluate, corpus):
    ended = evaluate("--baseline", corpus / "a.de", "-o", corpus / "a.de")
    assert ended.code == 2
    assert "a.de: is read here, and would be overwritten" in ended.stderr
    assert (corpus / "a.de").read_bytes()


@pytest.mark.parametrize("command", ["align", "likelihood", "evaluate"])
def test_only_the_first_ten_of_many_lines_that_are_too_long_are_named(
    call, made, tmp_path, command
):
    for name in ("t", "u"):
        (tmp_path / name).write_text(f"{'x' * 400}\n" * 12 + "a\n")
    stderr = call(command, made / "model", tmp_path / "t", tmp_path / "u").stderr
    named = re.findall(r"^warning: line (\d+): ", stderr, re.MULTILINE)
    assert [*map(int, named)] == [*range(1, 11)]
    assert "12 lines are longer than the model takes" in stderr
    assert "only the first 10 are named" in stderr


GERMAN = "Der Hund schläft unter dem Tisch, und die Katze sieht aus dem Fenster."
ENGLISH = "The dog sleeps under the table, and the cat looks out of the window."


@pytest.mark.parametrize(
    ("kind", "warning"),
    [
        (GERMAN, "the source is in the language de, and the model reads en"),
        (f"{ENGLISH}\t{GERMAN}", "the source is no plain text: each line has a tab"),
        (f'{{"q": "{ENGLISH}"}}', "the source is no plain text: each line is JSON"),
    ],
)
def test_all_commands_on_pairs_warn_alike_of_a_source_that_is_not_the_models(
    call, made, tmp_path, kind, warning
):
    files = tmp_path / "t", tmp_path / "u"
    for number, file in enumerate(files):
        line = GERMAN if number else kind
        file.write_text("".join(f"{line}{n}\n" for n in range(20)), "utf-8")
    model = made / "model"
    for words in [
        ("evaluate", model, *files),
        ("align", model, *files),
        ("likelihood", model, *files),
        ("attend", model, files[0], "--survey", "--target", files[1]),
        ("distil", model, "--source", files[0], "--until=text", "-o", tmp_path / "d"),
    ]:
        ended, place = call(*words), f" in {files[0]}" if words[0] == "distil" else ""
        told = warning.replace("the source", f"the source{place}")
        assert (ended.code, f"warning: {told}" in ended.stderr) == (0, True), words


def test_one_text_in_another_language_than_the_model_reads_is_warned_of(call, made, tmp_path):
    for text, told in ((GERMAN, True), (ENGLISH, False)):
        ended = call("attend", made / "model", text, "-o", tmp_path / "a.html")
        assert ("the text is in the language de, and the model reads en" in ended.stderr) == told
