"""A task is a value: a new one is a table entry, and no other package asks which task it is."""

import ast
from pathlib import Path

import pytest
from tests.training.events import read_journal

import transduce
from transduce import tasks
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.recipes import by_name
from transduce.runs.average import write_average
from transduce.runs.prepared_corpus import prepare_corpus
from transduce.runs.texts import FilePair
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.scores.score import Score
from transduce.settings import Data, Search, data
from transduce.settings.recipe import Value, with_changes
from transduce.tasks.text import TextToText, Toy
from transduce.training.progress import TrainingCallbacks
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

SOURCE = Path(transduce.__file__).parent
WORDS = learn_vocabulary(["a b c d e f g"] * 3, 262)


class UpperCase(TextToText):
    """A third task: outputs are shouted, whatever the model says."""

    metrics = ("bleu",)
    has_words = True
    split_levels = ()

    def decode(self, ids, line=""):
        return super().decode(ids, line).upper()

    def score(self, outputs, references):  # noqa: ARG002
        capitals = [output.isupper() for output in outputs]
        return Score("capitals", float(sum(capitals)), "upper:yes", len(outputs), "these")

    def describe(self, data):
        return Toy(self.source, self.target, "shouts").describe(data)


def build_upper(_data, vocabularies):
    return UpperCase(*vocabularies)


@pytest.fixture
def upper(monkeypatch):
    monkeypatch.setattr(tasks, "TASKS", {**tasks.TASKS, "upper": "text"})
    kinds = {**tasks.text.KINDS, "upper": tasks.TaskKind(build=build_upper)}
    monkeypatch.setattr("transduce.tasks.text.KINDS", kinds)
    monkeypatch.setattr(data, "TASKS", (*data.TASKS, "upper"))


@pytest.mark.usefixtures("upper")
def test_a_new_task_trains_validates_averages_and_translates(tmp_path):
    sentences = [f"{first} {second} dog runs" for first in "abcdefg" for second in "hijklm"]
    for name, lines in (("a", sentences), ("b", [line.title() for line in sentences])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    settings: dict[str, Value] = {
        "data.task": "upper",
        "training.threads": 1,
        "data.vocabulary_size": 280,
    }
    recipe = with_changes(by_name("tiny"), settings)
    pairs = FilePair(tmp_path / "a", tmp_path / "b")
    prepared = prepare_corpus(tmp_path / "p", recipe.data, pairs, pairs, lambda _what, _pairs: None)
    run, model = tmp_path / "run", tmp_path / "model"
    train_run(
        run,
        begin_or_resume_run(run, recipe, prepared),
        prepared,
        TrainingCallbacks(),
        lambda _: None,
    )
    write_average(run, model, None)
    found = [event for event in read_journal(run / "log.jsonl") if event["event"] == "validation"]
    assert {event["score"]["name"] for event in found} == {"capitals"}
    card = (model / "README.md").read_text()
    assert "| capitals |" in card
    assert "that shouts lines of letters" in card
    output = load(model)("a h dog runs")
    assert output == output.upper() != ""


def test_settings_allow_the_tasks_that_there_are():
    assert tuple(tasks.TASKS) == data.TASKS
    with pytest.raises(InputError, match=r"data\.task is one of translation, copy"):
        Data(task="translate")


@pytest.mark.parametrize("name", ["translation", "copy", "reverse", "sort"])
def test_every_task_from_text_to_text_brings_all_that_others_ask_of_it(name):
    task = tasks.build_task(Data(task=name), Vocabularies(WORDS, WORDS))
    assert isinstance(task, tasks.Task)
    text = task.normalise("  a b  c ")
    (ids,) = task.encode_targets([text])
    assert ids is not None
    assert task.decode(ids, text) == text == "a b c"
    assert task.parse_output(text) == text
    assert (task.find_fault(ids, text), task.fallback(text)) == ("", None)
    assert task.encode_sources([text]) == task.encode_targets([text])
    long = "a b c d e"
    assert task.score([long, "b"], [long, "c"]).value < task.score([long], [long]).value
    assert task.score([long], [long]).name.lower().replace(" ", "-") == task.metrics[0]
    assert task.constraint(text, Search()) is None
    for level in task.split_levels:
        assert level.joint.join(level.split(text)) == text


def test_a_toy_is_scored_by_whole_lines_and_never_split():
    task = tasks.build_task(Data(task="reverse"), Vocabularies(WORDS, WORDS))
    score = task.score(["c b a", "a", "b"], ["c b a", "b", "b"])
    assert (score.name, round(score.value, 2), score.lines) == ("exact match", 66.67, 3)
    assert task.split_levels == ()
    assert not task.has_words


def names_compared(tree):
    """Task names that stand in a comparison, a match or a membership test."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.match_case):
            yield from (
                constant.value
                for constant in ast.walk(node.pattern if isinstance(node, ast.match_case) else node)
                if isinstance(constant, ast.Constant) and constant.value in tasks.TASKS
            )


def compares_task(tree):
    """Whether the attribute `task` of some settings is compared."""
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "task"
        and ast.unparse(part.value).endswith("data")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Match)
        for part in ast.walk(node.subject if isinstance(node, ast.Match) else node)
    )


def test_no_other_package_compares_a_tasks_name():
    found = []
    for file in SOURCE.rglob("*.py"):
        if file.parent.name != "tasks":
            text = file.read_text("utf-8")
            if ".task" not in text and not any(f'"{name}"' in text for name in tasks.TASKS):
                continue
            tree = ast.parse(text)
            found += [(file.name, name) for name in names_compared(tree)]
            found += [(file.name, "data.task")] * compares_task(tree)
    assert found == []


@pytest.mark.parametrize("code", ["x == 'copy'", "data.task in names", "name in ('sort', 'y')"])
def test_such_a_comparison_would_be_found(code):
    tree = ast.parse(code)
    assert list(names_compared(tree)) or compares_task(tree)
