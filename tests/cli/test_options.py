"""Groups of options arrive as one object; what is quiet and live is known to the display alone."""

from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from transduce.cli import display, options
from transduce.cli.options import FiniteRange, argument, flag, format_options, group, option


@dataclass(frozen=True)
class Size:
    """A group with an option of its own name, one named otherwise, a flag, and a plain field."""

    batch_size: int = option("Sentences at once.", default=8)
    parent: str | None = option("A model.", "--from")
    exact: bool = flag("To the bit.")
    rank: int = 3


def run(command, *arguments):
    with command.make_context("x", list(arguments)) as context:
        return command.invoke(context)


def test_the_values_of_a_group_arrive_as_one_object_beside_other_options():
    @options.make_command("x")
    def command(*, size: Size = group(), name: str | None = option("Its name.")):
        return {"size": size, "name": name}

    found = run(command, "--batch-size=2", "--from=m", "--exact", "--name=n")
    assert found == {"size": Size(2, "m", exact=True), "name": "n"}
    assert run(command) == {"size": Size(), "name": None}


def test_a_command_may_have_some_options_of_a_group_with_other_help():
    @options.make_command("x")
    def command(*, size: Size = group("exact", exact="Slower.")):
        return size

    assert [(one.name, one.help) for one in command.params] == [("exact", "Slower.")]
    assert run(command, "--exact") == Size(exact=True)


def test_an_unknown_name_in_a_group_is_a_fault_at_import():
    with pytest.raises(KeyError):

        @options.make_command("x")
        def command(*, size: Size = group("batchsize")):
            return size


def test_the_type_of_an_option_is_that_of_its_parameter():
    @options.make_command("x")
    def command(
        *,
        files: tuple[Path, ...] = argument(nargs=-1),
        many: tuple[int, ...] = option("Numbers.", multiple=True),
        share: float | None = option("A number."),
    ):
        return files, many, share

    assert run(command) == ((), (), None)
    given = ("a", "b", "--many=1", "--many=2", "--share=.5")
    assert run(command, *given) == ((Path("a"), Path("b")), (1, 2), 0.5)
    with pytest.raises(click.BadParameter, match="is not a valid integer"):
        run(command, "--many=x")


def test_the_words_of_a_command_give_a_group_s_values_again():
    words = format_options(Size(2, "a model"), "batch_size", "parent")
    assert words == ["--batch-size", "2", "--from", "a model"]
    assert format_options(Size(8, "m"), "batch_size") == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((), (False, True)), (("--quiet",), (True, False)), (("--no-progress",), (False, False))],
)
def test_quiet_and_progress_are_seen_by_the_display_and_handed_to_nobody(arguments, expected):
    @options.make_command("x", options.quiet, options.no_progress)
    def show():
        return display.is_quiet(), display.is_live()

    assert run(show, *arguments) == expected
    assert (display.is_quiet(), display.is_live()) == (False, True)


@pytest.mark.parametrize("value", ["nan", "inf", "1e400"])
def test_a_number_that_is_not_finite_is_in_no_range(value):
    command = click.Command("x", params=[click.Option(["--share"], type=FiniteRange(min=0))])
    with pytest.raises(click.BadParameter, match="is no finite number"):
        run(command, f"--share={value}")
