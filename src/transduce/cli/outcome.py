"""Run a command and turn its error into a sentence, a hint and an exit code."""

import errno
import os
import traceback
from collections.abc import Sequence

import click

from transduce.cli import display
from transduce.errors import TransduceError, suggest_names

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
AGAIN = "the same command starts again; a run or a prepared corpus goes on from what is finished"
UNREACHABLE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP)
COMPLETION = "_TRANSDUCE_COMPLETE"  # set by the shell when the tab key is pressed


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM, and handled like the KeyboardInterrupt of Ctrl-C."""


def run(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; its error, if any, is printed on standard error."""
    try:
        code = _invoke(command, arguments)
        print(end="", flush=True)  # raises the error of a full disk or closed pipe
    except click.exceptions.Exit as end:
        code = end.exit_code
    except SystemExit as end:  # the command has printed why
        code = int(end.code or 0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - no caller handles errors
        code = _explained(error)
    display.settle()
    return code


def _invoke(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a click command as click's own `main` does, but without its error handling."""
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(command, {}, "transduce", COMPLETION, instruction)
    with command.make_context("transduce", list(arguments)) as context:
        command.invoke(context)
    return 0


def _explained(error: Exception | KeyboardInterrupt) -> int:
    """Print an error as a sentence with a hint, and return its exit code."""
    match error:
        case TransduceError():
            _tell(error.fact, error.hint)
            return error.exit_code
        case click.ClickException():
            _tell(*_wrong_usage(error))
            return 2
        case Terminated():
            _tell("terminated before it was done", AGAIN)
            return 143
        case KeyboardInterrupt() | click.Abort():
            _tell("interrupted before it was done", AGAIN)
            return 130
        case BrokenPipeError() if display.nobody_reads():
            return 141
        case OSError() if error.errno in FULL:
            _tell(f"cannot write: {error.strerror}", "free some space, then start again")
            return 4
        case OSError() if error.errno in UNREACHABLE and error.filename:
            reason = os.strerror(error.errno).lower()
            _tell(f"{error.filename}: {reason}", "look at the path and its rights")
            return 2
        case _:
            traceback.print_exception(error)
            _tell("this is a fault of transduce", "please report it with the lines above")
            return 1


def _tell(fact: str, hint: str) -> None:
    """Print an error's fact and the hint on standard error."""
    display.tell(f"error: {fact}")
    if hint:
        display.tell(f"hint: {hint}")


def _wrong_usage(error: click.ClickException) -> tuple[str, str]:
    """Return the fact and the hint for a usage error of click; the hint suggests a near name."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and context is not None:
        options = [name for p in context.command.get_params(context) for name in p.opts]
        known = [name for name in options if name.startswith("-")]
        return f"unknown option {error.option_name}", suggest_names(error.option_name, known)
    fact = error.format_message().rstrip(".")
    path = context.command_path if context is not None else "transduce"
    return fact[:1].lower() + fact[1:], f"`{path} --help` says how it is used"
