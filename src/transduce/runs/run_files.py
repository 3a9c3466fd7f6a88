"""Reading a run's copies of its corpus' vocabularies and facts (data.json), with their checks"""

from pathlib import Path

from transduce.checkpoint import read_run
from transduce.corpus.facts import DataFacts, parse_data_facts
from transduce.corpus.side import DAMAGED_HINT
from transduce.durable import from_checksummed_json, read_regular
from transduce.errors import FolderError
from transduce.runs.prepared_corpus import read_vocabularies_in
from transduce.vocabulary.files import Vocabularies

DATA = "data.json"


def read_data_facts(run: Path) -> DataFacts:
    """Read the data.json of a run: the input files and pair counts of its corpus."""
    file = run / DATA
    facts = parse_data_facts(from_checksummed_json(read_regular(file, 1 << 24), file), file)
    if "train" not in facts.inputs:
        raise FolderError("names no training text", DAMAGED_HINT, file=file)
    return facts


def read_run_vocabularies(folder: Path) -> Vocabularies:
    """Read the vocabularies of a run; refuse files other than those the run was begun with."""
    run = read_run(folder)
    vocabularies = read_vocabularies_in(folder, run.recipe.data)
    for name, found in vocabularies.hashes().items():
        if run.fingerprints.get(name) != found:
            raise FolderError(
                f"the {name} vocabulary is not the one this run was begun with",
                "put back the run's own file",
                file=folder,
            )
    return vocabularies
