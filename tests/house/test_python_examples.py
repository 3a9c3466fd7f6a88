"""The examples in the docstrings of the public API run."""

import contextlib
import inspect
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.golden.python_page import examples, public_classes

import transduce
from transduce.phrasebook import pairs

SMALL = {
    "architecture.layers": 1,
    "architecture.d_model": 16,
    "architecture.d_ff": 32,
    "training.steps": 3,
    "training.snapshot_every": 1,
    "training.validate_lines": 2,
    "training.threads": 1,
    "search.extra_length": 5,  # an untrained model's outputs have the greatest length
}
SHORT = ", ".join(f'"{name}": {value}' for name, value in SMALL.items())
# What an example makes itself must not be there before.
MAKES = {
    "transduce": ("run", "model"),
    "train": ("run", "model"),
    "average": ("model",),
    "show_progress": ("run",),
}


def documented() -> Iterator[tuple[str, str]]:
    """Yield the public objects that have examples, by name, each with its docstring."""
    yield "transduce", transduce.__doc__ or ""
    for name in transduce.__all__:
        yield name, getattr(transduce, name).__doc__ or ""
    for value in public_classes():
        yield value.__name__, value.__doc__ or ""
        for member, inner in vars(value).items():
            if not member.startswith("_"):
                yield f"{value.__name__}.{member}", getattr(inner, "__doc__", None) or ""


NOT_RUN = {
    "distil": "its student trains for hours",
    "fetch": "it downloads",
    "import_model": "it needs a checkpoint",
    "mix": "it needs several files",
}
EXAMPLES = [
    (name, code)
    for name, doc in documented()
    for code in examples(inspect.cleandoc(doc))
    if name not in NOT_RUN
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small texts, a run of three updates and its averaged model."""
    folder = tmp_path_factory.mktemp("reader")
    for name, split, count in (("a", "train", 200), ("dev", "dev", 5), ("test", "test", 5)):
        sides = zip(*pairs(split, count), strict=True)
        for side, lines in zip(("en", "de"), sides, strict=True):
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
    texts = [(folder / f"{name}.en", folder / f"{name}.de") for name in ("a", "dev")]
    run = transduce.train(folder / "run", *texts, settings=SMALL)
    transduce.average(run, folder / "model")
    return folder


@pytest.mark.parametrize(("name", "code"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_runs_as_it_stands(name, code, trained, tmp_path):
    folder = shutil.copytree(trained, tmp_path / "here")
    for made in MAKES.get(name, ()):
        shutil.rmtree(folder / made)
    code = re.sub(r'"training\.steps": [\d_]+', SHORT, code)
    code = code.replace('("a.en", "a.de"))', f'("a.en", "a.de"), settings={{{SHORT}}})')
    with contextlib.chdir(folder):
        names = {value.__name__: value for value in public_classes()}
        exec(compile(code, name, "exec"), {"transduce": transduce, **names})


@pytest.mark.parametrize("name", [n for n in transduce.__all__ if not n.startswith("_")])
def test_every_public_function_is_documented(name):
    assert getattr(transduce, name).__doc__
