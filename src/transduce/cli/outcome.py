"""Run a command; turn an error, such as an unknown option, into sentence, hint and exit code."""

import errno
import mmap
import os
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

import click

from transduce.cli import display
from transduce.errors import (
    FolderError,
    InputError,
    SaveError,
    TransduceError,
    find_exhaustion,
    is_out_of_memory,
    short_repr,
    shorten,
    suggest_names,
)

RESERVE = 1 << 23  # bytes that are freed when memory has run out, to report the error
FULL = {
    errno.ENOSPC: "free some disk space and repeat the command",
    errno.EDQUOT: "free some disk space and repeat the command",
    errno.EFBIG: "no file may be so large here: look at `ulimit -f`",
}
RERUN_HINT = "the same command goes on from what it has saved, or starts again"
PLACES = {  # what may keep a package from being loaded
    "torch": "the environment variables that begin with TORCH",
    "matplotlib": "the environment variables that begin with MPL, and the file matplotlibrc",
}
NO_TEMPORARY_FOLDER = "No usable temporary directory"
NOT_ONE_OF = re.compile("'(.*)' is not one of ")  # click's message on an unknown choice
# patterns in click's messages: the phrase about an invalid number, and a value too long to show
NOT_A_NUMBER = re.compile("is not a valid (integer|float)( range)?")
LONG_VALUE = re.compile("[-+.\\w]{61,}")
NUMBERS = (type(click.INT), type(click.FLOAT))
MOST_OPTIONS = 12  # of a command with more options, a hint does not list all
MOST_COMMANDS = 2  # a hint names a command with an option if at most this many have the option
TOO_MANY = "got unexpected extra argument"  # how click's message on one or several begins
SHORT_WITH_SIGN = re.compile("(?<=^-[a-z])=")  # between a short option and its value
UNREACHABLE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP)
COMPLETION = "_TRANSDUCE_COMPLETE"  # set by the shell when the tab key is pressed


class Commands(click.Group):
    """A group of commands whose error for an unknown name suggests the most similar names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return (name, command, its words by `split_words`); refuse an unknown name."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            hint = suggest_names(name, [*known, "--help"])
            raise InputError(f"unknown command {short_repr(name)}", hint)
        found, command, words = super().resolve_command(ctx, args)
        if command is not None:
            words = split_words(command, ctx, words)
        return found, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in `--help`, each with the first paragraph of its help."""
        with formatter.section("Commands"):
            commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
            formatter.write_dl(
                [(name, (one.help or "").split("\n\n")[0]) for name, one in commands]
            )


def split_words(command: click.Command, context: click.Context, words: list[str]) -> list[str]:
    """Return `words` with -o=FILE split into -o and FILE; refuse repeated or misplaced options.

    click would take =FILE as the file's name. Raises InputError for an option in place of another's
    value, one with a printed dash, and one that takes one value and is given twice. An option that
    takes a number may be given twice, and its last value counts.
    """
    options = {name: one for one in command.get_params(context) for name in one.opts}
    end = words.index("--") if "--" in words else len(words)
    split = [part for word in words[:end] for part in SHORT_WITH_SIGN.split(word, 1)]
    # an option's name ends at "=", or, if it is a short one, after its letter, as in -oFILE
    named = [
        options.get(word.partition("=")[0] if word.startswith("--") else word[:2]) for word in split
    ]
    for one, count in Counter(filter(None, named)).items():
        is_single = isinstance(one, click.Option) and not (one.multiple or one.is_flag)
        if count > 1 and is_single and not isinstance(one.type, NUMBERS):
            fact = f"{one.opts[-1]} is given {count} times, and takes one value"
            raise InputError(fact, "leave out all but one")
    for word, following in pairwise(["", *split]):
        before, plain = options.get(word), following.lstrip("–—−")
        takes_value = isinstance(before, click.Option) and not before.is_flag
        if takes_value and following.startswith("-") and following in options:
            fact = f"option '{word}' requires an argument, and {following} is an option"
            raise InputError(fact, f"is a shell variable empty? ./{following} is a file's name")
        meant = {f"-{plain}", f"--{plain}"} & options.keys()
        if meant and plain != following and not takes_value:
            fact = f"{short_repr(following)} begins with a printed dash, not with hyphens"
            raise InputError(fact, f"type {meant.pop()}")
    return split + words[end:]


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM, and handled like the KeyboardInterrupt of Ctrl-C."""

    exit_code, fact = 143, "terminated before it was done"


class TerminalClosed(Terminated):
    """Raised by SIGHUP, when the terminal is closed or the connection to it is lost."""

    exit_code = 129


class ProcessorTimeSpent(Terminated):
    """Raised by SIGXCPU, when the process reaches its limit of processor time (`ulimit -t`)."""

    exit_code, fact = 152, "the limit of processor time was reached before it was done"


def run(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; its error, if any, is printed on standard error."""
    try:
        _invoke(command, arguments)
        print(end="", flush=True)  # raises the error of a full disk or closed pipe
        code = 0
    except click.exceptions.Exit as end:
        code = end.exit_code
    except SystemExit as end:  # the command has printed the reason
        code = int(end.code or 0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - no caller handles errors
        code = _report_error(error)
    except BaseException as error:  # a library's panic, such as when it can start no thread
        exhaustion = find_exhaustion(error)
        if exhaustion is None:
            raise
        code = _report_error(exhaustion)
    display.flush_output()
    return code


def _invoke(command: click.Command, arguments: Sequence[str]) -> None:
    """Run a click command as click's own `main` does, but leave errors to the caller."""
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        try:
            code = shell_complete(command, {}, "transduce", COMPLETION, instruction)
        except (KeyError, ValueError) as error:  # the shell sets COMP_WORDS and COMP_CWORD
            raise InputError("the shell does not say what to complete", COMPLETION) from error
        if code:
            fact = f"{COMPLETION}={short_repr(instruction)} is set, and is not known"
            raise InputError(fact, f"unset {COMPLETION}; known: bash_source, zsh_source, …")
        return
    reserve = mmap.mmap(-1, RESERVE)  # its pages are untouched, and take address space alone
    with command.make_context("transduce", list(arguments)) as context:
        try:
            command.invoke(context)
        except Exception as error:  # handled here: leaving click's context needs memory
            if is_out_of_memory(error):
                reserve.close()
                _free_frames(error)
            raise


def _free_frames(error: BaseException) -> None:
    """Clear the local variables of all frames that raised an error or one of its causes."""
    cause: BaseException | None = error
    while cause is not None:
        traceback.clear_frames(cause.__traceback__)
        cause = cause.__context__


def _report_error(error: Exception | KeyboardInterrupt) -> int:
    """Print an error as a sentence with a hint, and return its exit code."""
    match convert_system_error(error):
        case TransduceError() as known:
            display.print_error(known.fact, known.hint)
            return known.exit_code
        case click.ClickException() as known:
            display.print_error(*_describe_usage_error(known))
            return 2
        case Terminated() as end:
            display.print_error(end.fact, RERUN_HINT)
            return end.exit_code
        case KeyboardInterrupt() | click.Abort():
            display.print_error("interrupted before it was done", RERUN_HINT)
            return 130
        case BrokenPipeError() if display.is_pipe_closed():
            return 141
        case _:
            traceback.print_exception(error)
            display.print_error(
                "this is a fault of transduce", "please report it with the lines above"
            )
            return 1


def convert_system_error(error: BaseException) -> BaseException:
    """Return a TransduceError for a known cause, such as a full disk; else `error` itself."""
    is_ours = isinstance(error, InputError | FolderError | SaveError)
    origin = error.__context__ if is_ours else error
    if origin and (exhaustion := find_exhaustion(origin)):  # this may have caused the error
        return exhaustion
    if isinstance(error, Exception) and (package := find_broken_package(error)):
        # such as with TORCH_LOGS=junk; a signal raises KeyboardInterrupt, which is no Exception
        fact = f"{package} cannot be loaded: {short_repr(str(error), 200)}"
        place = PLACES.get(package, f"PYTHONPATH, or install {package} again")
        return InputError(fact, f"look at {place}")
    if not isinstance(error, OSError):
        return error
    if error.errno == errno.EBADF:  # such as `1< FILE`, which opens the output for reading
        return SaveError("the output is not open for writing", "look at the redirections")
    if NO_TEMPORARY_FOLDER in str(error):  # a message of the module tempfile
        return SaveError("no folder for temporary files can be written", "name one in TMPDIR")
    if error.errno in FULL:
        return SaveError(f"cannot write: {error.strerror}", FULL[error.errno])
    if error.errno in UNREACHABLE and error.filename:
        reason = os.strerror(error.errno).lower()
        return InputError(reason, "check the path and its permissions", file=error.filename)
    return error


def find_broken_package(error: BaseException) -> str:
    """Return the name of the package other than ours whose import raised `error`, or ""."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame in frames
        if frame.f_code.co_name == "<module>"
    ]
    return next((name for name in names if name not in ("transduce", "__main__")), "")


def _describe_usage_error(error: click.ClickException) -> tuple[str, str]:
    """Return (what is wrong in a command's call, a hint such as the most similar option)."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and context is not None:
        return f"unknown option {error.option_name}", _suggest_option(error.option_name, context)
    fact = " ".join(error.format_message().split()).rstrip(".")  # choices are on lines of their own
    kinds = {"integer": "is no whole number", "float": "is no number"}
    fact = NOT_A_NUMBER.sub(lambda found: kinds[found[1]], fact[:1].lower() + fact[1:])
    fact = LONG_VALUE.sub(lambda found: shorten(found[0], 60), fact)
    param_type = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    if isinstance(param_type, click.Choice) and (given := NOT_ONE_OF.match(error.message)):
        known = [str(one) for one in param_type.choices]
        return fact.partition(" is not one of ")[0], suggest_names(given[1], known)
    is_count_wrong = isinstance(error, click.MissingParameter) or fact.startswith(TOO_MANY)
    if is_count_wrong and context is not None:
        return fact, f"usage: {_format_usage(context)}; --help lists the options"
    page = "the command's --help" if context is None else f"`{context.command_path} --help`"
    return fact, f"{page} says how it is used"


def _suggest_option(unknown: str, context: click.Context) -> str:
    """Return a hint on what an unknown option of a command may mean."""
    options = [name for p in context.command.get_params(context) for name in p.opts]
    known = [name for name in options if name.startswith("-")]
    is_like_none = not get_close_matches(unknown, known)
    hint = suggest_names(unknown, known)
    if is_like_none and len(known) > MOST_OPTIONS:
        hint = f"`{context.command_path} --help` lists the options"
    if others := _list_commands_with(unknown, context):
        hint = f"`transduce {others[0]}` has it"
    if "--set" in known and (setting := _find_setting(unknown)):
        hint = f"--set {setting}=VALUE"
    elif "--set" in known and is_like_none:
        hint = f"--set NAME=VALUE changes a setting; {hint}"
    if not unknown.startswith("--"):  # it may come from a file's name, such as -a.txt
        hint = f"{hint}; a name that begins with - comes after --"
    return hint


def _find_setting(option: str) -> str:
    """Return the setting of training that an unknown option such as --steps may mean, or ""."""
    from transduce.settings.recipe import BASE

    paths = (path for path in BASE.flat_settings() if not path.startswith("search."))
    name = option.lstrip("-").replace("-", "_")
    return next((path for path in paths if path.partition(".")[2] == name), "")


def _list_commands_with(option: str, context: click.Context) -> list[str]:
    """Return the names of the commands that have an option, if they are one or two."""
    group, found = context.find_root().command, list[str]()
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command and any(option in one.opts for one in command.get_params(context)):
                found.append(name)
    return found if len(found) <= MOST_COMMANDS else []


def _format_usage(context: click.Context) -> str:
    """Return a command's usage with its required options and `-o`, if it has them."""
    options = [one for one in context.command.get_params(context) if isinstance(one, click.Option)]
    required = [_format_option(one, context) for one in options if one.required]
    optional = [
        f"[{_format_option(one, context)}]"
        for one in options
        if "-o" in one.opts and not one.required
    ]
    pieces = context.command.collect_usage_pieces(context)
    return " ".join([context.command_path, *pieces, *required, *optional])


def _format_option(option: click.Option, context: click.Context) -> str:
    """Return an option's shortest name and its value's name or choices, such as -o OUTPUT."""
    has_form = option.metavar is not None or isinstance(option.type, click.Choice)
    value = option.make_metavar(context) if has_form else (option.name or "").upper()
    return f"{min(option.opts, key=len)} {value}"
