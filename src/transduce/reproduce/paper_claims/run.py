"""Measure claims one by one, resumably, and report the verdicts.

`reproduce/job.py` describes OUT/store/ and OUT/rows/ROW-seedN/. A claim's values from one seed are
in OUT/rows/claim-NAME-seedN/values.json.
"""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import torch

from transduce.durable.files import ensure_folder, write_atomically
from transduce.durable.json import to_checksummed_json
from transduce.durable.lock import create_and_lock_folder
from transduce.errors import (
    FolderError,
    InputError,
    InUseError,
    TransduceError,
    suggest_names,
)
from transduce.inference.evaluate import today
from transduce.machine.environment import describe_environment
from transduce.reproduce.job import ROWS as FOLDER
from transduce.reproduce.job import TableRequest, plan_jobs
from transduce.reproduce.paper_claims.catalogue import (
    CLAIMS,
    ROWS,
    SCALE,
    PaperClaim,
    compute_interval,
)
from transduce.reproduce.report import Report, require_table_folder
from transduce.reproduce.result import RESULT, read_record
from transduce.reproduce.rows import TableCallbacks, train_rows
from transduce.settings.fields import require

VALUES = "values.json"
KEYS = {"values", "environment", "date"}  # of values.json
MEASURE_AGAIN = "delete the file: the same command measures it again"
HEAD = ("measured", "supports the claim", "here", "95 %", "verdict")
Measured = Mapping[str, Mapping[int, dict[str, Any]]]  # claim -> seed -> contents of values.json


def measure_claims(
    output: Path, names: Sequence[str], seeds: Sequence[int], callbacks: TableCallbacks
) -> Report:
    """Measure the named claims (all if `names` is empty) in folder `output`; return the report.

    Raises the first error if no claim has a value.
    """
    for name in names:
        if name not in CLAIMS:
            raise InputError(f"there is no claim {name!r}", suggest_names(name, CLAIMS))
    require(bool(seeds), "no seed is given", "seeds=3")
    require_table_folder(output)
    chosen = [claim for name, claim in CLAIMS.items() if name in names or not names]
    errors: list[TransduceError] = []
    try:
        for claim in chosen:
            try:
                errors += measure_claim(output, claim, seeds, callbacks)
            except FolderError as damaged:  # the other claims are measured and reported
                errors.append(damaged)
                callbacks.on_failure(claim.name, damaged)
    except (SystemExit, KeyboardInterrupt):  # after a signal, first report what is measured
        with suppress(TransduceError):
            write_report(output, callbacks)
        raise
    if errors and not gather_claims(output):
        raise errors[0]
    return replace(write_report(output, callbacks), errors=tuple(errors))


def measure_claim(
    output: Path, claim: PaperClaim, seeds: Sequence[int], callbacks: TableCallbacks
) -> list[TransduceError]:
    """Train and measure a claim for each seed not yet measured; return failed rows' errors."""
    callbacks.on_message(f"{claim.name} ({claim.section}): {claim.sentence}")
    seeds = seeds[:1] if claim.is_exact else seeds
    missing = [seed for seed in seeds if read_values(output, claim, seed) is None]
    errors: list[TransduceError] = []
    if claim.rows and missing:
        request = TableRequest(output=output, scale=SCALE, rows=claim.rows, seeds=missing)
        errors = train_rows(plan_jobs("claims", ROWS, request), request, callbacks)
    for seed in missing:
        runs = {row: output / FOLDER / f"{row}-seed{seed}" / "run" for row in claim.rows}
        if not all((run.parent / RESULT).exists() for run in runs.values()):
            continue
        folder = find_folder(output, claim, seed)
        ensure_folder(folder)
        try:
            with create_and_lock_folder(folder):
                values, where = claim.measure(seed, runs), describe_environment(torch.device("cpu"))
                if not all(map(math.isfinite, values.values())):
                    what = "a row diverged" if claim.rows else "a value is not finite"
                    fault = InputError(f"seed {seed}: {what}", "the report leaves this seed out")
                    errors.append(fault)
                    callbacks.on_failure(claim.name, fault)
                    continue
                found = {"seed": seed, "values": values, "environment": where, "date": today()}
                write_atomically(folder / VALUES, to_checksummed_json(found))
        except InUseError as held:
            callbacks.on_message(f"{claim.name}: left to another process: {held.fact}")
    return errors


def find_folder(output: Path, claim: PaperClaim, seed: int) -> Path:
    """Return the folder of a claim's values from one seed."""
    return output / FOLDER / f"claim-{claim.name}-seed{seed}"


def read_values(output: Path, claim: PaperClaim, seed: int) -> dict[str, Any] | None:
    """Return a claim's record (values, environment, date) of a seed; None if absent or partial."""
    file = find_folder(output, claim, seed) / VALUES
    if not file.exists():
        return None
    found = read_record(file, MEASURE_AGAIN)
    needed = {name for finding in claim.findings for name in finding.names}
    is_whole = found.keys() >= KEYS and needed <= found["values"].keys()
    return found if is_whole else None


def gather_claims(output: Path) -> Measured:
    """Return the records of all claims in a folder, by claim and seed."""
    ends = {one.name.rpartition("seed")[2] for one in (output / FOLDER).glob("claim-*-seed*")}
    seeds = sorted(int(end) for end in ends if end.isdecimal())
    every: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in CLAIMS}
    for name, seed in product(CLAIMS, seeds):
        with suppress(FolderError):  # `measure_claim` reports a damaged record
            if found := read_values(output, CLAIMS[name], seed):
                every[name][seed] = found
    return {name: found for name, found in every.items() if found}


def write_report(output: Path, callbacks: TableCallbacks) -> Report:
    """Write the report on all measured claims of a folder into it, and return the report."""
    report = build_report(gather_claims(output))
    files = report.write(output, plot=False)
    callbacks.on_message(f"the report: {', '.join(map(str, files))}")
    return report


def build_report(measured: Measured) -> Report:
    """Build the report with all findings and verdicts; raise InputError if `measured` is empty."""
    require(bool(measured), "no claim has been measured yet", "the same command again resumes")
    records = {name: build_records(CLAIMS[name], found) for name, found in measured.items()}
    verdicts = Counter(record["verdict"] for of_claim in records.values() for record in of_claim)
    absent = [name for name in CLAIMS if name not in measured]
    machines = {
        "{date}, {processor}, threads {threads}, transduce {transduce}, torch {torch}".format(
            date=one["date"], **one["environment"]
        ): None
        for found in measured.values()
        for one in found.values()
    }
    return Report(
        name="claims",
        title="Claims of the paper outside its tables",
        conditions=[
            f"verdicts: {', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())}",
            "a number is the mean over seeds of a ratio or a difference within each seed; a claim "
            "holds, or does not, if the 95 % interval of the mean (Student's t) lies wholly inside "
            "or outside the range, and is within chance otherwise",
            "where the paper gives no number, the range is ours",
            f"trained models: {SCALE.about}; nats a piece on the development set",
            f"claims: {'without ' + ', '.join(absent) if absent else 'all'}",
            f"made {'; '.join(machines)}",
        ],
        parts=[
            (
                f"{name}, section {CLAIMS[name].section}",
                f"{CLAIMS[name].sentence} (seeds {of_claim[0]['seeds']})",
                [HEAD, *(list_cells(record) for record in of_claim)],
            )
            for name, of_claim in records.items()
        ],
        rows=[record for of_claim in records.values() for record in of_claim],
    )


def list_cells(record: Mapping[str, Any]) -> list[str]:
    """Return a finding's cells: finding, range, mean, interval ("" if seeds agree), verdict."""
    interval = f"{record['low']:.3g} to {record['high']:.3g}"
    shown = interval if record["low"] < record["high"] else ""
    return [
        record["finding"],
        record["expected"],
        f"{record['mean']:.3g}",
        shown,
        record["verdict"],
    ]


def build_records(claim: PaperClaim, found: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a flat record for each finding of a claim, with its interval and verdict."""
    records = []
    for finding in claim.findings:
        numbers = [finding.compute(one["values"]) for one in found.values()]
        low, high = compute_interval(numbers)
        records.append(
            {
                "claim": claim.name,
                "section": claim.section,
                "finding": finding.says,
                "expected": finding.expected,
                "mean": statistics.fmean(numbers),
                "low": low,
                "high": high,
                "verdict": finding.judge(numbers, is_exact=claim.is_exact),
                "seeds": "do not matter" if claim.is_exact else " ".join(map(str, found)),
                "numbers": " ".join(map(repr, numbers)),
            }
        )
    return records
