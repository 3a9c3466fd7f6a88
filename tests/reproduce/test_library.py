"""Tables as calls of the library."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reproduce.results import result

from transduce import reproduce
from transduce.errors import InputError, NotFiniteError
from transduce.recipes.scale import TOY, scaled
from transduce.recipes.tables import TABLE_3
from transduce.reproduce.result import write_result
from transduce.reproduce.rows import TableCallbacks
from transduce.runs.texts import GeneratedCorpus
from transduce.runs.training_run import fingerprint_corpus
from transduce.training.progress import TrainingCallbacks

CHANGES = {
    "training.steps": 2,
    "training.threads": 1,
    "data.max_pairs": 200,
    "training.validate_lines": 5,
}


def texts():
    return {
        "train": GeneratedCorpus("phrasebook", "train", 200),
        "dev": GeneratedCorpus("phrasebook", "dev", 10),
    }


def test_a_row_is_trained_measured_and_reported_by_one_call(tmp_path, capsys):
    rows: list[tuple[str, int]] = []
    messages: list[str] = []
    losses: list[float] = []
    training = TrainingCallbacks(on_update=lambda update, _progress: losses.append(update.loss))
    callbacks = TableCallbacks(
        training=training,
        on_row=lambda job, result: rows.append((job.row, result.updates)),
        on_message=messages.append,
    )
    report = reproduce.table3(
        tmp_path / "out",
        scale="toy",
        rows=["C-N2"],
        settings=CHANGES,
        callbacks=callbacks,
        **texts(),
    )
    assert rows == [("C-N2", 2)]
    assert len(losses) == 2
    assert [row["row"] for row in report.rows] == ["C-N2"]
    assert report.markdown() == (tmp_path / "out/table3.md").read_text("utf-8")
    assert report.as_json()["table"] == "table3"
    assert report.errors == ()
    assert messages[0].startswith("1 row at the scale toy")
    assert capsys.readouterr() == ("", ""), "the library prints nothing"


def test_an_error_of_the_only_row_is_raised(tmp_path):
    def train(*_):
        raise NotFiniteError("the loss is no number")

    with pytest.raises(NotFiniteError, match="the loss is no number"):
        reproduce.table3(
            tmp_path,
            scale="toy",
            rows=["base"],
            settings=CHANGES,
            callbacks=TableCallbacks(train=train),
            **texts(),
        )


def test_a_pair_of_languages_that_the_table_has_not_is_refused(tmp_path):
    with pytest.raises(InputError, match="Table 2 has no pair 'en-ru'\nhint: it has en-de and en"):
        reproduce.table2(tmp_path, pair="en-ru")


def test_table_1_is_one_call(tmp_path):
    from transduce.reproduce.layer_costs.measure import MeasurementPlan

    plan = MeasurementPlan(n=(4, 8), d=(8, 16), paths=(4,), r=3, rounds=1)
    table = reproduce.table1(plan, output=tmp_path / "out")
    assert len(table.rows) == 6
    assert (tmp_path / "out/table1.md").is_file()


def test_a_keyword_that_a_table_has_not_is_a_type_error_with_the_nearest(tmp_path):
    tables: list[Any] = [reproduce.table2, reproduce.table3]
    for table in tables:
        with pytest.raises(TypeError, match="seeds"):
            table(tmp_path / "out", seed=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seeds", ["123", [1.5], 2.0, None, [-1], [2**63], [True]])
def test_seeds_that_are_no_whole_numbers_are_refused(tmp_path, seeds):
    with pytest.raises(InputError, match="seeds must be a number or whole numbers, not"):
        reproduce.table3(tmp_path / "out", seeds=seeds)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("call", "arguments", "refusal"),
    [
        ("table1", {"output": 5}, "output must be a path, not 5"),
        ("table1", {"output": "a\0"}, "output is no path"),
        ("table2", {"pair": ["a"]}, "no pair \\['a'\\]"),
        ("table2", {"rows": None}, "rows is a list of names, not None"),
        ("table2", {"rows": [["a"]]}, "rows is a list of names, not"),
        ("table2", {"store": 5}, "store must be a path, not 5"),
        ("table2", {"settings": None, "rows": ["bas"]}, "no row 'bas'"),
        ("claims", {"only": None}, "only is a list of names, not None"),
        ("claims", {"only": 5}, "only is a list of names, not 5"),
        ("claims", {"only": ["products"], "seeds": [-1]}, "seeds must be a number or whole"),
        ("table4", {"test": 5}, "test must be a path, not 5"),
        ("table4", {"test": "a\0"}, "test is no path"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused_by_name(tmp_path, call, arguments, refusal):
    folder = () if call == "table1" else (tmp_path / "out",)
    with pytest.raises(InputError, match=refusal):
        getattr(reproduce, call)(*folder, **arguments)
    assert not (tmp_path / "out").exists()


def test_results_of_another_table_or_corpus_are_refused_before_a_row_is_trained(tmp_path):
    corpora = []

    def train(_folder, recipe, prepared):
        corpora.append((fingerprint_corpus(prepared), recipe.data))
        raise NotFiniteError("the loss is no number")

    def measure():
        callbacks = TableCallbacks(train=train)
        return reproduce.table3(
            tmp_path, scale="toy", rows=["base"], settings=CHANGES, callbacks=callbacks, **texts()
        )

    with pytest.raises(NotFiniteError):
        measure()
    recipe = replace(scaled(TABLE_3["A-h1"], TOY), data=corpora[0][1])
    known = replace(result("A-h1", 30.0), data=corpora[0][0], scale="toy", recipe=recipe)
    folder = tmp_path / "rows/A-h1-seed1"
    folder.mkdir(parents=True)
    for change in ({"table": "table2"}, {"data": {"train": "x"}}, {"scale": "laptop"}):
        other = replace(known, **change)
        write_result(folder, other)
        with pytest.raises(InputError, match="for another table, scale or corpus"):
            measure()
    write_result(folder, known)
    assert [error.fact for error in measure().errors] == ["the loss is no number"]
    assert len(corpora) == 2


def test_a_store_and_callbacks_of_none_are_as_if_left_out(tmp_path):
    folder = tmp_path / "rows/A-h1-seed1"
    folder.mkdir(parents=True)
    write_result(folder, result("A-h1", 30.0))
    options: Any = {"scale": "toy", "settings": CHANGES, "store": None, "callbacks": None}
    with pytest.raises(InputError, match="for another table, scale or corpus"):
        reproduce.table3(tmp_path, **options, **texts())
