"""`transduce.verify`: check that every byte of a run, store or model folder is as written."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from transduce.checkpoint.model_files import MODEL_KIND as MODEL
from transduce.checkpoint.model_files import is_model, verify_model_folder
from transduce.checkpoint.run_file import RUN_FILE, is_run, read_run, read_run_vocabularies
from transduce.checkpoint.steps import KIND_OF_FOLDER, list_steps, open_step, step_folder
from transduce.corpus.store import DATA, read_data_facts
from transduce.durable.files import require_folder
from transduce.durable.folder import MANIFEST, MANIFEST_LIMIT, open_folder, read_regular
from transduce.durable.json import read_json
from transduce.errors import FolderError
from transduce.runs.epoch_ends import EPOCHS
from transduce.runs.prepared_corpus import INPUTS_FILE, STORE, open_prepared
from transduce.text.arguments import read_path
from transduce.training.journal import LOG
from transduce.vocabulary.vocabulary import SOURCE, vocabulary_file_names

# a part's path, and a function that raises FolderError if the part is damaged
Check = tuple[Path, Callable[[], object]]


@final
@dataclass(frozen=True)
class VerifiedPart:
    """The verdict on a verified file or folder: good, or damaged for a stated reason."""

    path: Path
    is_good: bool
    reason: str = ""
    may_read: bool = True  # whether this user has the permission to read it


def verify(folder: Path | str) -> list[VerifiedPart]:
    """Verify a run, store, model or checkpoint byte by byte; return the verdict on each part.

        damaged = [part for part in transduce.verify("run") if not part.is_good]

    A damaged part raises no error; `VerifiedPart.reason` names the file that was changed. A folder
    of another kind raises FolderError. A run's log.jsonl has no checksum and is no part, nor is its
    epochs.json, without which a resume is only slower.
    """
    return list(verify_parts(read_path("folder", folder)))


def verify_parts(folder: Path) -> Iterator[VerifiedPart]:
    """Verify a folder's parts one after the other, and yield the verdict on each."""
    hint = (
        "name a run, a store or a model folder, or a checkpoint of a run; shards are verified by "
        "`transduce merge`, and a copy of a run when it is put back"
    )
    require_folder(folder, hint)
    has_sign = any(os.path.lexists(folder / name) for name in (INPUTS_FILE, MANIFEST))
    if not (has_sign or is_run(folder) or is_model(folder)):
        fact = f"is no run, store or model folder: it has neither {RUN_FILE} nor {MANIFEST}"
        raise FolderError(fact, hint, file=folder)
    for path, check in list(list_checks(folder)):
        try:
            check()
        except FolderError as error:
            if path.parent.name in KIND_OF_FOLDER and not os.path.lexists(path):
                continue  # the run's training deleted it meanwhile
            may_read = not isinstance(error.__cause__, PermissionError)
            yield VerifiedPart(path, is_good=False, reason=error.fact, may_read=may_read)
        else:
            yield VerifiedPart(path, is_good=True)


def list_checks(folder: Path) -> Iterator[Check]:
    """Yield (path, function to check it) for each part of a run, or once for any other folder."""
    if not is_run(folder):
        is_prepared = (folder / INPUTS_FILE).exists()
        yield folder, partial(open_prepared if is_prepared else verify_folder, folder)
        return
    yield folder / RUN_FILE, partial(read_run, folder)
    vocabulary, *_ = vocabulary_file_names(shared=not os.path.lexists(folder / SOURCE))
    yield folder / vocabulary, partial(read_run_vocabularies, folder)
    yield folder / DATA, partial(read_data_facts, folder)
    for name in KIND_OF_FOLDER:
        try:
            steps = list_steps(folder / name)
        except FolderError:
            yield folder / name, partial(list_steps, folder / name)
            continue
        for step in steps:
            yield step_folder(folder / name, step), partial(verify_step, folder / name, step)
    if (folder / STORE).is_dir():  # a run may use a corpus in another folder
        yield folder / STORE, partial(open_prepared, folder / STORE)


def list_uncovered(folder: Path) -> list[Path]:
    """Return the files of a run that are no part: its log.jsonl and epochs.json, if they exist."""
    files = (folder / LOG, folder / EPOCHS) if is_run(folder) else ()
    return [file for file in files if os.path.lexists(file)]


def verify_step(folder: Path, step: int) -> None:
    """Raise FolderError if the folder of a step, such as a checkpoint, is damaged."""
    open_step(folder, step).verify()


def verify_folder(folder: Path) -> None:
    """Raise FolderError unless all files of a folder with a manifest match their checksums."""
    kind = "run, store or model"
    manifest = folder / MANIFEST
    if manifest.exists():
        kind = str(read_json(read_regular(manifest, MANIFEST_LIMIT), manifest).get("kind"))
    if kind == MODEL:
        verify_model_folder(folder)
    else:
        open_folder(folder, kind).verify()
