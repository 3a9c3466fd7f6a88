"""Logs of runs, written by the class that training writes them with."""

import json
import math
from contextlib import closing
from pathlib import Path

from transduce.checkpoint.run_file import Run, write_run
from transduce.settings import Architecture, Recipe, Training
from transduce.training.journal import LOG, Journal

SCHEDULE = {"d_model": 32, "warmup": 100, "learning_rate_factor": 1.0}


def rate(step):
    return 32**-0.5 * min(step**-0.5, step * 100**-1.5)


def loss(step):
    """A loss that falls, and differs from step to step."""
    return 1 + 4 * math.exp(-step / 50) + 0.1 * math.sin(step * 12.9898)


def update(step, **changes):
    values = {
        "step": step,
        "loss": loss(step) + 0.2,
        "nats": loss(step),
        "gradient_norm": 0.5 + abs(math.sin(step)),
        "learning_rate": rate(step),
        "source_tokens": 90,
        "target_tokens": 100 + step % 7,
        "seconds": round(0.25 * step, 3),
        "applied": True,
    }
    return ("update", values | changes)


def validation(step, nats, score=None):
    scored = None if score is None else {"name": "BLEU", "value": score, "signature": "x"}
    return ("validation", {"step": step, "nats": nats, "score": scored})


def write_log(run: Path, events, lines=()) -> Path:
    """Write the log of a run: events, then lines as they are."""
    run.mkdir(parents=True, exist_ok=True)
    with closing(Journal(run / LOG)) as journal:
        for kind, values in events:
            journal.write(kind, **values)
    with (run / LOG).open("ab") as file:
        for line in lines:
            file.write(line + b"\n")
    return run


def write_recipe(run: Path, **changes) -> Path:
    """Write run.json with a learning rate's schedule."""
    values = SCHEDULE | changes
    recipe = Recipe(
        name="curves",
        architecture=Architecture(d_model=values.pop("d_model")),
        training=Training(**values, average_last=2),
    )
    write_run(run, Run(id="0" * 16, recipe=recipe, fingerprints={}))
    return run


def read_updates(run: Path):
    """Return the updates of a log by plain JSON, whatever else is in it."""
    lines = (run / LOG).read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == "update"]
