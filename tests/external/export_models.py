"""Run by test_exports.py where an engine is: exports models to it and prints their proofs as JSON.

python export_models.py TARGET SUFFIX MODEL…: each to MODEL.out with the suffix, proved by the lines
in MODEL.lines; the first in 8 bits, too, if the target has that precision.
"""

import json
import sys

import transduce
from transduce.errors import InputError


def export(model, name, **more):
    """Export a model; return what the command prints with --json, or the refusal."""
    target, suffix, *_ = sys.argv[1:]
    try:
        output = f"{model}.{name}{suffix}"
        return transduce.export(
            model, to=target, output=output, prove=f"{model}.lines", **more
        ).as_json()
    except InputError as error:
        return {"refused": error.fact}


models = sys.argv[3:]
found = {model: export(model, "out") for model in models}
found["int8"] = export(models[0], "int8", precision="int8")
json.dump(found, sys.stdout)
