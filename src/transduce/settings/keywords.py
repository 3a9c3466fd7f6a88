"""Helpful errors for keyword arguments of the public functions: misspelt names, wrong flags."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache, wraps
from types import UnionType
from typing import Any

from transduce.errors import short_repr, suggest_names
from transduce.settings.fields import require, require_flag
from transduce.settings.recipe import Recipe

# the annotation of an argument -> the types of its values, and their name
KINDS: Mapping[object, tuple[type | UnionType, str]] = {
    str: (str, "a string"),
    int: (int, "a whole number"),
    float: (int | float, "a number"),
}


@cache
def with_checked_keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: unknown keywords raise TypeError, values of a wrong type InputError.

    TypeError suggests a name. Values given by keyword are checked if the default is a bool or a
    function, or the annotation str, int or float. A function with **keywords is returned unchanged.
    """
    known = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
        return function

    @wraps(function)
    def checked(*arguments: object, **keywords: object) -> object:
        for name, value in keywords.items():
            if name not in known:
                raise TypeError(describe_unknown_keyword(function.__name__, name, known))
            if isinstance(known[name].default, bool):
                require_flag(name, value)
            elif inspect.isfunction(known[name].default):
                fact = f"{name} must be a function, not {short_repr(value)}"
                require(callable(value), fact)
            elif wanted := KINDS.get(known[name].annotation):
                kind, described = wanted
                fits = isinstance(value, kind) and not isinstance(value, bool)
                require(fits, f"{name} must be {described}, not {short_repr(value)}")
        return function(*arguments, **keywords)

    return checked


def describe_unknown_keyword(function: str, name: str, known: Mapping[str, object]) -> str:
    """Return an error message that suggests a similar argument, or the setting of that name."""
    settings = Recipe(name="none").flat_settings()
    paths = [path for path in settings if path.endswith(f".{name}")]
    if paths and "settings" in known and f"{name}s" not in known:  # `seeds` of a table
        hint = f"settings={{'{paths[0]}': …}}"
    else:
        hint = suggest_names(name, known)
    return f"{function}() has no argument {name!r}; {hint}"
