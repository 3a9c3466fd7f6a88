"""Reading a run's copy of its corpus' facts, data.json, with its checks"""

from pathlib import Path

from transduce.corpus.facts import DataFacts, parse_data_facts
from transduce.corpus.side import DAMAGED_HINT
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json
from transduce.errors import FolderError

DATA = "data.json"


def read_data_facts(run: Path) -> DataFacts:
    """Read the data.json of a run: the input files and pair counts of its corpus."""
    file = run / DATA
    facts = parse_data_facts(from_checksummed_json(read_regular(file, 1 << 24), file), file)
    if "train" not in facts.inputs:
        raise FolderError("names no training text", DAMAGED_HINT, file=file)
    return facts
