"""Files and folders that are written completely or not at all, with checksums to detect damage."""

from transduce.durable.files import (
    atomic_file,
    ensure_folder,
    require_file_name,
    require_folder,
    resolve_output,
    sync_folder,
    write_atomically,
)
from transduce.durable.folder import (
    FolderWriter,
    HashingReader,
    VerifiedFolder,
    atomic_folder,
    has_manifest,
    list_names,
    open_folder,
    read_regular,
    remove_folder,
    require_replaceable,
)
from transduce.durable.json import (
    from_checksummed_json,
    parse_json,
    read_json,
    to_checksummed_json,
    to_json,
)

__all__ = [
    "FolderWriter",
    "HashingReader",
    "VerifiedFolder",
    "atomic_file",
    "atomic_folder",
    "ensure_folder",
    "from_checksummed_json",
    "has_manifest",
    "list_names",
    "open_folder",
    "parse_json",
    "read_json",
    "read_regular",
    "remove_folder",
    "require_file_name",
    "require_folder",
    "require_replaceable",
    "resolve_output",
    "sync_folder",
    "to_checksummed_json",
    "to_json",
    "write_atomically",
]
