"""`transduce verify`: check that every byte of a folder is as it was written."""

from pathlib import Path

from transduce.cli import display, options
from transduce.cli.options import argument
from transduce.durable.folder import PERMISSION
from transduce.errors import FolderError

HINT = "a run resumes from its newest good checkpoint; copy or make any other folder anew"


@options.make_command("verify")
def command(
    *,
    folder: Path = argument(),
    as_json: bool = options.as_json,
) -> None:
    """Check every byte of a run, store or model folder.

    FOLDER may also be one checkpoint of a run. Each part is listed as good or bad, with the reason.
    The exit code is 3 if a part is bad. A run's log.jsonl and epochs.json are not covered:
    no result depends on them.
    """
    from transduce.runs.verify import list_uncovered, verify_parts

    parts = []
    for part in verify_parts(folder):
        parts.append(part)
        values = {"part": str(part.path), "good": part.is_good, "reason": part.reason}
        line = f"good  {part.path}" if part.is_good else f"bad   {part.reason}"
        display.print_found(values, [display.escape_controls(line)], as_json=as_json)
    for path in list_uncovered(folder):
        display.print_message(f"not covered: {display.escape_controls(str(path))}")
    bad = [part for part in parts if not part.is_good]
    damaged = [part for part in bad if part.may_read]
    share = f"{len(damaged or bad)} of {len(parts)} parts " if len(parts) > 1 else ""
    if damaged:
        is_one = len(damaged) == 1
        raise FolderError(f"{share}{'is' if is_one else 'are'} damaged", HINT, file=folder)
    if bad:
        raise FolderError(f"{share}cannot be read", PERMISSION, file=folder)
