"""Figures of a machine stay on the page until they are measured anew."""

import json

from benchmarks.machine import slug

from benchmarks import __main__ as main


def test_a_new_day_begins_with_the_figures_of_the_last_one_on_this_machine(tmp_path):
    today = tmp_path / f"2026-01-03-{slug()}.json"
    assert main.read_earlier_results(today) == {"parts": {}}
    for day, name in (("2026-01-01", slug()), ("2026-01-02", "other")):
        (tmp_path / f"{day}-{name}.json").write_text(json.dumps({"parts": {"search": day}}))
    assert main.read_earlier_results(today) == {"parts": {"search": "2026-01-01"}}
    today.write_text(json.dumps({"parts": {"training": "today"}}))
    assert main.read_earlier_results(today) == {"parts": {"training": "today"}}
