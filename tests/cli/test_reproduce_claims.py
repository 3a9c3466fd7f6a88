"""transduce reproduce claims, on claims that take no time."""

import json


def test_claims_are_printed_with_their_verdicts_and_kept(call, tmp_path):
    out = tmp_path / "out"
    done = call("reproduce", "claims", "--only", "restricted", "-o", out)
    assert done.code == 0
    assert "path of full attention, n 65" in done.stdout
    again = call("reproduce", "claims", "--only", "arithmetic", "--json", "-o", out)
    found = {row["claim"] for row in json.loads(again.stdout)["runs"]}
    assert found == {"restricted", "arithmetic"}
    assert "holds" in (out / "claims.md").read_text(encoding="utf-8")


def test_a_damaged_record_hides_no_other_claim(call, tmp_path):
    out = tmp_path / "out"
    assert call("reproduce", "claims", "--only", "restricted", "-o", out).code == 0
    (record,) = out.glob("rows/claim-restricted-*/values.json")
    record.write_text("{}")
    done = call("reproduce", "claims", "--only", "restricted,arithmetic", "-o", out)
    assert (done.code, "values.json" in done.stderr) == (3, True)
    assert "arithmetic" in (out / "claims.md").read_text(encoding="utf-8")


def test_an_unknown_claim_is_refused(call, tmp_path):
    done = call("reproduce", "claims", "--only", "head", "-o", tmp_path / "out")
    assert done.code == 2
    assert done.stderr.startswith("error: there is no claim 'head'\nhint: did you mean")


def test_an_empty_list_of_claims_does_not_stand_for_all(call, tmp_path):
    for nothing in ("", ",", " "):
        done = call("reproduce", "claims", "--only", nothing, "-o", tmp_path / "out")
        assert (done.code, "names nothing" in done.stderr) == (2, True)
