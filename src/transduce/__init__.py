"""Attention Is All You Need, as software that can be run, read and trusted.

    import transduce

    run = transduce.train("run", ("a.en", "a.de"))  # files; or pairs of strings
    model = transduce.average(run, "model")
    translate = transduce.load("model")
    translate("A dog runs.")

Every function is imported when it is first used, so that `import transduce` is fast.
"""

import importlib

from transduce.version import __version__

TYPE_CHECKING = False  # to import it from typing takes as long as all else here
if TYPE_CHECKING:
    from transduce import recipes, reproduce
    from transduce.cleaning.clean import clean
    from transduce.cli.training import show_progress
    from transduce.distillation.distil import distil
    from transduce.errors import TransduceError
    from transduce.exports.export import export
    from transduce.inference.align import align
    from transduce.inference.average import average
    from transduce.inference.choose_heads import choose_alignment_heads
    from transduce.inference.documents import translate_document
    from transduce.inference.evaluate import evaluate
    from transduce.inference.load import load
    from transduce.runs.fetch import fetch
    from transduce.runs.import_model import import_model
    from transduce.runs.mix import mix
    from transduce.runs.prepare import prepare
    from transduce.runs.sweep import sweep
    from transduce.runs.train import train
    from transduce.runs.verify import verify
    from transduce.scores.files import score, score_alignments, score_tags, score_trees
    from transduce.training.progress import TrainingCallbacks
    from transduce.view.attention.attend import attend
    from transduce.view.attention.survey.survey import survey
    from transduce.view.curves.curves import curves
    from transduce.view.drawings.architecture import draw_attention, draw_model
    from transduce.view.drawings.formulas import draw_positions, draw_rate
    from transduce.view.edition.edition import read
    from transduce.view.explainer.explain import explain

__all__ = [
    "TrainingCallbacks",
    "TransduceError",
    "__version__",
    "align",
    "attend",
    "average",
    "choose_alignment_heads",
    "clean",
    "curves",
    "distil",
    "draw_attention",
    "draw_model",
    "draw_positions",
    "draw_rate",
    "evaluate",
    "explain",
    "export",
    "fetch",
    "import_model",
    "load",
    "mix",
    "prepare",
    "read",
    "recipes",
    "reproduce",
    "score",
    "score_alignments",
    "score_tags",
    "score_trees",
    "show_progress",
    "survey",
    "sweep",
    "train",
    "translate_document",
    "verify",
]

FUNCTIONS = {  # the module that each public function or class is defined in
    "TrainingCallbacks": "transduce.training.progress",
    "TransduceError": "transduce.errors",
    "align": "transduce.inference.align",
    "attend": "transduce.view.attention.attend",
    "average": "transduce.inference.average",
    "choose_alignment_heads": "transduce.inference.choose_heads",
    "clean": "transduce.cleaning.clean",
    "curves": "transduce.view.curves.curves",
    "distil": "transduce.distillation.distil",
    "draw_attention": "transduce.view.drawings.architecture",
    "draw_model": "transduce.view.drawings.architecture",
    "draw_positions": "transduce.view.drawings.formulas",
    "draw_rate": "transduce.view.drawings.formulas",
    "evaluate": "transduce.inference.evaluate",
    "explain": "transduce.view.explainer.explain",
    "export": "transduce.exports.export",
    "fetch": "transduce.runs.fetch",
    "import_model": "transduce.runs.import_model",
    "load": "transduce.inference.load",
    "mix": "transduce.runs.mix",
    "prepare": "transduce.runs.prepare",
    "read": "transduce.view.edition.edition",
    "show_progress": "transduce.cli.training",
    "survey": "transduce.view.attention.survey.survey",
    "sweep": "transduce.runs.sweep",
    "train": "transduce.runs.train",
    "translate_document": "transduce.inference.documents",
    "score": "transduce.scores.files",
    "score_alignments": "transduce.scores.files",
    "score_tags": "transduce.scores.files",
    "score_trees": "transduce.scores.files",
    "verify": "transduce.runs.verify",
}
PACKAGES = ("recipes", "reproduce")


def __getattr__(name: str) -> object:
    """Import a public function or package when it is first used; AttributeError if unknown.

    A function raises TypeError with a suggestion for a misspelt keyword argument.
    """
    if name in FUNCTIONS:
        from transduce.settings.keywords import with_checked_keywords

        found = getattr(importlib.import_module(FUNCTIONS[name]), name)
        if isinstance(found, type):
            return found
        checked = with_checked_keywords(found)
        if checked is not found:
            checked.__module__ = "transduce"  # where pickle finds it
        return checked
    if name in PACKAGES:
        return importlib.import_module(f"transduce.{name}")
    raise AttributeError(f"module 'transduce' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__]
