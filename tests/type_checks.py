"""Types and shapes are checked at the first calls of every function in each test.

A check takes many times as long as a small function, and the thousandth call of a test goes the way
of its first ones. So a function is compiled with its check when it is first called, is checked
`FIRST` times in a test, and then runs as users have it. jaxtyping's import hook decorates all
functions of the package, also those defined in functions, which would be compiled at every call.
Its check binds all arguments and compares them twice; functions without arrays are spared that.
"""

import dataclasses
import inspect
from collections import defaultdict
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, get_args, get_type_hints

import beartype
import jaxtyping

FIRST = 3  # the calls of a function that are checked in a test
calls: defaultdict[int, int] = defaultdict(
    int
)  # how often each function was called in this test, by its code
check_every_call = jaxtyping.jaxtyped
PLAIN = beartype.BeartypeConf(violation_type=jaxtyping.TypeCheckError)
# torch compiles the source of these for a graph, and would find that of the check
COMPILED_BY_TORCH = {"multiply_by_mkl", "multiply_by_onednn", "multiply_integers"}


def check_first_calls(value: Any = None, *, typechecker: Any) -> Any:
    """Return a function or class of the package whose first calls in each test are checked."""
    if value is None:
        return partial(check_first_calls, typechecker=typechecker)
    check = partial(check_first_calls, typechecker=typechecker)
    match value:
        case classmethod() | staticmethod():
            return type(value)(check(value.__func__))
        case property():
            return property(*(one and check(one) for one in (value.fget, value.fset, value.fdel)))
        case type():
            if dataclasses.is_dataclass(value) and not hasattr(value.__init__, "is_checked"):
                value.__init__ = check(value.__init__)  # type: ignore[method-assign]
            return value
    if not inspect.isfunction(value) or value.__name__ in COMPILED_BY_TORCH:
        return value
    of_triton = value.__module__.startswith("transduce.fast.triton")  # it reads their source
    return value if of_triton else build_checked(value, typechecker)


def build_checked(function: Callable[..., Any], typechecker: Any) -> Callable[..., Any]:
    """Return the function with a check of the first calls; it is compiled at the first of them."""
    code, compiled = id(function.__code__), list[Callable[..., Any]]()

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        count = calls[code]
        if count >= FIRST or jaxtyping.config.jaxtyping_disable:
            return function(*args, **kwargs)
        calls[code] = count + 1
        if not compiled:
            compiled.append(
                check_every_call(function, typechecker=typechecker)
                if names_an_array(function)
                else typechecker(function, conf=PLAIN)
            )
        return compiled[0](*args, **kwargs)

    call.is_checked = True  # type: ignore[attr-defined]
    return call


def names_an_array(function: Callable[..., Any]) -> bool:
    """Return whether an argument or the result is an array with a shape, as far as can be told."""
    try:
        open_types = list(get_type_hints(function, include_extras=True).values())
    except (NameError, TypeError):
        return True
    while open_types:
        one = open_types.pop()
        if inspect.isclass(one) and issubclass(one, jaxtyping.AbstractArray):
            return True
        open_types += one if isinstance(one, list) else get_args(one)
    return False
