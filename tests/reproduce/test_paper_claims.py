"""The paper's claims outside its tables: verdicts, what is kept, what is printed."""

import json
import math

import pytest
import torch

from transduce import reproduce
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import InputError
from transduce.reproduce.paper_claims import run
from transduce.reproduce.paper_claims.catalogue import CLAIMS, SCALING
from transduce.reproduce.paper_claims.claim import Finding, PaperClaim
from transduce.reproduce.paper_claims.costs import measure_products
from transduce.reproduce.paper_claims.trained import ROWS

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
    file.write_bytes(to_checksummed_json(found | {"values": {"c": 1.0}}))
    reproduce.claims(tmp_path, seeds=1)
    assert measured == [1, 1]


def test_an_unknown_claim_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match="there is no claim 'head'") as error:
        reproduce.claims(tmp_path / "out", only=["head"])
    assert "heads" in error.value.hint
    assert not (tmp_path / "out").exists()


def test_printed_numbers_are_calculated_again(tmp_path):
    found = reproduce.claims(tmp_path / "out", only=["arithmetic"]).rows
    assert found[0]["mean"] == pytest.approx(3.283e18, rel=1e-3)
    assert [row["finding"] for row in found if row["verdict"] != "holds"] == [
        "100,000 steps of 0.4 s take 12 hours",
        "en-fr: Table 2 prints the text's 41.0 BLEU for big",
    ]


def test_every_trained_row_belongs_to_a_claim_and_every_claim_finds_its_rows():
    used = {row for claim in CLAIMS.values() for row in claim.rows}
    assert used == set(ROWS)
    nats = dict.fromkeys(SCALING.rows, 1.0)
    assert all(math.isfinite(finding.compute(nats)) for finding in SCALING.findings)


def test_the_jacobian_of_a_softmax_is_that_of_autograd():
    from transduce.reproduce.paper_claims.costs import measure_jacobian

    scores = torch.randn(3, 5, dtype=torch.float64)
    of_rows = [
        torch.autograd.functional.jacobian(lambda x: x.softmax(dim=0), row) for row in scores
    ]
    expected = sum(one.norm() for one in of_rows) / 3
    assert measure_jacobian(scores) == pytest.approx(float(expected))


def test_products_of_normal_vectors_have_the_variance_of_their_width():
    found = measure_products(1, {})
    assert found["variance 64"] == pytest.approx(64, rel=0.05)
    assert found["unscaled 256"] < found["scaled 256"]
