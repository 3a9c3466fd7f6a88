"""Groups of options arrive as one object; what is quiet and live is known to the display alone."""

from dataclasses import dataclass

import click
import pytest

from transduce.cli import display, options
from transduce.cli.options import FiniteRange, add_options, format_options, option


@dataclass(frozen=True)
class Size:
    """A group with an option of its own name, one named otherwise, a flag, and a plain field."""

    batch_size: int = option(type=int, default=8, help="Sentences at once.")
    parent: str | None = option("--from", help="A model.")
    exact: bool = option(is_flag=True, help="To the bit.")
    rank: int = 3


def run(command, *arguments):
    with command.make_context("x", list(arguments)) as context:
        return command.invoke(context)


def command_of(*decorators):
    def show(**given):
        return given

    for decorate in decorators:
        show = decorate(show)
    return click.command()(show)


def test_the_values_of_a_group_arrive_as_one_object_beside_other_options():
    command = command_of(add_options(Size, "size"), click.option("--name"))
    found = run(command, "--batch-size=2", "--from=m", "--exact", "--name=n")
    assert found == {"size": Size(2, "m", exact=True), "name": "n"}
    assert run(command) == {"size": Size(), "name": None}


def test_a_command_may_have_some_options_of_a_group_with_other_help():
    command = command_of(add_options(Size, "size", ("exact",), exact="Slower."))
    assert [(one.name, one.help) for one in command.params] == [("exact", "Slower.")]
    assert run(command, "--exact") == {"size": Size(exact=True)}


def test_an_unknown_name_in_a_group_is_a_fault_at_import():
    with pytest.raises(KeyError):
        add_options(Size, "size", ("batchsize",))


def test_the_words_of_a_command_give_a_group_s_values_again():
    words = format_options(Size(2, "a model"), "batch_size", "parent")
    assert words == ["--batch-size", "2", "--from", "a model"]
    assert format_options(Size(8, "m"), "batch_size") == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((), (False, True)), (("--quiet",), (True, False)), (("--no-progress",), (False, False))],
)
def test_quiet_and_progress_are_seen_by_the_display_and_handed_to_nobody(arguments, expected):
    @click.command()
    @options.quiet
    @options.no_progress
    def show():
        return display.is_quiet(), display.is_live()

    assert run(show, *arguments) == expected
    assert (display.is_quiet(), display.is_live()) == (False, True)


@pytest.mark.parametrize("value", ["nan", "inf", "1e400"])
def test_a_number_that_is_not_finite_is_in_no_range(value):
    command = command_of(click.option("--share", type=FiniteRange(min=0)))
    with pytest.raises(click.BadParameter, match="is no finite number"):
        run(command, f"--share={value}")
