"""Dataclasses read back from JSON: each field of its type, finite and not negative."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from transduce.durable.json import parse_json, parse_record


@dataclass(frozen=True)
class Inner:
    name: str
    value: float = 1.0


@dataclass(frozen=True)
class Outer:
    step: int
    is_good: bool = True
    inner: Inner | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


RECORD = Outer(3, inner=Inner("BLEU", 2.5), more={"a": [1]})


def test_a_record_comes_back_from_its_json():
    assert parse_record(Outer, asdict(RECORD)) == RECORD
    assert parse_record(Outer, {"step": 1, "inner": {"name": "", "value": 7}}) == Outer(
        1, inner=Inner("", 7.0)
    )


@pytest.mark.parametrize(
    ("values", "fact"),
    [
        ([], r"\[\] is no JSON object"),
        ({}, "step is missing"),
        ({"step": 1, "more_of": 2}, "'more_of' is unknown"),
        ({"step": True}, "step is True"),
        ({"step": 1.0}, "step is 1.0"),
        ({"step": -1}, "step is -1"),
        ({"step": 2**63}, "step is 9223372036854775808"),
        ({"step": 1, "is_good": 1}, "is_good is 1"),
        ({"step": 1, "inner": 5}, "5 is no JSON object"),
        ({"step": 1, "inner": {"name": None}}, "name is None"),
        ({"step": 1, "inner": {"name": "x", "value": "1"}}, "value is '1'"),
        ({"step": 1, "inner": {"name": "x", "value": -0.5}}, "value is -0.5"),
        ({"step": 1, "inner": {"name": "x", "value": float("nan")}}, "value is nan"),
        ({"step": 1, "inner": {"name": "x", "value": float("inf")}}, "value is inf"),
        ({"step": 1, "inner": {"name": "x", "value": 10**400}}, "value is 1000"),
        ({"step": 1, "more": []}, r"more is \[\]"),
    ],
)
def test_a_field_that_is_wrong_unknown_or_missing_is_named(values, fact):
    with pytest.raises(ValueError, match=fact):
        parse_record(Outer, values)


def test_json_that_an_editor_began_with_a_mark_of_its_encoding_is_read():
    assert parse_json('\ufeff{"step": 1}'.encode()) == {"step": 1}
