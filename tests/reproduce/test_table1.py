"""Table 1 measured at the smallest sizes: what the report holds."""

import csv
import io
import json
from dataclasses import replace

import pytest

from transduce.durable.folder import open_folder
from transduce.errors import InputError, SaveError
from transduce.reproduce.layer_costs.layers import LAYER_KINDS
from transduce.reproduce.layer_costs.measure import LayerRow, MeasurementPlan, measure_layers
from transduce.reproduce.layer_costs.report import (
    build_json,
    build_sections,
    describe_findings,
    plot_table,
    write_report,
)
from transduce.runs.plots import require_matplotlib

PLAN = MeasurementPlan(n=(4, 8, 16), d=(8, 16), paths=(4,), r=3, rounds=1)


@pytest.fixture(scope="module")
def table():
    return measure_layers(PLAN, lambda _: None)


def test_every_kind_is_measured_at_every_size(table):
    assert [row.kind for row in table.rows] == list(LAYER_KINDS)
    for row in table.rows:
        assert [(p.n, p.d) for p in row.points_along("n")] == [(4, 16), (8, 16), (16, 16)]
        assert [(p.n, p.d) for p in row.points_along("d")] == [(8, 8), (8, 16)]
        assert all(p.seconds > 0 and p.peak > 0 for p in row.points)


def test_operations_grow_as_the_paper_has_it(table):
    for row in table.rows:
        n, d = row.kind.printed.powers
        assert (n, d) == tuple(read_power(row.kind.printed.operations, letter) for letter in "nd")
        assert row.fit_power("n", lambda p: p.by_hand).power == pytest.approx(n)
        if not row.kind.restricted:  # its kernel cuts only long sentences into windows
            assert row.fit_power("n", lambda p: p.operations).power == pytest.approx(n)
        if d is not None:
            assert row.fit_power("d", lambda p: p.operations).power == pytest.approx(d)


def read_power(printed, letter):
    """The power of a letter in O(…); None if its terms have different ones."""
    found = {2 if f"{letter}²" in term else 1 for term in printed.split("+")}
    return found.pop() if len(found) == 1 else None


def test_operations_beyond_the_neighbourhood_are_not_hidden(table):
    said = "\n".join(describe_findings(table))
    assert (
        "computes 1.3 (n = 4), 2.7 (n = 8), 5.3 (n = 16) times the r = 3 scores a position" in said
    )


def test_the_printed_words_are_those_of_the_paper(facts):
    with (facts / "printed/table1.csv").open(encoding="utf-8") as file:
        paper = {line["layer"]: line for line in csv.DictReader(file)}
    ours = {kind.name: kind.printed for kind in LAYER_KINDS}
    for name, other in (
        ("self-attention", "self-attention"),
        ("recurrent (LSTM)", "recurrent"),
        ("convolutional, dilated", "convolutional"),
        ("self-attention (restricted)", "self-attention (restricted)"),
    ):
        line, printed = paper[other], ours[name]
        factors = printed.operations.replace("²", "^2").removeprefix("O(").removesuffix(")")
        assert factors.replace(" · ", "*") == line["operations_per_layer"]
        assert printed.sequential == f"O({line['sequential_operations']})"
        assert printed.path.replace(" ", "") == f"O({line['maximum_path_length']})"
    of_text = [  # section 4's words about convolutions
        ("convolutional, contiguous", "O(k · n · d²)", "O(n / k)"),
        ("separable convolutional", "O(k · n · d + n · d²)", "as convolutional"),
    ]
    for name, operations, path in of_text:
        assert (ours[name].operations, ours[name].path) == (operations, path)
        assert ours[name].sequential == "O(1)"


def test_the_report_is_a_folder_with_all_of_it(table, tmp_path):
    write_report(tmp_path / "found", lambda: table, lambda _: b"a picture")
    open_folder(tmp_path / "found", "table1")
    page = (tmp_path / "found/table1.md").read_text("utf-8")
    for title, _ in build_sections(table):
        assert f"## {title}\n\n| layer | " in page
    assert all(f"- {finding}" in page for finding in describe_findings(table))
    assert "torch 2." in page
    assert "(table1.png)" in page
    stored = json.loads((tmp_path / "found/table1.json").read_text("utf-8"))
    assert stored == json.loads(json.dumps(build_json(table)))
    text = (tmp_path / "found/points.csv").read_text("utf-8")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == len(LAYER_KINDS) * len(PLAN.points())
    assert {line["layer"] for line in lines} == {kind.name for kind in LAYER_KINDS}


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("mine")
    for place, error in (("file", InputError), ("file/out", SaveError), ("n" * 300, SaveError)):
        with pytest.raises(error):
            write_report(tmp_path / place, lambda: pytest.fail("it was measured"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_path_that_is_not_that_of_the_formula_is_not_hidden(table):
    first = table.rows[0]
    paths = (replace(first.paths[0], length=9), *first.paths[1:])
    wrong = replace(table, rows=(LayerRow(first.kind, first.points, paths, PLAN), *table.rows[1:]))
    assert "11 of 12 path lengths are those of the formula" in "\n".join(describe_findings(wrong))
    tables = dict(build_sections(wrong))
    assert tables["Maximum path length"][1][-1] == "not 1"
    assert tables["The paper's table, and ours"][1][-1] == "see below"


def test_self_attention_that_is_never_quicker_has_no_n(table):
    points = [tuple(replace(p, seconds=1.0) for p in row.points) for row in table.rows]
    rows = tuple(replace(row, points=some) for row, some in zip(table.rows, points, strict=True))
    said = "\n".join(describe_findings(replace(table, rows=rows)))
    assert "quicker at no n measured, fewer operations without its projections at n = 4, 8" in said


def test_time_that_does_not_follow_operations_is_named(table):
    row = table.rows[0]
    steady = tuple(replace(p, seconds=1.0) for p in row.points)
    following = tuple(replace(p, seconds=float(p.operations + p.projections)) for p in row.points)
    for points, named in ((steady, True), (following, False)):
        rows = tuple(LayerRow(one.kind, points, one.paths, PLAN) for one in table.rows)
        said = "\n".join(describe_findings(replace(table, rows=rows)))
        assert ("time does not grow here as all operations" in said) == named
    assert "self-attention: n^0.00 ± 0.00 for n^" in "\n".join(
        describe_findings(
            replace(table, rows=(LayerRow(row.kind, steady, row.paths, PLAN), *table.rows[1:]))
        )
    )


def test_the_picture_is_a_png(table):
    pytest.importorskip("matplotlib")
    assert plot_table(table).startswith(b"\x89PNG")


def test_without_matplotlib_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match="a picture needs the package matplotlib") as refusal:
        require_matplotlib()
    assert refusal.value.hint == "pip install matplotlib"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"n": (64,)}, "--n: growth needs at least two sizes\nhint: such as n=64,128"),
        ({"d": (64, 64)}, "--d: growth needs at least two sizes"),
        ({"n": (0, 8)}, "--n: sizes are at least 2, not 0"),
        ({"d": (8, 12)}, "--d 12: there are 8 heads of d / 8 numbers each"),
        ({"k": 1}, "--k 1 reaches no other position"),
        ({"r": 1}, "--r 1 reaches no other position"),
        ({"k": 4}, "--k must be odd, not 4"),
        ({"r": 16}, "--r must be odd, not 16"),
        ({"paths": ()}, "paths: no length is given\nhint: such as paths=(8, 16)"),
        ({"paths": (8, -1)}, "paths: lengths are at least 1, not -1"),
        ({"rounds": 0}, "rounds must be more than 0, not 0"),
        ({"n": (64, 1_000_000)}, "--n 1000000: self-attention needs about 149,012 GiB, and this"),
    ],
)
def test_sizes_that_cannot_be_measured_are_refused_before(sizes, words):
    with pytest.raises(InputError) as refusal:
        MeasurementPlan(**sizes)
    assert words in str(refusal.value)
