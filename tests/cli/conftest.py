"""Commands run as a user runs them, without a new process where none is needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click
import pytest

from transduce.cli.main import transduce
from transduce.cli.outcome import run


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it said."""

    code: int
    stdout: str
    stderr: str


Called = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Called:
    """Run the command line with these arguments."""

    def called(*arguments: str, command: click.Command = transduce) -> Outcome:
        code = run(command, _texts(arguments))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return called


def _texts(arguments: Sequence[object]) -> list[str]:
    return [str(argument) for argument in arguments]
