"""Downloads that are whole or absent, each with a note of what it is and where it came from.

NAME         the file: its bytes were held against what is known of them before it got this name
NAME.json    its sha256 and its address; written before the file gets its name
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.datasets.partial import NOTE_LIMIT, Partial
from transduce.datasets.transfer import CHUNK, Network, RefusedError, Told, transfer
from transduce.datasets.values import Download
from transduce.durable import (
    ensure_folder,
    from_checksummed_json,
    read_regular,
    sync_folder,
    to_checksummed_json,
    write_atomically,
)
from transduce.durable.write_errors import raise_save_errors
from transduce.errors import FolderError, InputError, SaveError

NOT_YOURS = "it is another file of that name, or damaged: move it elsewhere, or take it anew"
ROOM_LEFT = 1 << 26  # bytes of a disk that are not filled


@final
@dataclass(frozen=True)
class Found:
    """A file whose bytes are those that were asked for."""

    path: Path
    sha256: str
    origin: str  # the address, or the path of a copy of the user's own


@final
@dataclass(frozen=True)
class Places:
    """Where files are looked for, from near to far."""

    folder: Path  # of downloads that stay
    copies: Path | None = None  # a folder of the user's own
    network: Network | None = None  # None: nobody is asked


def find(what: Download, places: Places, told: Told) -> Found:
    """The file, from wherever it is; where it is fetched, it stays."""
    copy = own_copy(what, places.copies)
    found = copy or kept_before(what, places.folder)
    if found:
        return found
    if places.network is None:
        raise InputError(f"{what.name} is not here")
    return fetched(what, places.folder, places.network, told)


def own_copy(what: Download, folder: Path | None) -> Found | None:
    """A file that the user has, held against what is known of it."""
    if folder is None or not (folder / what.name).exists():
        return None
    path = folder / what.name
    try:
        sha256 = verified(what, path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", NOT_YOURS, file=path) from error
    except RefusedError as error:
        raise InputError(str(error), NOT_YOURS, file=path) from None
    return Found(path, sha256, str(path))


def kept_before(what: Download, folder: Path) -> Found | None:
    """A download of an earlier time, if every byte is as it was."""
    path = folder / what.kept_as
    try:
        note = from_checksummed_json(read_regular(note_of(path), NOTE_LIMIT), path)
        sha256 = verified(what, path)
    except (FolderError, OSError, RefusedError):
        return None  # there is none, or a damaged one, which is fetched again
    return Found(path, sha256, str(note["address"])) if note["content"] == sha256 else None


def fetched(what: Download, folder: Path, network: Network, told: Told) -> Found:
    """From the first address that gives the right bytes."""
    ensure_folder(folder)
    path = folder / what.kept_as
    refused: dict[str, list[str]] = {}
    for address in what.addresses:
        try:
            sha256 = from_address(address, Partial(what, path), network, told)
        except RefusedError as error:
            refused.setdefault(str(error), []).append(address)
            continue
        write_atomically(
            note_of(path), to_checksummed_json({"address": address, "content": sha256})
        )
        with raise_save_errors(path):
            Partial(what, path).path.replace(path)
            sync_folder(folder)
        Partial(what, path).forget()
        return Found(path, sha256, address)
    raise InputError("; ".join(f"{', '.join(some)}: {why}" for why, some in refused.items()))


def from_address(address: str, part: Partial, network: Network, told: Told) -> str:
    """The sha256 of the whole file, whose bytes lie in the part by then."""
    require_room(part)
    begun = part.size
    transfer(address, part, network, told)
    try:
        return verified(part.what, part.path)
    except RefusedError:
        part.forget()
        if not begun:
            raise
    return from_address(address, part, network, told)  # perhaps it was begun from another file


def verified(what: Download, path: Path) -> str:
    """The sha256 of a file, if it is what was asked for as far as that is known."""
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    size = path.stat().st_size
    if what.size and size != what.size:
        raise RefusedError(f"has {size:,} bytes, not {what.size:,}")
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
            if what.md5:
                md5.update(chunk)
    for name, known, found in (("sha256", what.sha256, sha256), ("md5", what.md5, md5)):
        if known and known != found.hexdigest():
            raise RefusedError(
                f"is another file: expected {name} {known}, found {found.hexdigest()}"
            )
    return sha256.hexdigest()


def require_room(part: Partial) -> None:
    """Refuse before it begins what the disk cannot hold."""
    free = shutil.disk_usage(part.path.parent).free
    wanted = part.what.size - part.size
    if wanted > free - ROOM_LEFT:
        fact = f"has room for {free / 1e9:.1f} GB, and {part.what.name} needs {wanted / 1e9:.1f}"
        raise SaveError(fact, "free some space, or choose another place", file=part.path.parent)


def forget(path: Path) -> None:
    """Delete a download."""
    path.unlink(missing_ok=True)
    note_of(path).unlink(missing_ok=True)


def note_of(path: Path) -> Path:
    """Where it stands what a download is."""
    return path.with_name(path.name + ".json")
