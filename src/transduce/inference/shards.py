"""Shards: parts of a text that are translated separately, on any machines, and then merged

Shard i of n has the lines from block ⌊(i - 1) B / n⌋ to just before block ⌊i B / n⌋ of the text's B
blocks. The lines of a block are searched together, so that no output depends on the number of
shards. On a GPU more lines are searched together, so this holds only in float32. A shard is a
folder whose manifest names the text, the models and all options, so that a merge can refuse shards
that do not belong together.
"""

import codecs
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, final

from transduce.durable.folder import VerifiedFolder, atomic_folder, open_folder
from transduce.errors import FolderError, InputError, another, short_repr
from transduce.inference.translator import WORKER_BLOCK, Translator
from transduce.settings.fields import require
from transduce.text.files import is_file, read_byte_lines

KIND, OUTPUT = "shard", "output.txt"
NAME = re.compile(r"shard-([1-9][0-9]{0,5})-of-([1-9][0-9]{0,5})")
MOST = 100_000  # shards of a text
TASK, COUNT, FIRST, STEP = (f"SLURM_ARRAY_TASK_{name}" for name in ("ID", "COUNT", "MIN", "STEP"))
COPIED = 1 << 20  # bytes that a merge copies at once
AGAIN = "choose another folder; or delete this one, and repeat what wrote it"


@final
@dataclass(frozen=True, order=True)
class Shard:
    """Shard `number`, from 1, of `count` shards of a text."""

    count: int
    number: int

    @property
    def name(self) -> str:
        """The name of the shard's folder, such as shard-2-of-8."""
        return f"shard-{self.number}-of-{self.count}"

    def find_lines(self, total: int) -> range:
        """Return the indices of the shard's lines in a text of `total` lines."""
        blocks = -(-total // WORKER_BLOCK)
        first, end = (blocks * part // self.count for part in (self.number - 1, self.number))
        return range(first * WORKER_BLOCK, min(end * WORKER_BLOCK, total))


def parse_shard(text: str, environment: Mapping[str, str]) -> Shard:
    """Parse a shard such as 2/8; for "slurm", take it from the Slurm array in `environment`."""
    if text == "slurm":
        found = {FIRST: "1", STEP: "1"} | dict(environment)
        task, count, first, step = (found.get(name, "") for name in (TASK, COUNT, FIRST, STEP))
        require(
            all(re.fullmatch("[0-9]{1,9}", value) for value in (task, count, first, step))
            and int(step) > 0,
            f"--shard slurm needs {TASK} and {COUNT}, which Slurm sets in an array",
            "sbatch --array=1-8 job.sh, or give the shard: --shard 2/8",
        )
        text = f"{(int(task) - int(first)) // int(step) + 1}/{count}"
    parts = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    shard = Shard(int(parts[2]), int(parts[1])) if parts else Shard(0, 0)
    require(
        1 <= shard.number <= shard.count <= MOST,
        f"--shard {short_repr(text)} is no shard",
        f"--shard 2/8 is the second of eight; at most {MOST:,}",
    )
    return shard


@final
@dataclass(frozen=True)
class ShardText:
    """A shard of a text file, with the number of lines and the hash of the whole text."""

    shard: Shard
    path: Path
    total: int  # lines of the whole text
    sha256: str  # of the whole text, unpacked

    @property
    def lines(self) -> range:
        """The indices of the shard's lines in the text."""
        return self.shard.find_lines(self.total)

    def cut(self, lines: Iterator[str]) -> Iterator[str]:
        """Return the shard's lines from all lines of the text, or of a text parallel to it."""
        return islice(lines, self.lines.start, self.lines.stop)

    def describe(self, how: Mapping[str, Any]) -> dict[str, Any]:
        """Return manifest data: shard number and count, text line count and hash, and `how`."""
        place = {"number": self.shard.number, "of": self.shard.count}
        return place | {"text": {"lines": self.total, "sha256": self.sha256}, "how": dict(how)}


def find_shard_text(path: Path, shard: Shard) -> ShardText:
    """Count and hash the lines of a text file; return its shard; InputError if it is no file."""
    if not is_file(path):
        fact = "a shard is a part of a text file, whose lines are counted first"
        raise InputError(fact, "write the text to a file", file=path)
    return ShardText(shard, path, *measure_text(path))


def measure_text(path: Path) -> tuple[int, str]:
    """Return the number of lines of a text file, and the sha256 of its unpacked bytes."""
    digest, total = hashlib.sha256(), 0
    for line in read_byte_lines(path):
        digest.update(line)
        total += 1
    return total, digest.hexdigest()


def describe_translator(translator: Translator) -> dict[str, Any]:
    """Return all that a translator's outputs depend on: models, search, other settings."""
    search, sampling = translator.recipe.search, translator.sampling_settings
    return {
        "models": list(translator.hashes),
        "precision": translator.precision,
        "search": asdict(search) | ({} if sampling is None else asdict(sampling)),
        "longest": translator.recipe.data.max_length,
        "align": str(translator.aligner.find_heads()) if translator.aligns else None,
        "keep": translator.keep,
        "strict": translator.strict,
    }


def is_written(path: Path, text: ShardText, how: Mapping[str, Any]) -> bool:
    """Return whether a shard exists; refuse a folder of another text or of other options.

    `how` has the models and options. A damaged folder is refused, too, and so is a new shard beside
    one with which it could not be merged.
    """
    if not path.exists():
        require_matching_neighbour(path, text, how)
        return False
    found = open_folder(path, KIND)
    require_own_name(text.shard, found)
    if name := find_difference(text.describe(how), found.about):
        raise InputError(f"is there already, of {another(name)}", AGAIN, file=path)
    found.verify()
    return True


def require_matching_neighbour(path: Path, text: ShardText, how: Mapping[str, Any]) -> None:
    """Raise InputError if the first shard beside `path` has another count, text or options."""
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    first = next((one for one in beside if NAME.fullmatch(one.name)), None)
    if first is None:
        return
    known, hint = open_folder(first, KIND).about, "choose another folder, or move that shard away"
    if known.get("of") != text.shard.count:
        fact = f"has shards of {known.get('of')}, and this one is of {text.shard.count}"
        raise InputError(fact, hint, file=path.parent)
    if name := find_difference(text.describe(how), known):
        raise InputError(f"has {first.name}, of {another(name)}", hint, file=path.parent)


@contextmanager
def create_shard(path: Path, text: ShardText, how: Mapping[str, Any]) -> Iterator[BinaryIO]:
    """Yield a stream for a new shard's output; its folder appears when the with block ends."""
    about = text.describe(how)
    with atomic_folder(path, kind=KIND, about=about) as writer, writer.open(OUTPUT) as stream:
        yield stream


def find_difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return where two shards' manifests differ first: "text", a key of "how", or "" if nowhere."""
    if ours["text"] != theirs.get("text"):
        return "text"
    others = theirs.get("how", {})
    return next((name for name, value in ours["how"].items() if others.get(name) != value), "")


def require_own_name(shard: Shard, found: VerifiedFolder) -> None:
    """Raise FolderError if a folder with the name of `shard` is another shard."""
    if (found.about.get("number"), found.about.get("of")) != (shard.number, shard.count):
        raise FolderError("was renamed: it is another shard", AGAIN, file=found.folder)


def find_shards(folder: Path) -> list[VerifiedFolder]:
    """Return a folder's shards, in order; refuse gaps, and shards of other texts or options."""
    named = {
        Shard(int(match[2]), int(match[1])): path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (match := NAME.fullmatch(path.name))
    }
    if not named:
        raise InputError(
            "holds no shards", "transduce translate --shard 1/8 -o FOLDER", file=folder
        )
    counts = sorted({shard.count for shard in named})
    if len(counts) > 1:
        fact = f"holds shards of {' and of '.join(map(str, counts))}"
        raise InputError(fact, "move those of one number elsewhere", file=folder)
    missing = [n for n in range(1, counts[0] + 1) if Shard(counts[0], n) not in named]
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
        fact = f"lacks {len(missing):,} of {counts[0]:,} shards: {shown}"
        raise InputError(fact, "translate them first", file=folder)
    found = [open_folder(path, KIND) for _, path in sorted(named.items())]
    for shard, one in zip(sorted(named), found, strict=True):
        require_own_name(shard, one)
        if name := find_difference(found[0].about, one.about):
            fact = f"has {another(name)} than {found[0].folder.name}"
            raise InputError(fact, AGAIN, file=one.folder)
    return found


def read_shards(shards: Sequence[VerifiedFolder]) -> Iterator[str]:
    """Yield the text of all shards in chunks, in order; FolderError at a damaged shard's end."""
    for one in shards:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # damage is found at the end
        with one.open(OUTPUT) as stream:
            while data := stream.read(COPIED):
                yield decoder.decode(data)
