"""What is kept on disk is whole or absent, and damage is noticed when it is read."""

from transduce.durable.checksummed_json import seal, unseal
from transduce.durable.files import ensure_folder, sync_folder, whole_file, write_whole
from transduce.durable.folder import FolderWriter, remove_folder, whole_folder
from transduce.durable.lock import hold
from transduce.durable.strict_json import read_json, to_json
from transduce.durable.verified import Verified, names_in, open_folder, read_regular

__all__ = [
    "FolderWriter",
    "Verified",
    "ensure_folder",
    "hold",
    "names_in",
    "open_folder",
    "read_json",
    "read_regular",
    "remove_folder",
    "seal",
    "sync_folder",
    "to_json",
    "unseal",
    "whole_file",
    "whole_folder",
    "write_whole",
]
