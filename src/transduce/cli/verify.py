"""transduce verify: is every byte of a folder as it was written?"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.durable import open_folder, read_json, read_regular
from transduce.durable.folder import MANIFEST
from transduce.durable.verified import MANIFEST_LIMIT
from transduce.errors import FolderError
from transduce.settings.fields import require

HINT = "a run goes on from its newest good save; take any other folder from its source again"
Part = tuple[Path, Callable[[], object]]  # what is verified, and the way to do it


@click.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
@options.as_json
def command(*, folder: Path, as_json: bool) -> None:
    """Check every byte of a run, store or model folder.

    FOLDER may also be one save of a run. Each part is listed as good or bad, with the reason. The
    exit code is 3 if one is bad.
    """
    require(folder.exists(), f"{folder}: no such folder", "name a run, a store or a model folder")
    bad = 0
    parts = list(_parts(folder))
    for path, check in parts:
        reason = _reason(check)
        bad += reason is not None
        if as_json:
            said = {"part": str(path), "good": reason is None, "reason": reason or ""}
            display.result(json.dumps(said, ensure_ascii=False))
        else:
            display.result(display.visible(f"bad   {reason}" if reason else f"good  {path}"))
    if bad:
        raise FolderError(f"{bad} of {len(parts)} parts are damaged", HINT, file=folder)


def _reason(check: Callable[[], object]) -> str | None:
    """Why a part cannot be used, if so."""
    try:
        check()
    except FolderError as error:
        return error.fact
    return None


def _parts(folder: Path) -> Iterator[Part]:
    """A run has many parts, every other folder is one."""
    from transduce.checkpoint import is_run
    from transduce.runs.prepared_corpus import INTENT, open_prepared

    if is_run(folder):
        yield from _parts_of_run(folder)
    elif (folder / INTENT).exists():
        yield folder, partial(open_prepared, folder)
    else:
        yield folder, partial(_check_folder, folder)


def _parts_of_run(folder: Path) -> Iterator[Part]:
    """What it was begun with, its saves and snapshots, its corpus."""
    from transduce.checkpoint import read_run
    from transduce.checkpoint.run_file import RUN_FILE
    from transduce.checkpoint.steps import KINDS, list_steps, step_folder
    from transduce.runs.average import read_data_facts
    from transduce.runs.prepared_corpus import STORE, open_prepared
    from transduce.runs.run_folder import DATA, read_run_vocabularies

    yield folder / RUN_FILE, partial(read_run, folder)
    yield folder / "vocabulary.json", partial(read_run_vocabularies, folder)
    yield folder / DATA, partial(read_data_facts, folder)
    for name in KINDS:
        for step in list_steps(folder / name):
            path = step_folder(folder / name, step)
            yield path, partial(_check_step, folder / name, step)
    if (folder / STORE).is_dir():  # a run may use a corpus that lies elsewhere
        yield folder / STORE, partial(open_prepared, folder / STORE)


def _check_step(place: Path, step: int) -> None:
    """Verify a save or a snapshot, and that it is this run's."""
    from transduce.checkpoint.steps import open_step

    open_step(place, step).verify()


def _check_folder(folder: Path) -> None:
    """Verify a folder of whatever kind it says that it is."""
    kind = "run, store or model"
    manifest = folder / MANIFEST
    if manifest.exists():
        kind = str(read_json(read_regular(manifest, MANIFEST_LIMIT), manifest).get("kind"))
    open_folder(folder, kind).verify()
