"""A disk that is cut from power: what was not synced may be there, or in part, or not at all.

The model is that of files and entries. A file's bytes last when the file was synced; a name in a
folder lasts when the folder was synced. Until then each write and each change of a name stays or
goes on its own, in any combination: a file may have its size and zeros for its bytes, a folder its
name and not its files. A rename is one change of its folder, and is there wholly or not at all; to
another folder it is a change of each, so that both names may be there, or neither.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from tests.faults.calls import Call

Image = Union[bytes, "tuple[tuple[str, Image], ...]"]  # what is found when the power is back
LUCK = (0.0, 0.1, 0.5, 0.9, 1.0)  # how much of what was not synced is on the disk all the same


@dataclass(eq=False)
class File:
    """Bytes that last, and writes that may not."""

    lasting: bytes = b""
    written: list[bytes] = field(default_factory=list)

    def sync(self) -> None:
        self.lasting, self.written = b"".join([self.lasting, *self.written]), []

    def image(self, draws: random.Random, luck: float) -> Image:
        """Each write whole, or torn, or as zeros; or nothing of it and what follows."""
        data = self.lasting
        for one in self.written:
            if draws.random() >= luck:
                if draws.random() < 0.5:
                    return data
                kept = draws.randrange(len(one) + 1) if draws.random() < 0.5 else 0
                one = one[:kept] + bytes(len(one) - kept)
            data += one
        return data


@dataclass(eq=False)
class Folder:
    """Names that last, names as they are, and the changes between."""

    lasting: "dict[str, File | Folder]" = field(default_factory=dict)
    names: "dict[str, File | Folder]" = field(default_factory=dict)
    changes: "list[tuple[str, str, File | Folder | None]]" = field(default_factory=list)

    def change(self, gone: str, come: str, what: "File | Folder | None") -> None:
        """One name goes, or one comes, or both at once."""
        self.changes.append((gone, come, what))
        changed(self.names, gone, come, what)

    def sync(self) -> None:
        self.lasting, self.changes = dict(self.names), []

    def image(self, draws: random.Random, luck: float) -> Image:
        """Some of the changes, in their order."""
        names = dict(self.lasting)
        for one in self.changes:
            if draws.random() < luck:
                changed(names, *one)
        return tuple((name, names[name].image(draws, luck)) for name in sorted(names))


def changed(
    names: dict[str, File | Folder], gone: str, come: str, what: File | Folder | None
) -> None:
    """Carry out one change of names."""
    names.pop(gone, None)
    if what is not None:
        names[come] = what


class Disk:
    """An empty folder at first, and all that is then asked of it."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self.root = Folder()
        for call in calls:
            self.take(call)

    def find(self, path: Path) -> File | Folder:
        """What a program finds there now."""
        at: File | Folder = self.root
        for part in path.parts:
            assert isinstance(at, Folder)
            at = at.names[part]
        return at

    def take(self, call: Call) -> None:
        """Do what a program asked for."""
        if call.what == "sync":
            self.find(call.path).sync()
            return
        if call.what == "write":
            file = self.find(call.path)
            assert isinstance(file, File)
            file.written.append(call.data)
            return
        folder, name = self.find(call.path.parent), call.path.name
        assert isinstance(folder, Folder)
        if call.what == "rename":
            assert call.to is not None
            other, moved = self.find(call.to.parent), folder.names[name]
            assert isinstance(other, Folder)
            if other is folder:
                folder.change(name, call.to.name, moved)
            else:
                other.change("", call.to.name, moved)
                folder.change(name, "", None)
        elif call.what == "remove":
            folder.change(name, "", None)
        elif name not in folder.names:
            folder.change("", name, File() if call.what == "create" else Folder())

    def cut(self, draws: random.Random) -> Image:
        """What may be found after a power cut at this moment."""
        return self.root.image(draws, draws.choice(LUCK))


def put(image: Image, path: Path) -> None:
    """An image as real files and folders."""
    if isinstance(image, bytes):
        path.write_bytes(image)
        return
    path.mkdir(exist_ok=True)
    for name, inner in image:
        put(inner, path / name)
