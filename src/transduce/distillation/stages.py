"""The stages of a distillation, each a folder that is complete or absent.

    FOLDER/text/     the source lines to translate, each once, with references where there are any
    FOLDER/shards/   the teacher's translations of these lines, shard by shard
    FOLDER/pairs/    the pairs that passed all rules, shuffled, and a report of the others
    FOLDER/run/      the training of the student
    FOLDER/model/    the student
    FOLDER/report/   a page of all stages, with scores and speeds (`report.py`)

The same call resumes after the last finished stage, shard or checkpoint. A stage that was made of
other files, by another teacher or with other options is refused.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float

from transduce.cleaning import WORST
from transduce.cleaning.rules import EXAMPLES, SHOWN, RuleReport, Rules, find_lowest
from transduce.distillation import LONGEST
from transduce.durable.folder import FolderWriter, VerifiedFolder, open_or_write_folder
from transduce.durable.json import parse_json, to_json
from transduce.errors import FolderError, short_repr, shorten
from transduce.inference.shards import (
    AGAIN,
    OUTPUT,
    Shard,
    ShardText,
    create_shard,
    describe_translator,
    find_shards,
    is_written,
    measure_text,
)
from transduce.inference.translator import WORKER_BLOCK, Translator, with_warnings_at
from transduce.runs.texts import require_file
from transduce.settings.fields import require
from transduce.text.clean import normalise
from transduce.text.files import read_lines, read_pairs
from transduce.text.pair_files import Columns, read_pair_file, require_columns

TEXT_KIND, PAIRS_KIND = "distil-text", "distil-pairs"
SOURCES, REFERENCES, GIVEN, PAIRS, REPORT = (
    "source.txt", "reference.txt", "output.txt", "pairs.tsv", "report.json",
)  # fmt: skip
SHARD_LINES = 10_000

OnLine = Callable[[str, int, int], None]  # called with a stage, its lines so far, its lines in all


@final
@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Input of a distillation: sources, source-reference pairs, or both; or sources and outputs."""

    source: Path | None = None
    pairs: Path | None = None  # source lines with references
    outputs: Path | None = None  # line i is a translation of line i of `source`
    columns: Columns | None = None  # the columns of `pairs`, as `read_pair_file` takes them

    def __post_init__(self) -> None:
        require(
            self.source is not None or self.pairs is not None,
            "there is no text to translate",
            "--source FILE with lines of the source language, or given pairs",
        )
        require(
            self.outputs is None or (self.source is not None and self.pairs is None),
            "--outputs are translations of the lines of --source",
            "give --source, and no other pairs",
        )
        if self.columns is not None:
            require(
                self.pairs is not None,
                "columns are of a file of pairs, and none is given",
                "name such a file, or leave out --columns",
            )
            require_columns(self.columns)
        for file in filter(None, (self.source, self.pairs, self.outputs)):
            require_file(file)

    def read(self) -> Iterator[tuple[str, str, str]]:
        """Yield (source, reference, output) of each line; a missing reference or output is ""."""
        if self.pairs is not None:
            pairs = read_pair_file(self.pairs, self.columns)
            yield from ((ours, theirs, "") for ours, theirs in pairs)
        if self.outputs is not None and self.source is not None:
            yield from ((ours, "", found) for ours, found in read_pairs(self.source, self.outputs))
        elif self.source is not None:
            yield from ((line, "", "") for line in read_lines(self.source))

    def find_line(self, source: str) -> int:
        """Return the number, from 1, of the first line whose normalised form is `source`.

        InputError if there is none: the text has changed since it was first read.

        Lines of `pairs` and `source` are numbered as one text, in the order of `read`.
        """
        sources = (normalise(texts[0]) for texts in self.read())
        line = next((n for n, found in enumerate(sources, start=1) if found == source), 0)
        require(line > 0, "the text changed while it was read", "repeat the command")
        return line

    def fingerprint(self) -> dict[str, str]:
        """Return {field: sha256 of the file's unpacked content}, and the columns if given."""
        files = {"source": self.source, "pairs": self.pairs, "outputs": self.outputs}
        found = {name: measure_text(file)[1] for name, file in files.items() if file is not None}
        columns = {} if self.columns is None else {"columns": "{},{}".format(*self.columns)}
        return found | columns


def gather_text(folder: Path, inputs: Inputs) -> VerifiedFolder:
    """Open or write the stage `text`: distinct source lines with references and given outputs.

    Lines that are empty or longer than `LONGEST` are left out. The stage's report has the counts.
    It also lists the first few duplicates: each one's line number, that of the first equal line,
    and the text. InputError if no line is left.
    """

    def write(writer: FolderWriter) -> None:
        seen, counts = set[bytes](), {"read": 0, "kept": 0}
        duplicates = list[tuple[int, int, str]]()
        with (
            writer.open(SOURCES) as sources,
            writer.open(REFERENCES) as references,
            writer.open(GIVEN) as given,
        ):
            for texts in inputs.read():
                source, reference, output = map(normalise, texts)
                key = hashlib.blake2b(source.encode(), digest_size=12).digest()
                counts["read"] += 1
                if not source or len(source) > LONGEST:
                    continue
                if key in seen:
                    if len(duplicates) < EXAMPLES:
                        first = inputs.find_line(source)  # reads the text again to save memory
                        duplicates.append((counts["read"], first, shorten(source, SHOWN)))
                    continue
                seen.add(key)
                counts["kept"] += 1
                for stream, text in ((sources, source), (references, reference), (given, output)):
                    stream.write(f"{text}\n".encode())
        fact = f"no line of {counts['read']:,} is a sentence to translate"
        require(counts["kept"] > 0, fact, "look at the file")
        writer.write(REPORT, to_json(counts | {"duplicates": duplicates}))

    return open_or_write_folder(folder / "text", TEXT_KIND, {"inputs": inputs.fingerprint()}, write)


def translate_text(
    folder: Path,
    text: VerifiedFolder,
    teacher: Translator,
    nbest: int,
    on_line: OnLine,
    shard_lines: int = SHARD_LINES,
) -> None:
    """Open or write the stage `shards`: the teacher's `nbest` outputs of all lines, with log P."""
    source = text.verified_path(SOURCES)
    total, sha256 = measure_text(source)
    count = max(1, -(-total // shard_lines))
    how = {"nbest": nbest} | describe_translator(teacher)
    lines = read_lines(source)
    for number in range(1, count + 1):
        part = ShardText(Shard(count, number), source, total, sha256)
        path, own = folder / "shards" / part.shard.name, islice(lines, len(part.lines))
        if is_written(path, part, how):
            deque(own, maxlen=0)  # skip to the next shard's lines
            continue
        first = part.lines.start + 1
        reporting = with_warnings_at(teacher, f"stage shards, {source}, line")
        outputs = reporting.nbest_lines(own, nbest, block=WORKER_BLOCK, first=first)
        with create_shard(path, part, how) as stream:
            for done, found in enumerate(outputs, start=first):
                best = [[one.text, one.log_prob] for one in found]
                stream.write(json.dumps(best, ensure_ascii=False).encode() + b"\n")
                on_line("translate", done, total)


@final
@dataclass(frozen=True)
class PairOptions:
    """How pairs are chosen: share of improbable ones to drop, shuffling seed, target language."""

    worst: float = WORST
    seed: int = 1
    language: str = ""  # outputs in another language than this are dropped; "" drops none

    def __post_init__(self) -> None:
        require(0 <= self.worst < 1, f"worst must lie in [0, 1), not {self.worst}")
        is_seed = type(self.seed) is int and 0 <= self.seed < 2**63
        require(is_seed, f"seed must be a number from 0 to 2^63 - 1, not {short_repr(self.seed)}")


Candidate = tuple[str, float]  # an output and its log P


class Translation(NamedTuple):
    """A source line, the output that was chosen for it, and the output's log P."""

    source: str
    target: str
    log_prob: float
    line: int  # number of the source line, from 1


def choose_nearest(outputs: Sequence[str], reference: str) -> int:
    """Return the index of the output with the highest sentence BLEU; of equal ones the first."""
    if len(outputs) == 1:
        return 0
    from sacrebleu import sentence_bleu

    from transduce.scores.metrics import WORDS
    from transduce.scores.scoring import guess_language

    words = WORDS.get(guess_language([[reference]]), "13a")
    scores = [sentence_bleu(output, [reference], tokenize=words).score for output in outputs]
    return scores.index(max(scores))


def read_outputs(text: VerifiedFolder, shards: Path) -> Iterator[list[Candidate]]:
    """Yield, for each line, its outputs as a list of (output, log P), best first.

    If `shards` does not exist, each line has one output, the given one, with 0 for log P.
    """
    if not shards.exists():
        yield from ([(line, 0.0)] for line in read_lines(text.verified_path(GIVEN)))
        return
    for shard in find_shards(shards):
        lines = shard.read(OUTPUT).split(b"\n")[:-1]
        own = Shard(shard.about["of"], shard.about["number"])
        if len(lines) != len(own.find_lines(shard.about["text"]["lines"])):
            raise FolderError("has more or fewer lines than its text", AGAIN, file=shard.folder)
        for line in lines:
            try:
                yield parse_candidates(line)
            except (ValueError, RecursionError) as error:
                fact = f"has a line that is no list of translations: {error}"
                raise FolderError(fact, AGAIN, file=shard.folder) from error


def parse_candidates(line: bytes) -> list[Candidate]:
    """Return the (output, log P) pairs of a shard's line; raise ValueError for any other line."""
    found = json.loads(line)
    is_list = isinstance(found, list) and found and all(isinstance(one, list) for one in found)
    if is_list and all([*map(type, one)] == [str, float] for one in found):
        return [(output, log_prob) for output, log_prob in found]
    raise ValueError("outputs with their log P are missing")


def read_translations(text: VerifiedFolder, shards: Path) -> Iterator[Translation]:
    """Yield each source with the output nearest to its reference, else with its best output."""
    sides = (read_lines(text.verified_path(name)) for name in (SOURCES, REFERENCES))
    every = enumerate(zip(*sides, read_outputs(text, shards), strict=True), start=1)
    for line, (source, reference, found) in every:
        best = choose_nearest([one for one, _ in found], reference) if reference else 0
        yield Translation(source, normalise(found[best][0]), found[best][1], line)


def choose_pairs(
    folder: Path,
    text: VerifiedFolder,
    options: PairOptions,
    backward: Translator | None,
    on_line: OnLine,
) -> tuple[VerifiedFolder, RuleReport]:
    """Open or write the stage `pairs`; return its folder and report; InputError if none passes."""
    shards = folder / "shards"
    hashes = [one.hash for one in find_shards(shards)] if shards.exists() else []
    about = {"text": text.hash, "shards": hashes, "options": asdict(options)}
    about["backward"] = list(backward.hashes) if backward else []

    def write(writer: FolderWriter) -> None:
        report, kept = RuleReport(), list[Translation]()
        rules = Rules(languages=("", options.language))
        for one in read_translations(text, shards):
            broken = rules.find_broken(*one[:2])
            report.read += 1
            report.add(one[:2], broken)
            kept += [] if broken else [one]
        if backward is not None or hashes:
            unit, lines = f"stage pairs, {text.folder / SOURCES}, line", [one.line for one in kept]
            scorer = backward and with_warnings_at(backward, unit, lines)
            rates = score_per_character(kept, scorer, on_line)
            lowest = find_lowest(rates, options.worst)
            for index in sorted(lowest):
                report.add(kept[index][:2], ["improbable"])
            kept = [one for index, one in enumerate(kept) if index not in lowest]
        report.kept = len(kept)
        with writer.open(PAIRS) as stream:
            for index in np.random.default_rng(options.seed).permutation(len(kept)):
                stream.write("{}\t{}\n".format(*kept[index][:2]).encode())
        writer.write(REPORT, to_json(asdict(report)))

    found = open_or_write_folder(folder / "pairs", PAIRS_KIND, about, write)
    report = RuleReport(**parse_json(found.read(REPORT)))
    fact = f"no pair of {report.read:,} passed the rules"
    require(report.kept > 0, fact, f"look at {found.folder / REPORT}")
    return found, report


def score_per_character(
    kept: Sequence[Translation], backward: Translator | None, on_line: OnLine
) -> Float[np.ndarray, " N"]:
    """Return log P per character of each target, or of each source if `backward` is given.

    A pair that is too long for `backward` gets -infinity.
    """
    if backward is None:
        return np.array([one.log_prob / len(one.target) for one in kept])
    rates = []
    scored = backward.likelihood((one.target, one.source) for one in kept)
    for one, output in zip(kept, scored, strict=True):
        rates.append(output.log_prob / len(one.source))
        on_line("score", len(rates), len(kept))
    return np.nan_to_num(np.array(rates), nan=-np.inf)  # a pair that is too long is the worst
