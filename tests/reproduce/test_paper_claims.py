"""The paper's claims outside its tables: verdicts, what is kept, what is printed."""

import json
import math
import time

import pytest
import torch
from tests.inference.random_models import random_translator
from tests.reproduce.results import result

from transduce import reproduce
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.reproduce.layer_costs.layers import build_layer
from transduce.reproduce.paper_claims import catalogue, run
from transduce.reproduce.paper_claims.catalogue import (
    CLAIMS,
    ROWS,
    SCALING,
    Finding,
    PaperClaim,
    count_layers,
    measure_jacobian,
    measure_products,
)
from transduce.reproduce.result import write_result
from transduce.reproduce.rows import TableCallbacks

DIFFERENCE = Finding("a - b", "a - b", 0.0)


def judge(*numbers, finding=DIFFERENCE):
    return finding.judge(numbers, is_exact=False)


def test_a_verdict_is_where_the_interval_of_the_differences_lies():
    assert judge(0.30, 0.31, 0.29) == "holds"
    assert judge(-0.30, -0.31, -0.29) == "holds not"
    assert judge(0.30, -0.31, 0.10) == "within chance"
    assert judge(0.30) == "one seed cannot tell"


def test_seeds_are_paired_so_that_what_they_share_cancels_out():
    found = [DIFFERENCE.compute({"a": both + 0.1, "b": both}) for both in (1.0, 5.0, 3.0)]
    assert judge(*found) == "holds"


@pytest.fixture
def measured(monkeypatch):
    """The seeds of which a claim of this test was measured; the third is interrupted once."""
    seeds: list[int] = []

    def measure(seed, _runs):
        if seed == 3 and seeds.count(3) == 0:
            seeds.append(seed)
            raise KeyboardInterrupt
        seeds.append(seed)
        return {"a": seed + 0.5, "b": seed}

    claim = PaperClaim(
        name="one", section="1", sentence="A.", findings=[DIFFERENCE], measure=measure
    )
    monkeypatch.setattr(run, "CLAIMS", {"one": claim})
    return seeds


def test_what_was_measured_before_an_interruption_is_reported_and_kept(measured, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        reproduce.claims(tmp_path)
    assert json.loads((tmp_path / "claims.json").read_bytes())["runs"][0]["seeds"] == "1 2"
    report = reproduce.claims(tmp_path)
    assert measured == [1, 2, 3, 3]
    assert [row["verdict"] for row in report.rows] == ["holds"]


def test_values_of_another_version_are_measured_again(measured, tmp_path):
    reproduce.claims(tmp_path, seeds=1)
    file = tmp_path / "rows/claim-one-seed1/values.json"
    found = from_checksummed_json(file.read_bytes(), file)
    undated = {key: value for key, value in found.items() if key != "date"}
    for other in (found | {"values": {"c": 1.0}}, undated, {"seed": 1}):
        file.write_bytes(to_checksummed_json(other))
        reproduce.claims(tmp_path, seeds=1)
    assert measured == [1, 1, 1, 1]


@pytest.mark.usefixtures("measured")
def test_a_damaged_file_is_the_error_where_nothing_else_was_measured(tmp_path):
    report = reproduce.claims(tmp_path, seeds=1)
    file = tmp_path / "rows/claim-one-seed1/values.json"
    file.write_text("junk")
    with pytest.raises(FolderError, match="is no JSON") as damaged:
        reproduce.claims(tmp_path, seeds=1)
    assert damaged.value.hint == "delete the file: the same command measures it again"
    file.unlink()
    assert reproduce.claims(tmp_path, seeds=1).rows == report.rows


def test_a_seed_that_is_named_twice_is_measured_once(measured, tmp_path):
    report = reproduce.claims(tmp_path, seeds=[2, 1, 2])
    assert measured == [2, 1]
    assert report.rows[0]["seeds"] == "1 2"


@pytest.mark.usefixtures("measured")
def test_a_folder_whose_name_ends_in_no_seed_is_ignored(tmp_path):
    (tmp_path / "rows/claim-one-seedfoo").mkdir(parents=True)
    report = reproduce.claims(tmp_path, seeds=1)
    assert [row["seeds"] for row in report.rows] == ["1"]


def test_an_unknown_claim_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match="there is no claim 'head'") as error:
        reproduce.claims(tmp_path / "out", only=["head"])
    with pytest.raises(InputError, match="only is a list of names, not 'heads'"):
        reproduce.claims(tmp_path / "out", only="heads")
    assert "heads" in error.value.hint
    assert not (tmp_path / "out").exists()


def test_printed_numbers_are_calculated_again(tmp_path):
    found = reproduce.claims(tmp_path / "out", only=["arithmetic"]).rows
    by_hand = [3.283e18, 2.298e19, 11.11, 3.472, 28.4 - 26.36, 27.3 - 26.36, 2.3 / 12, 0.44, 41.8]
    assert [row["mean"] for row in found] == pytest.approx(by_hand, rel=1e-3)
    assert [row["finding"] for row in found if row["verdict"] != "holds"] == [
        "100,000 steps of 0.4 s take 12 hours",
        "en-fr: Table 2 prints the text's 41.0 BLEU for big",
    ]


def test_convolutions_cost_2_k_n_d_squared_and_an_lstm_12(tmp_path):
    """A separable one of k = n 2 n d (n + d), attention and a feed-forward layer twice as much."""
    found = count_layers(1, {})
    n = d = 64
    assert [found[f"convolution {k}"] for k in (3, 9)] == [2 * k * n * d**2 for k in (3, 9)]
    assert found["LSTM"] == 12 * n * d**2
    for n, d in ((33, 64), (129, 64), (33, 256)):
        assert found[f"separable {n} {d}"] == 2 * n * d * (n + d)
        assert found[f"attention {n} {d}"] == 4 * n * d * (n + d)
    rows = reproduce.claims(tmp_path / "out", only=["convolutions"]).rows
    assert [row["mean"] for row in rows] == [3, 0.5, 1.5, 2, 2, 2]


def test_paths_are_compared_at_twice_the_length_and_at_about_half_of_r(tmp_path, monkeypatch):
    """`tests/reproduce/test_table1_paths.py` measures such paths."""

    def count_by_hand(n, sizes, *, causal):
        assert not causal
        reach = sizes.encoder_neighbourhood // 2 or n
        return -(-(n - 1) // reach)

    monkeypatch.setattr(catalogue, "measure_path_length", count_by_hand)
    assert catalogue.measure_attention_paths(1, {}) == {
        "33 5": 16,
        "65 5": 32,
        "65 9": 16,
        "full": 1,
    }
    rows = reproduce.claims(tmp_path / "out", only=["restricted"]).rows
    assert [row["mean"] for row in rows] == [1, 2, 2]


def test_eight_heads_of_64_are_compared_with_one_of_512(monkeypatch):
    asked = []

    def build_noted(n, sizes, *rest, **named):
        asked.append((n, sizes.heads, sizes.d_k, sizes.d_v))
        return build_layer(n, sizes, *rest, **named)

    monkeypatch.setattr(catalogue, "build_layer", build_noted)
    monkeypatch.setattr(catalogue, "ROUNDS", 1)
    found = catalogue.measure_head_costs(1 + 16 * 10**9, {})
    assert asked == [(n, h, 512 // h, 512 // h) for h in (8, 1) for n in (129, 128)]
    n, d = 128, 512
    for heads in (8, 1):
        assert found[f"{heads} operations"] == 8 * n * d**2 + 4 * n**2 * d


def test_additive_attention_holds_a_sum_of_every_query_and_key_and_dot_products_none(monkeypatch):
    monkeypatch.setattr(catalogue, "SIZES", ((64, 32),))
    monkeypatch.setattr(catalogue, "ROUNDS", 1)
    found = catalogue.measure_compatibility_costs(1, {})
    pairs = 64 * 64 * 32 * 4  # bytes of n² d_k numbers
    assert found["scaled-dot 64 32 bytes"] < pairs < found["additive 64 32 bytes"] < 8 * pairs
    assert found["scaled-dot 64 32 bytes"] > 2 * 64 * 64 * 4, "scores and weights"
    assert all(found[f"{kind} 64 32 seconds"] > 0 for kind in ("scaled-dot", "additive"))


def test_a_cost_is_the_shortest_time_and_the_most_bytes_alive():
    waits = iter([0.0, 0.0, *[0.02] * 7, 0.0, *[0.02] * 7])  # two calls for the memory

    def update():
        time.sleep(next(waits))
        (torch.ones(256) + 1).sum()

    found = catalogue.measure_cost("one", update)
    assert found["one seconds"] < 0.02
    assert 2048 <= found["one bytes"] < 4096
    assert next(waits, None) is None


def test_nats_are_the_logarithm_of_a_row_s_perplexity_a_piece(tmp_path):
    runs = {}
    for row, nats in (("base", 2.0), ("learned", 0.5)):
        (tmp_path / row).mkdir()
        write_result(tmp_path / row, result("base", 30.0, perplexity=math.exp(nats)))
        runs[row] = tmp_path / row / "run"
    assert catalogue.collect_cross_entropies(1, runs) == pytest.approx(
        {"base": 2.0, "learned": 0.5}
    )


def test_beyond_the_trained_length_are_sentences_of_17_to_32_pieces(tmp_path, monkeypatch):
    lines = ["x" * n for n in (3, 15, 16, 31, 32)]  # a letter is a piece, and END one more
    pairs = [(line, line[:4]) for line in lines] + [("x", "x" * 20)]
    translator = random_translator(longest=64)
    monkeypatch.setattr(catalogue, "pairs", lambda *_: pairs)
    monkeypatch.setattr(catalogue, "load", lambda _: translator)
    write_result(tmp_path, result("base", 30.0, perplexity=1.0))
    found = catalogue.measure_positions(1, {"base": tmp_path / "run"})
    beyond = [pairs[2], pairs[3], pairs[5]]
    log_p = sum(one.log_prob for one in translator.likelihood(beyond))
    assert found["base beyond"] == pytest.approx(-log_p / (5 + 5 + 21))


def test_every_trained_row_belongs_to_a_claim_and_every_claim_finds_its_rows():
    used = {row for claim in CLAIMS.values() for row in claim.rows}
    assert used == set(ROWS)
    nats = dict.fromkeys(SCALING.rows, 1.0)
    assert all(math.isfinite(finding.compute(nats)) for finding in SCALING.findings)


def test_the_jacobian_of_a_softmax_is_that_of_autograd():
    scores = torch.randn(3, 5, dtype=torch.float64)
    of_rows = [
        torch.autograd.functional.jacobian(lambda x: x.softmax(dim=0), row) for row in scores
    ]
    expected = sum(one.norm() for one in of_rows) / 3
    assert measure_jacobian(scores) == pytest.approx(float(expected))


def test_products_of_normal_vectors_have_the_variance_of_their_width():
    found = measure_products(1, {})
    for d_k in (16, 64, 256):
        assert found[f"variance {d_k}"] == pytest.approx(d_k, rel=0.05)
    unscaled, scaled = ([found[f"{kind} {d_k}"] for d_k in (16, 64, 256)] for kind in (
        "unscaled", "scaled",
    ))  # fmt: skip
    assert unscaled == sorted(unscaled, reverse=True)
    assert unscaled[-1] < 0.8 * scaled[-1]
    assert scaled == pytest.approx([scaled[0]] * 3, rel=0.1), "gradients that do not shrink"


def test_a_finding_has_an_interval_only_where_its_seeds_differ():
    record = {"finding": "a ÷ b", "expected": "over 1", "mean": 2.0, "verdict": "holds"}
    assert run.list_cells(record | {"low": 2.0, "high": 2.0})[3] == ""
    assert run.list_cells(record | {"low": 1.5, "high": 2.5})[3] == "1.5 to 2.5"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_seed_whose_row_diverged_is_an_error_and_the_others_are_reported(
    monkeypatch, tmp_path, value
):
    claim = PaperClaim(
        name="one", section="1", sentence="A.", findings=[DIFFERENCE],
        measure=lambda seed, _: {"a": value if seed == 2 else seed + 0.5, "b": seed},
    )  # fmt: skip
    monkeypatch.setattr(run, "CLAIMS", {"one": claim})
    failures: list[str] = []
    callbacks = TableCallbacks(
        on_failure=lambda row, error: failures.append(f"{row}: {error.fact}")
    )
    report = reproduce.claims(tmp_path, callbacks=callbacks)
    assert failures == ["one: seed 2: a value is not finite"]
    assert [error.fact for error in report.errors] == ["seed 2: a value is not finite"]
    assert [(row["seeds"], row["verdict"]) for row in report.rows] == [("1 3", "holds")]
