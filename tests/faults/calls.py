"""What a program asked of the disk, as strace saw it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACED_CALLS = "mkdir,openat,write,pwrite64,fsync,fdatasync,rename,unlink,unlinkat,rmdir"
LINE = re.compile(r"(?P<name>\w+)\((?P<given>.*)\) += (?P<result>\d+)")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(?!\.\.\.)')
OPEN = re.compile(r"(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True)
class Call:
    """One change, or the wish that one lasts; paths are below the folder that is watched."""

    what: str  # mkdir, create, write, sync, rename, remove
    path: Path
    to: Path | None = None
    data: bytes = b""


def strace() -> str:
    """Where it is; without it a test is skipped."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not here")
    return found


def recorded(folder: Path, program: str, *arguments: object) -> list[Call]:
    """What a Python program changed below a folder, in its order."""
    log = folder.parent / "calls"
    watch = [
        strace(),
        "-y",
        "-xx",
        "-s",
        "10000000",
        "-e",
        "signal=none",
        "-e",
        f"trace={TRACED_CALLS}",
    ]
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(
        [*watch, "-o", log, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("strace may not watch here")
    assert done.returncode == 0, done.stderr
    lines = log.read_text(encoding="ascii").splitlines()
    calls = (call for line in lines for call in understood(line))
    return [below(folder, call) for call in calls if call.path.is_relative_to(folder)]


def understood(line: str) -> Iterator[Call]:
    """A line of strace that changes the disk; what failed changed nothing."""
    found = LINE.match(line)
    if not found:
        return
    name, given = found["name"], found["given"]
    texts = [plain(text) for text in TEXT.findall(given)]
    opened = [plain(text) for text in OPEN.findall(given)]
    if name in ("write", "pwrite64"):
        yield Call("write", path_of(opened[0]), data=texts[0][: int(found["result"])])
    elif name in ("fsync", "fdatasync"):
        yield Call("sync", path_of(opened[0]))
    elif name == "openat" and "O_CREAT" in given:
        yield Call("create", path_of(opened[0]) / path_of(texts[0]))
    elif name == "mkdir":
        yield Call("mkdir", path_of(texts[0]))
    elif name == "rename":
        yield Call("rename", path_of(texts[0]), to=path_of(texts[1]))
    elif name in ("unlink", "unlinkat", "rmdir"):
        yield Call("remove", path_of(opened[0] if opened else b"") / path_of(texts[0]))


def plain(text: str) -> bytes:
    """The bytes of what strace writes as \\x61\\x62."""
    return bytes.fromhex(text.replace("\\x", ""))


def path_of(name: bytes) -> Path:
    """A path from its bytes."""
    return Path(name.decode())


def below(folder: Path, call: Call) -> Call:
    """The same with paths that begin at the folder."""
    to = call.to.relative_to(folder) if call.to else None
    return Call(call.what, call.path.relative_to(folder), to, call.data)


def without(calls: Sequence[Call], dropped: Sequence[Call]) -> list[Call]:
    """A program that forgets some of its calls."""
    gone = {id(call) for call in dropped}
    return [call for call in calls if id(call) not in gone]
