"""The events of a run's journal, for tests."""

import json
from contextlib import suppress
from typing import Any


def read_journal(path):
    """The events of a journal, without cut lines and events that a resume made obsolete."""
    kept = list[dict[str, Any]]()
    for line in path.read_bytes().splitlines():
        with suppress(ValueError):
            event = json.loads(line)
            if event["event"] == "resume":
                kept = [one for one in kept if one["step"] <= event["step"]]
            kept.append(event)
    return kept
