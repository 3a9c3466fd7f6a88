"""A misspelt keyword of a public function: the argument or the setting that was meant is named."""

import inspect
from typing import Any

import pytest

import transduce
from transduce.durable.folder import resolve_output
from transduce.errors import InputError
from transduce.settings.keywords import with_checked_keywords

UNTYPED: Any = transduce  # whose functions are called with values of other types


def example(folder, *, recipe=None, settings=None):
    return folder, recipe, settings


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [
        ("recipie", "did you mean recipe?"),
        ("steps", "settings={'training.steps': …}"),
        ("dropout", "settings={'architecture.dropout': …}"),
        ("zzz", "known: folder, recipe, settings"),
    ],
)
def test_an_unknown_keyword_is_answered_with_what_was_meant(keyword, hint):
    with pytest.raises(TypeError) as refusal:
        with_checked_keywords(example)("run", **{keyword: 1})
    assert str(refusal.value) == f"example() has no argument {keyword!r}; {hint}"


def test_known_arguments_reach_the_function_as_they_are():
    assert with_checked_keywords(example)("run", recipe=3) == ("run", 3, None)
    assert inspect.signature(with_checked_keywords(example)) == inspect.signature(example)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("value", ["no", 1, None])
def test_a_flag_is_true_or_false(value):
    with pytest.raises(InputError, match="force must be True or False, not"):
        transduce.average("run", force=value)
    with pytest.raises(InputError, match="plot must be True or False, not"):
        transduce.reproduce.table2("folder", plot=value)


@pytest.mark.usefixtures("unchecked_types")
def test_what_is_called_with_warnings_is_a_function():
    with pytest.raises(InputError, match="on_warning must be a function, not 5"):
        transduce.load("model", on_warning=5)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: UNTYPED.clean("c", [], letters="0.5"), "letters must be a number, not '0.5'"),
        (lambda: UNTYPED.clean("c", [], worst=None), "worst must be a number, not None"),
        (lambda: UNTYPED.distil(None, "d", seed=1.5), "seed must be a whole number, not 1.5"),
        (lambda: UNTYPED.distil(None, "d", until=3), "until must be a string, not 3"),
        (lambda: UNTYPED.explain("m", max_weights="5"), "max_weights must be a whole number"),
        (
            lambda: UNTYPED.score([], [], against=[], samples="9"),
            "samples must be a whole number",
        ),
        (lambda: UNTYPED.train("r", [], copy_to=5), "copy_to must be a folder or an address"),
        (lambda: UNTYPED.train("r", [], copy_to="\ud800"), "copy_to has half a surrogate pair"),
        (lambda: UNTYPED.sweep("s", [], vary={5: [1]}), "unknown setting 5"),
        (lambda: resolve_output(UNTYPED), "a file to write must be a path"),
        (lambda: UNTYPED.reproduce.claims(None, only=["heads"]), "folder must be a path"),
        (lambda: UNTYPED.reproduce.claims("c", only=[5]), "only is a list of names"),
    ],
)
def test_numbers_strings_and_names_are_what_they_should_be(call, fact):
    with pytest.raises(InputError, match=fact):
        call()


def test_public_functions_check_their_keywords_and_stay_themselves():
    assert transduce.train is transduce.train
    assert (transduce.train.__doc__ or "").startswith("Train a model in a folder")
    with pytest.raises(TypeError, match=r"train\(\) has no argument 'recipie'; did you mean rec"):
        transduce.train("run", recipie="demo")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"average\(\) has no argument 'lasts'; did you mean last"):
        transduce.average("run", lasts=3)  # type: ignore[call-arg]
