"""What one input may cost is asked before the work, and counted in pieces."""

from dataclasses import replace

import pytest
from tests.inference.random_models import LINES, WORDS, random_translator

import transduce
from transduce.cli.line_outputs import read_words
from transduce.errors import InputError, NotEnoughMemoryError
from transduce.inference import outputs
from transduce.inference.lines import BLOCK_CHARACTERS, WHOLE, Line, split_into_blocks, split_line
from transduce.scores.scoring import compute_score
from transduce.search.bounds import estimate_bytes
from transduce.serve.interface import Limits
from transduce.serve.messages import Answer, AttentionRequest, Failed
from transduce.serve.search_worker import SearchWorker
from transduce.tasks.text import Translation
from transduce.text.files import read_pairs, read_short_lines

LONG = "a dog " * 300_000


@pytest.mark.parametrize("use", ["nbest_lines", "likelihood", "align_pairs"])
def test_a_line_that_would_take_gigabytes_is_refused_before_it_is_encoded(use):
    texts = [LINES[0], LONG]
    given = texts if use == "nbest_lines" else [(text, "a dog") for text in texts]
    fact = (
        "line 2: a line of 1,800,000 characters may need 387 MB of memory, and the limit is 256 MB"
    )
    with pytest.raises(InputError, match=fact):
        list(getattr(random_translator(), use)(given))


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter-any-length", "exact-match"])
def test_lines_that_would_take_gigabytes_to_score_are_refused(metric):
    with pytest.raises(InputError, match="line 2: a line of 1,800,000 characters"):
        compute_score(metric, ["a", "a"], ["a", LONG])


@pytest.mark.parametrize(
    "read",
    [
        lambda file: list(read_pairs(file, file, read_short_lines)),
        lambda file: transduce.score(file, ["a", "a"]),
        lambda file: list(read_words(file, tokenise=False)),
    ],
    ids=["pairs", "score", "words"],
)
def test_a_file_with_such_a_line_is_named_and_training_text_may_have_it(tmp_path, read):
    (tmp_path / "a").write_text(f"a dog\n{LONG}\n", encoding="utf-8")
    with pytest.raises(InputError, match="a, line 2: a line of 1,800,000 characters"):
        read(tmp_path / "a")
    assert len(list(read_pairs(tmp_path / "a", tmp_path / "a"))) == 2


def test_no_more_than_a_part_of_a_long_text_is_encoded_at_once(monkeypatch):
    encoded, task = list[str](), Translation(WORDS, WORDS)

    def encode(_, lines):
        encoded.extend(lines)
        return [[5] * len(line) for line in lines]

    monkeypatch.setattr(Translation, "encode_sources", encode)
    text = f"A dog sees a cat. {'x' * 3 * WHOLE} runs."
    parts, warning = split_line(text, 1, task, WHOLE // 8, strict=False)
    assert max(map(len, encoded)) <= WHOLE
    assert parts[0].text == "A dog sees a cat."
    assert "".join(part.text for part in parts[1:]).replace(" ", "") == text[18:].replace(" ", "")
    assert str(warning).endswith("; split at characters")
    assert "characters, and this model takes 6,250 pieces" in str(warning)


def test_a_block_of_long_lines_has_fewer_of_them():
    lines = [Line(number, "x" * (BLOCK_CHARACTERS // 2)) for number in range(5)]
    assert [len(block) for block in split_into_blocks(lines, 4)] == [2, 2, 1]


def test_a_picture_is_refused_by_its_pieces_before_its_search(monkeypatch):
    model = random_translator()
    monkeypatch.setattr("transduce.view.attention.attend.search_output", None)
    with pytest.raises(InputError, match=r"the picture of 30,0\d\d pieces .* may need"):
        transduce.attend(model, "\U0001f415" * 7_500)


def test_a_picture_of_a_wide_beam_is_refused():
    model = random_translator().searching(beam=10_000)
    with pytest.raises(InputError, match=r"MB of memory(.|\n)*smaller beam"):
        transduce.attend(model, " ".join(LINES * 9))


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model("a dog"),
        lambda model: model.evaluate(["a dog"], ["a dog"]),
        lambda model: model.explain("a dog"),
        lambda model: transduce.attend(model, "a dog", most=10**12),
        lambda model: SearchWorker(model, print),
    ],
)
def test_a_beam_of_a_stranger_s_recipe_that_would_take_gigabytes_is_refused(use):
    model = random_translator().searching(beam=9_999, extra_length=1_000)
    with pytest.raises(
        InputError, match=r"9,999 hypotheses may need .* MB of memory, and the limit"
    ):
        use(model)


def test_the_hint_of_a_beam_that_would_take_gigabytes_names_what_allows_it(monkeypatch):
    model = random_translator().searching(beam=9_999, extra_length=1_000)
    sources, search = [[5, 6]], model.recipe.search
    with pytest.raises(InputError) as refusal:
        outputs.fit_batch_size(model.models, sources, search, 9_999)
    name, _, gigabytes = refusal.value.hint.split()[-4].partition("=")
    assert name == "TRANSDUCE_BEAM_GB"
    monkeypatch.setenv(name, gigabytes)
    monkeypatch.setattr(outputs, "free_memory_bytes", lambda: 1e12)
    assert outputs.fit_batch_size(model.models, sources, search, 9_999) == search
    monkeypatch.setenv(name, "much")
    with pytest.raises(InputError, match="TRANSDUCE_BEAM_GB is not a number of gigabytes: 'much'"):
        outputs.fit_batch_size(model.models, sources, search, 9_999)


def test_a_validation_with_a_beam_that_would_take_gigabytes_is_refused_before_training(tmp_path):
    pairs = [(f"a dog {number}", f"ein Hund {number}") for number in range(100)]
    settings = {"search.beam": 9_999, "search.extra_length": 9_999, "training.threads": 1}
    with pytest.raises(InputError, match="9,999 hypotheses may need"):
        transduce.train(tmp_path / "run", pairs, pairs[:5], recipe="tiny", settings=settings)


@pytest.mark.parametrize(
    ("account", "work"),
    [
        ("inference.lines.require_short_line", "inference.lines.split_line"),
        ("inference.outputs.require_affordable_beam", "inference.outputs.choose_beam_strategy"),
    ],
)
def test_the_control_without_an_account_begins_the_work(monkeypatch, record, account, work):
    begun = []

    def begin(*_, **__):
        begun.append(work)
        raise InterruptedError

    monkeypatch.setattr(f"transduce.{account}", lambda *_: None)
    monkeypatch.setattr(f"transduce.{work}", begin)
    text, beam = (LONG, 2) if "line" in account else ("a dog", 9_999)
    with pytest.raises(InterruptedError):
        random_translator().searching(beam=beam, extra_length=1_000)(text)
    record(begun=len(begun))


def test_the_paper_s_widest_beam_is_never_refused():
    wide = random_translator().searching(beam=21, extra_length=99_000)
    search = wide.recipe.search
    assert outputs.fit_batch_size(wide.models, [[5, 6]], search, 21) == search


def test_a_server_draws_no_picture_that_takes_over_a_hundred_megabytes():
    answers: list[Answer] = []
    worker = SearchWorker(random_translator(), answers.append)
    most = Limits().picture_bytes
    worker.receive(AttentionRequest(1, "\U0001f415" * 1_000, most))
    worker.step()
    (answer,) = answers
    assert isinstance(answer, Failed)
    assert not answer.is_server_fault
    assert "4,001 pieces" in answer.fact


def test_a_beam_of_10_000_is_too_wide_even_for_the_smallest_model():
    model = random_translator()
    search = replace(model.recipe.search, beam=10_000)
    with pytest.raises(InputError, match="10,000 hypotheses may need"):
        outputs.fit_batch_size(model.models, [[1] * 9], search, 10_000)


def test_a_server_searches_as_many_sentences_at_once_as_fit(monkeypatch):
    model = random_translator()
    search = model.recipe.search
    one = estimate_bytes(model.models[0].sizes, len(WORDS), 24, search, search.beam)
    monkeypatch.setattr(outputs, "free_memory_bytes", lambda: 3.9 * one)
    worker = SearchWorker(model, print)
    assert worker.translator.recipe.search == replace(search, batch_size=3)
    monkeypatch.setattr(outputs, "free_memory_bytes", lambda: 0.5 * one)
    with pytest.raises(NotEnoughMemoryError, match="24 pieces and 2 hypotheses"):
        SearchWorker(model, print)
