"""The command `transduce`; each of its subcommands is imported only when it is called."""

import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import NoReturn

import click

from transduce.cli import display
from transduce.cli.outcome import Commands, run
from transduce.cli.signals import ENDS, SignalsDeferred, list_ending_signals
from transduce.errors import InputError
from transduce.machine.process_settings import set_environment_of_torch

TRAINING_COMMANDS = ("demo", "train", "sweep", "distil", "reproduce")
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "demo": "Train a small translator from English to German, and show how good it is.",
        "fetch": "Download public corpora and test sets into a cache for the other commands.",
        "clean": "Find bad pairs of a parallel text by rules, and write the others.",
        "prepare": "Clean a parallel text, learn its vocabulary, and store it for training.",
        "train": "Train a model by RECIPE, or by one chosen to fit the text and the machine.",
        "sweep": "Train RECIPE, or one made for the text, with every combination of some settings.",
        "distil": "Translate text by TEACHER, and train a small student on the good pairs.",
        "curves": "Draw the training curves of RUNS as a page, live or a file, a picture or CSV.",
        "average": "Average the last snapshots of RUN into a model folder (section 6.1).",
        "translate": "Translate INPUT, or standard input, line by line, with MODEL.",
        "merge": "Join the shards in FOLDER, which `translate --shard` wrote, into one output.",
        "parse": "Parse the sentences of INPUT with MODEL into constituency trees (section 6.3).",
        "tag": "Label every token of the sentences of INPUT with MODEL.",
        "align": "Align the words of SOURCE and TARGET by the attention of MODEL, line by line.",
        "likelihood": "Compute the probability of each line of TARGET, given SOURCE, by MODEL.",
        "evaluate": "Translate SOURCE with MODEL and score the result against REFERENCE.",
        "score": "Score translations, trees, labels or word alignments.",
        "attend": "Show what each head of MODEL attends to in TEXT and its output: an HTML page.",
        "explain": "Write a page in which MODEL runs: type a sentence, and follow every step.",
        "read": "Write the paper's code as a page, with prose, tests and a tiny model's values "
        "beside it.",
        "serve": "Translate over HTTP with MODELS, one for each pair of languages, until Ctrl-C.",
        "export": "Write MODEL as files that another program loads, and compare the outputs.",
        "import": "Convert a Marian checkpoint of Hugging Face (the OPUS-MT family) to a model.",
        "reproduce": "Measure a table or claims of the paper, and print them beside the paper's.",
        "recipes": "List, show and compare recipes, with the paper's value of each setting.",
        "draw": "Draw a figure or a formula of the paper with the numbers of a RECIPE as SVG.",
        "verify": "Check every byte of a run, store or model folder.",
    }
)


class LazyCommands(Commands):
    """The group of all commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"transduce.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands in `--help` without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="transduce", message="%(prog)s %(version)s")
@click.pass_context
def transduce(context: click.Context) -> None:
    """Attention Is All You Need, as software: from two text files to a translation system.

    Results go to standard output, all else to standard error. Exit codes: 0 done, 1 a fault of
    transduce, 2 wrong usage or unusable input, 3 a damaged or foreign folder, 4 an output cannot be
    written, 5 numbers that are not finite (training diverged, or a model's weights overflow), 6
    folder in use, 7 lost a process, 8 not enough memory, 129 terminal closed, 130 interrupted, 141
    output pipe closed, 143 terminated, 152 processor time spent.
    """
    try:
        Path.cwd()
    except FileNotFoundError as error:  # torch's libraries would end the process
        fact = "the folder that this terminal or program is in was deleted"
        raise InputError(fact, "change to a folder that exists: cd ~") from error
    # torch is imported only later, when a command is called
    set_environment_of_torch(training=context.invoked_subcommand in TRAINING_COMMANDS)
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


def main() -> NoReturn:
    """Run the command line of this process, then exit with the command's exit code."""
    display.replace_closed_streams()
    display.use_blocking_streams()
    display.ignore_absurd_terminal_sizes()
    # Write UTF-8 in every locale, and on standard output also file names that are not UTF-8.
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
    sys.unraisablehook = repeat_swallowed_signal
    sys.meta_path.insert(0, SignalsDeferred())
    for number in list_ending_signals():
        if number != signal.SIGINT:
            signal.signal(number, terminate)
        elif signal.getsignal(number) != signal.SIG_IGN:  # ignored in a shell's background
            signal.signal(number, signal.default_int_handler)
    code = run(transduce, sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)  # do not interrupt Python's shutdown
    # If Ctrl-C interrupted an `exec`, such as that of a dataclass, `python -m` ends by SIGINT and
    # not with the exit code, unless a later `exec` ends well.
    exec("")
    if "RANK" in os.environ:  # this is one of several processes
        # All output is written. A thread of torch.distributed may still need the interpreter to
        # release a tensor; shutting the interpreter down meanwhile has caused SIGABRT.
        os._exit(code)
    sys.exit(code)


def repeat_swallowed_signal(found: "sys.UnraisableHookArgs") -> None:
    """Deliver an ending signal again if C code swallowed its error; print other swallowed errors.

    The callback of a compiler or the finaliser of an object may swallow it.
    """
    kinds = [number for number, kind in ENDS.items() if kind is found.exc_type]
    if not kinds:
        sys.__unraisablehook__(found)
        return
    if signal.getsignal(kinds[0]) == signal.SIG_IGN:  # as after the first SIGXCPU
        signal.signal(kinds[0], terminate)
    again = threading.Timer(0.01, os.kill, (os.getpid(), kinds[0]))  # after this hook
    again.daemon = True
    again.start()


def terminate(number: int, _frame: FrameType | None) -> NoReturn:
    """Raise the error of a signal in `ENDS`, so that locks and temporary files are removed."""
    if number == signal.SIGXCPU:
        signal.signal(number, signal.SIG_IGN)  # the system repeats it every second
    if number == signal.SIGHUP:
        display.detach_from_terminal()
    raise ENDS[number]
