"""`transduce` in a process of its own that begins where its imports end: they take most of a start.

Each is forked from a server that has imported what commands need, and nothing of pytest. How a
command is found, loads and is interrupted meanwhile is for those tests that start Python itself.
"""

import contextlib
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

PRELOADED = (  # a name that cannot be imported is ignored without a word
    *(f"transduce.cli.{name}" for name in ("train", "average", "translate", "likelihood")),
    *(f"transduce.runs.{name}" for name in ("training_run", "average", "prepare")),
    *(f"transduce.inference.{name}" for name in ("load", "translator", "lines", "pairs")),
    "transduce.training.distributed.torch_group",
    "transduce.training.distributed.launcher",
    "tests.training.distributed.processes",
)
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(list(PRELOADED))
TYPED = ("-m", "transduce")
STREAMS = {"stdin": "wb", "stdout": "rb", "stderr": "rb"}  # and how we open them
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class Forked:
    """As much of subprocess.Popen as tests need."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        preexec_fn: Callable[[], object] | None = None,
        **streams: Any,
    ) -> None:
        both = [ends(streams[name], mode) for name, mode in STREAMS.items()]
        self.stdin, self.stdout, self.stderr = (ours for ours, _ in both)
        theirs = [number for _, number in both]
        given = (arguments, cwd, dict(env), preexec_fn)
        self.process = SERVER.Process(target=command, args=(Streams(theirs), *given))
        self.process.start()
        for number in theirs:
            os.close(number)
        assert self.process.pid is not None
        self.pid = self.process.pid

    @property
    def returncode(self) -> Any:
        """As it ended, if it has: minus the signal that killed it."""
        return self.process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("transduce", timeout or 0)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """With SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(
        self, stdin: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes | None, bytes | None]:
        """Say this and no more, hear all, and wait for its end."""
        with ThreadPoolExecutor(3) as pool:
            pool.submit(fed, self.stdin, stdin)
            outputs = [pool.submit(rest, one) for one in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        return outputs[0].result(), outputs[1].result()

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        if fault:
            self.kill()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()


def ends(stream: Any, mode: str) -> tuple[IO[bytes] | None, int]:
    """Ours, if it is a pipe, and a descriptor of theirs."""
    if stream != subprocess.PIPE:
        return None, os.dup(stream.fileno())
    reads, writes = os.pipe()
    own, their = (writes, reads) if mode == "wb" else (reads, writes)
    return os.fdopen(own, mode), their


def fed(stream: IO[bytes] | None, text: bytes | None) -> None:
    """All of a text into a pipe, which is then closed."""
    if stream is not None and not stream.closed:
        with contextlib.suppress(BrokenPipeError):
            stream.write(text or b"")
            stream.close()


def rest(stream: IO[bytes] | None) -> bytes | None:
    """All that comes until a pipe ends."""
    if stream is None or stream.closed:
        return None
    with stream:
        return stream.read()


class Streams:
    """Three open files on their way to another process."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __reduce__(self) -> tuple[object, ...]:
        return arrived, tuple(DupFd(number) for number in self.numbers)


def arrived(*sent: Any) -> list[int]:
    """Beyond the first three, which they are to replace."""
    here = [one.detach() for one in sent]
    beyond = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in here]
    for number in here:
        os.close(number)
    return beyond


def command(
    streams: Sequence[int],
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    before: Callable[[], object] | None,
) -> None:
    """Be `python -m transduce` with these arguments."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", 1)  # by the line, as Python has it
    os.chdir(folder)
    if before is not None:
        before()
    sys.orig_argv = [sys.executable, *TYPED, *arguments]
    sys.argv = ["transduce", *arguments]
    from transduce.training.distributed import launcher

    launcher.subprocess = types.SimpleNamespace(Popen=Again)  # type: ignore[assignment, attr-defined]
    begin(environment)


def begin(environment: Mapping[str, str]) -> None:
    """Run the command, in this environment."""
    import torch

    from transduce.cli.main import main

    os.environ.clear()
    os.environ.update(environment)
    torch.set_num_threads(int(environment["OMP_NUM_THREADS"]))
    main()


class Again(subprocess.Popen[bytes]):
    """This command once more in another environment: forked, where Popen would start Python."""

    def __init__(self, typed: Sequence[str], *, env: Mapping[str, str], **options: Any) -> None:
        super().__init__(typed, preexec_fn=lambda: again(env), **options)


def again(environment: Mapping[str, str]) -> None:
    """In the child of a fork, which need not become another program any more."""
    try:
        os.closerange(3, 256)  # one of them says that the other program has begun
        for number in filter(is_handled, NUMBERS):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        begin(environment)
    finally:
        os._exit(99)


def is_handled(number: int) -> bool:
    """Whether this process does something of its own about a signal."""
    return callable(signal.getsignal(number))
