"""Downloads whose sizes and checksums are verified, each with a JSON file beside it (its note).

NAME         the file; it is renamed to NAME after its size and known checksums were checked
NAME.json    the note: the file's sha256 and address; written before the file is renamed
"""

import hashlib
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.datasets.transfer import (
    CHUNK,
    NOTE_LIMIT,
    DownloadProgress,
    NetworkSettings,
    PartialDownload,
    RefusedError,
    transfer,
)
from transduce.datasets.values import Download, WrongFileError
from transduce.durable.files import (
    ensure_folder,
    raise_save_errors,
    require_disk_space,
    sync_folder,
    write_atomically,
)
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, InputError

WRONG_FILE_HINT = "it is another file of that name, or damaged: move it elsewhere, or take it anew"
RESERVED_BYTES = 1 << 26  # free bytes that a download leaves on the disk


@final
@dataclass(frozen=True)
class VerifiedFile:
    """A file on disk whose size and known checksums were checked, with its sha256 and origin."""

    path: Path
    sha256: str
    origin: str  # the address of a download, or the path of the user's own copy


@final
@dataclass(frozen=True)
class DownloadSettings:
    """Where files may come from: the folder of downloads, the user's own copies, the network."""

    folder: Path  # where downloads are stored
    copies: Path | None = None  # a folder of the user's own copies
    network: NetworkSettings | None = None  # None: nothing is downloaded


def find_file(
    what: Download,
    settings: DownloadSettings,
    progress: DownloadProgress,
    unwanted_addresses: Container[str] = (),
) -> VerifiedFile:
    """Return the user's copy or a download of a file, verified; InputError if neither can be had.

    It does not download from `unwanted_addresses`.
    """
    copy = find_user_copy(what, settings.copies)
    found = copy or find_earlier_download(what, settings.folder)
    if found:
        return found
    if settings.network is None:
        raise InputError(f"{what.name} is not here")
    addresses = [address for address in what.addresses if address not in unwanted_addresses]
    return download_file(what, addresses, settings.folder, settings.network, progress)


def find_user_copy(what: Download, folder: Path | None) -> VerifiedFile | None:
    """Return the user's copy of a file, None if there is none; WrongFileError if it is wrong.

    It has the file's usual name, or the one that it has among earlier downloads.
    """
    names = () if folder is None else (folder / what.cache_name, folder / what.name)
    path = next(filter(Path.exists, names), None)
    if path is None:
        return None
    try:
        sha256 = verify_file(what, path)
    except OSError as error:
        fact = f"cannot be read: {error.strerror}"
        raise WrongFileError(fact, WRONG_FILE_HINT, file=path) from error
    except RefusedError as error:
        raise WrongFileError(str(error), WRONG_FILE_HINT, file=path) from None
    return VerifiedFile(path, sha256, str(path))


def find_earlier_download(what: Download, folder: Path) -> VerifiedFile | None:
    """Return a file's earlier download; None if there is none, or if its bytes have changed."""
    path = folder / what.cache_name
    try:
        note = from_checksummed_json(read_regular(note_path(path), NOTE_LIMIT), path)
        sha256 = verify_file(what, path)
    except (FolderError, OSError, RefusedError):
        return None  # not downloaded yet, or damaged and to be downloaded again
    if note.get("content") != sha256:
        return None
    return VerifiedFile(path, sha256, str(note.get("address")))


def download_file(
    what: Download,
    addresses: Iterable[str],
    folder: Path,
    network: NetworkSettings,
    progress: DownloadProgress,
) -> VerifiedFile:
    """Download a file from the first address that gives the expected bytes; InputError if none."""
    ensure_folder(folder)
    path = folder / what.cache_name
    refused: dict[str, list[str]] = {}
    for address in addresses:
        try:
            sha256 = download_from(address, PartialDownload(what, path), network, progress)
        except RefusedError as error:
            refused.setdefault(str(error), []).append(address)
            continue
        write_atomically(
            note_path(path), to_checksummed_json({"address": address, "content": sha256})
        )
        with raise_save_errors(path):
            PartialDownload(what, path).path.replace(path)
            sync_folder(folder)
        PartialDownload(what, path).delete()
        return VerifiedFile(path, sha256, address)
    raise InputError("; ".join(f"{', '.join(some)}: {why}" for why, some in refused.items()))


def download_from(
    address: str, part: PartialDownload, network: NetworkSettings, progress: DownloadProgress
) -> str:
    """Download or resume `part` from an address; return its sha256; RefusedError if that fails."""
    already, hint = part.size, "free some space, or choose another place"
    missing = part.what.size - already
    require_disk_space(part.path.parent, missing + RESERVED_BYTES, part.path, hint)
    transfer(address, part, network, progress)
    try:
        return verify_file(part.what, part.path)
    except RefusedError:
        part.delete()
        if not already:
            raise
    # start again from the first byte, because the deleted bytes may have been of another file
    return download_from(address, part, network, progress)


def verify_file(what: Download, path: Path) -> str:
    """Return a file's sha256; RefusedError if it is empty, or its size or checksum is wrong."""
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    size = path.stat().st_size
    if not size:
        raise RefusedError("is empty")
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


def delete_download(path: Path) -> None:
    """Delete a downloaded file and the JSON note beside it."""
    path.unlink(missing_ok=True)
    note_path(path).unlink(missing_ok=True)


def note_path(path: Path) -> Path:
    """Return the path of a download's note, the JSON file with its sha256 and address."""
    return path.with_name(path.name + ".json")
