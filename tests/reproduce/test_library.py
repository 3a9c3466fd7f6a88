"""Tables as calls of the library."""

import pytest

from transduce import reproduce
from transduce.errors import InputError, NotFiniteError
from transduce.reproduce.rows import TableCallbacks
from transduce.runs.texts import GeneratedCorpus
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
