"""Builds the golden folders of the present format: `python -m tests.golden.build_format FOLDER`.

With `imported` as a second argument it builds only the imported model. Format 1 has that in a
folder of its own, imported-1, because format-1 was finished before.

It is run once for each format, before the format is released. The folders are then kept for ever,
and tests/golden/test_formats.py opens them with the code of every later version. All text in
them was written by this project's own grammars.
"""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tests.cli.treebank import write_treebank
from tests.runs.marian_checkpoints import compile_charsmap, write_checkpoint

import transduce
from transduce.checkpoint.stored_model import load_model, read_stored_model, save_model
from transduce.corpus.feed import Feed
from transduce.corpus.plan import Plan
from transduce.phrasebook import pairs
from transduce.runs.prepared_corpus import open_prepared

SMALL: Mapping[str, Any] = {
    "architecture.layers": 1,
    "architecture.d_model": 8,
    "architecture.d_ff": 8,
    "architecture.heads": 2,
    "architecture.d_k": 4,
    "architecture.d_v": 4,
    "data.vocabulary_size": 270,
    "data.max_length": 64,
    "data.source_tokens": 128,
    "data.target_tokens": 128,
    "training.threads": 1,
    "training.micro_batch_tokens": 256,
    "training.steps": 4,
    "training.warmup": 2,
    "training.learning_rate_factor": 4.0,
    "training.snapshot_every": 2,
    "training.average_last": 2,
    "training.validate_every": 4,
    "training.validate_lines": 2,
    "search.beam": 3,
    "search.extra_length": 4,
}
WORDS = {"data.vocabulary": "word", "data.shared_vocabulary": False}
LONG = {"search.extra_length": 40, "search.max_openings": 3}
# the name of a folder: a recipe, the kind of its text, and settings
CASES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "byte-pair": ("tiny", "translation", {}),
    "word-piece": (
        "tiny",
        "translation",
        {
            "data.vocabulary": "word-piece",
            "data.shared_vocabulary": False,
            "architecture.tie_embeddings": "none",
            "architecture.positions": "learned",
            "architecture.max_positions": 72,
            "architecture.norm": "pre",
        },
    ),
    "recurrent": ("tiny", "translation", {"architecture.mixing": "recurrent"}),
    "convolution": ("tiny", "translation", {"architecture.mixing": "convolution"}),
    "dilated": ("tiny", "translation", {"architecture.mixing": "dilated"}),
    "separable": ("tiny", "translation", {"architecture.mixing": "separable"}),
    "dot": (
        "tiny",
        "translation",
        {"architecture.compatibility": "dot", "architecture.initialisation": "glorot"},
    ),
    "deep-encoder": (
        "tiny",
        "translation",
        {"architecture.encoder_layers": 3, "architecture.decoder_layers": 2},
    ),
    "bilinear": ("tiny", "translation", {"architecture.compatibility": "bilinear"}),
    "additive": ("tiny", "translation", {"architecture.compatibility": "additive"}),
    "early": ("tiny", "translation", {"search.stop": "early"}),
    "copy": ("toy-copy", "toy", {}),
    "reverse": ("toy-reverse", "toy", {}),
    "sort": ("toy-sort", "toy", {}),
    "parsing-words": ("craft", "trees", LONG),
    "parsing-pieces": (
        "craft",
        "trees",
        {**LONG, "data.vocabulary": "byte-pair", "data.linearisation": "xx"},
    ),
    "tagging": ("gum-pos", "pos", {}),
    "chunking": ("gum-chunks", "np", {}),
}
RUN = "byte-pair"  # the case whose run and prepared corpus are kept, too
INPUTS = {
    "translation": [
        "the dog sees a cat.",
        "",
        "who runs now, and not today? " * 3,
    ],
    "toy": ["3 1 2", "", "9 8 7 7", "5"],
    "trees": ["the dog saw a bank .", "", "she sold it"],
    "pos": ["the dog saw a bank .", "", "she sold it"],
    "np": ["the dog saw a bank .", "", "she sold it"],
}


IMPORTED = ["the dog runs", "", "the ﬁ s % dAog"]  # with characters of the rules, and an unknown
RULES = {"A": "", "ﬁ": "runs"}  # of the imported model's normaliser
IMPORTED_PAIRS = [
    ("the dog runs", "der Hund läuft"),
    ("the dog", "der Hund"),
    ("dog s e", "s Hund n"),
]
MORE = {
    "training.steps": 200,
    "training.warmup": 100,
    "training.learning_rate_factor": 0.2,
    "training.label_smoothing": 0.0,
    "training.threads": 1,
    "architecture.dropout": 0.0,
    "data.source_tokens": 256,
    "data.target_tokens": 256,
    "data.drop_duplicates": False,
}

# what the run answers: after a few updates most outputs are nearly as likely as others
FEW = INPUTS["translation"][:2]


def build(folder: Path) -> None:
    """Train every case for a few updates; keep models, one run, and what they answer."""
    (folder / "bank").mkdir()
    bank = write_treebank(folder / "bank")
    for name, (recipe, text, changes) in CASES.items():
        run, model = folder / "runs" / name, folder / name
        transduce.train(run, **texts(text, bank), recipe=recipe, settings={**SMALL, **changes})
        transduce.average(run, folder / "averaged")
        save_with_large_weights(folder / "averaged", model)
        write_json(folder / f"{name}.json", read_answers(model, INPUTS[text]))
    shutil.move(folder / "runs" / RUN, folder / "run")
    transduce.average(folder / "run", folder / "averaged")
    write_json(folder / "averaged.json", read_answers(folder / "averaged", FEW, 1))
    (folder / "run" / "lock").unlink()
    write_json(folder / "run.json", read_run_answers(folder / "run"))
    shutil.rmtree(folder / "averaged")
    shutil.rmtree(folder / "runs")
    shutil.rmtree(bank)


def build_imported(folder: Path) -> None:
    """Import a Marian checkpoint with a normaliser; keep the model, and what it answers.

    Its weights are those of a few updates later, so that its outputs differ from line to line.
    """
    write_checkpoint(folder / "checkpoint", charsmap=compile_charsmap(RULES))
    random = transduce.import_model(folder / "checkpoint", folder / "random")
    run = transduce.train(folder / "more", IMPORTED_PAIRS * 20, parent=random, settings=MORE)
    found, trained = load_model(folder / "random"), read_stored_model(run.folder).weights
    card = (folder / "random" / "README.md").read_text(encoding="utf-8")
    model = folder / "imported"
    save_model(model, trained, found.recipe, found.vocabularies, card, about=found.about)
    write_json(folder / "imported.json", read_answers(model, IMPORTED))
    for name in ("checkpoint", "random", "more"):
        shutil.rmtree(folder / name)


def save_with_large_weights(trained: Path, folder: Path) -> None:
    """Write a model again with weights drawn so large that its outputs differ from line to line."""
    found, draws = load_model(trained), torch.Generator().manual_seed(1)
    symbols = {len(vocabulary) for vocabulary in found.vocabularies}
    weights = {
        name: torch.randn(weight.shape, generator=draws) * (0.5 if len(weight) in symbols else 2.0)
        if weight.ndim > 1
        else weight
        for name, weight in found.weights.items()
    }
    card = (trained / "README.md").read_text(encoding="utf-8")
    save_model(folder, weights, found.recipe, found.vocabularies, card, about=found.about)
    shutil.rmtree(trained)


def texts(kind: str, bank: Path) -> dict[str, Any]:
    """The text and the development set of a kind."""
    if kind == "toy":
        return {}
    if kind == "translation":
        return {split: list(pairs(split, count)) for split, count in (("train", 40), ("dev", 4))}
    return {split: bank / f"{split}.{kind}" for split in ("train", "dev")}


def read_answers(folder: Path, lines: Sequence[str], n: int = 2) -> dict[str, Any]:
    """The `n` best outputs of each line with their scores, and the score of given targets."""
    model = transduce.load(folder, on_warning=lambda _: None)
    outputs = [[one.as_json() for one in best] for best in model.nbest_lines(lines, n)]
    given = list_given(lines, outputs)
    return {
        "lines": list(lines),
        "outputs": outputs,
        "likelihood": [one.as_json() for one in model.likelihood(given)],
    }


def list_given(
    lines: Sequence[str], outputs: Sequence[Sequence[Mapping[str, Any]]]
) -> list[tuple[str, str]]:
    """The lines that are not empty, each with its best output, as pairs to score."""
    both = zip(lines, outputs, strict=True)
    return [(line, best[0]["text"]) for line, best in both if line]


def read_run_answers(folder: Path) -> dict[str, Any]:
    """What is in a run: its stored pairs as ids, the pairs of its first updates, its outputs."""
    corpus = open_prepared(folder / "store")
    lengths = corpus.train.source_lengths, corpus.train.target_lengths
    plan = Plan(*lengths, source_tokens=128, target_tokens=128, seed=1)
    feed = Feed(corpus.train, plan, 256)
    return {
        "pairs": [[side.tolist() for side in corpus.train.pair(n)] for n in range(3)],
        "dev": corpus.dev.read_texts() if corpus.dev else [],
        "updates": [plan.select_pairs(step).tolist() for step in (1, 2, 9)],
        "micro_batch": feed.micro_batches(1)[0].source.ids.tolist(),
        **read_answers(folder, FEW, 1),
    }


def write_json(file: Path, values: Mapping[str, Any]) -> None:
    """Write values as JSON that people can read."""
    file.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Build into a folder that does not exist yet; after its name, perhaps `imported`."""
    folder, parts = Path(arguments[0]), arguments[1:]
    folder.mkdir(parents=True)
    build_imported(folder)
    if not parts:
        build(folder)  # last: with its run.json no run may begin in the folder
    sys.stdout.write(f"{len(list(folder.glob('*.json')))} models in {folder}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
