"""Types and shapes are checked at the first calls of every function of the package in a test."""

import pytest
import torch
from beartype import beartype
from jaxtyping import Float, TypeCheckError
from tests.type_checks import FIRST, check_first_calls

from transduce.paper.operations import attention
from transduce.settings import Search


def build_square():
    """Build a function of a square matrix, anew at each call, as closures are."""

    @check_first_calls(typechecker=beartype)
    def trace(x: Float[torch.Tensor, "n n"]) -> float:
        return float(x.diagonal().sum())

    return trace


def build_count():
    """Build a function without arrays, of one argument, whose result is not what it says."""

    @check_first_calls(typechecker=beartype)
    def count(x: list[int] | None) -> str:
        return "none" if x is None else len(x)  # type: ignore[return-value]

    return count


def test_shapes_and_types_of_the_package_are_checked():
    q = torch.zeros(2, 5, 4)
    with pytest.raises(TypeCheckError, match="allowed"):
        attention(q, q, q, torch.ones(5, 4, dtype=torch.bool))
    with pytest.raises(TypeCheckError, match="beam"):
        Search(beam="four")  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(2, 3), (4, 3)])
def test_each_test_checks_the_first_calls_of_a_function_anew(shape):
    for _ in range(FIRST):
        with pytest.raises(TypeCheckError):
            build_square()(torch.zeros(shape))
    assert build_square()(torch.ones(2, 3)) == 2, "a function defined anew has had its calls"


def test_arguments_and_results_without_arrays_are_checked():
    assert build_count()(None) == "none"
    with pytest.raises(TypeCheckError, match="parameter x="):
        build_count()((1, 2))
    with pytest.raises(TypeCheckError, match="return 2"):
        build_count()([1, 2])


@pytest.mark.usefixtures("unchecked_types")
def test_without_checks_a_function_takes_what_it_is_given():
    assert build_square()(torch.ones(2, 3)) == 2
