"""A recipe that fits: sizes by the corpus and the machine, each with its reason."""

from dataclasses import dataclass

import pytest
from tests.cli.language import sentences

from transduce.errors import InputError
from transduce.runs import recommend
from transduce.runs.recommend import CorpusCounts
from transduce.settings import Data
from transduce.text.clean import Cleaner
from transduce.vocabulary.learn import learn_vocabulary


@dataclass(frozen=True)
class Given:
    """Pairs from a list."""

    pairs: list[tuple[str, str]]

    def read(self):
        return iter(self.pairs)

    def fingerprint(self):
        return "given"


def fitted(pairs, changes=None, *, gpu=False):
    return recommend.recommend_recipe(
        Given(pairs), changes or {}, has_gpu=gpu, on_progress=lambda _what, _pairs: None
    )


@pytest.fixture
def counted(monkeypatch):
    """A corpus of so many pairs, without its text."""

    def say(pairs):
        corpus = CorpusCounts(pairs=pairs, pieces=15.0 * pairs, words=200_000)
        monkeypatch.setattr(recommend, "count_corpus", lambda *_: corpus)
        return corpus

    return say


def test_the_scheme_of_labels_is_read_from_the_pairs_that_training_reads():
    pairs = [("a dog", "B-NP I-NP"), ("she ran off", "PRP VBD RP")]
    schemes = [
        fitted(pairs, {"data.task": "tagging", "data.max_pairs": most})[0].data.label_scheme
        for most in (1, 2)
    ]
    assert schemes == ["bio", "raw"]


@pytest.mark.parametrize(
    ("pairs", "gpu", "layers", "d_model"),
    [
        (29_000, False, 4, 128),
        (500_000, False, 3, 256),
        (4_500_000, False, 3, 256),
        (29_000, True, 4, 128),
        (4_500_000, True, 6, 512),
    ],
)
def test_sizes_grow_with_the_corpus_as_far_as_the_machine_goes(
    counted, pairs, gpu, layers, d_model
):
    counted(pairs)
    recipe, _ = fitted([], gpu=gpu)
    assert (recipe.architecture.layers, recipe.architecture.d_model) == (layers, d_model)


def test_updates_are_about_thirty_passes_within_bounds(counted):
    counted(29_000)
    recipe, _ = fitted([])
    tokens = 29_000 * 60 // 4
    assert recipe.training.steps == pytest.approx(30 * tokens / recipe.data.source_tokens, rel=0.1)
    for pairs, steps in ((30, 300), (100, 300), (500, 500), (2_000, 1_000)):
        counted(pairs)
        assert fitted([])[0].training.steps == steps


def test_the_intervals_of_validations_and_snapshots_fit_into_the_run(counted):
    for pairs in (100, 29_000, 900_000):
        counted(pairs)
        training = fitted([])[0].training
        assert training.warmup < training.steps
        assert training.snapshot_every * training.average_last < training.steps
        assert training.validate_every < training.steps


def test_every_choice_is_said():
    recipe, reasons = fitted(sentences(300, seed=1))
    said = " ".join(reasons)
    assert f"{recipe.data.vocabulary_size:,} symbols" in said
    assert "no GPU" in said


def test_the_settings_of_cleaning_decide_what_is_counted():
    pairs = [(source, source) for source, _ in sentences(50, seed=1)]
    with pytest.raises(InputError, match=r"no pair is left of 50, .*identical sides: 50"):
        fitted(pairs)
    assert "pairs after cleaning" in fitted(pairs, {"data.drop_identical": False})[1][0]
    few = fitted(sentences(50, seed=1), {"data.max_pairs": 20})[1][0]
    assert few.startswith(("20 pairs", "19 pairs"))


TEXTS = {
    "few words": sentences(5, seed=1),
    "our own": sentences(300, seed=1),
    "one word": [("a", "b")],
    "numbers": [(f"{n}", f"{n * 7} {n}") for n in range(200)],
    "letters": [(f"{chr(97 + n % 26)} {chr(97 + n % 25)}", chr(98 + n % 24)) for n in range(500)],
    "no blanks": [("山川草木" * (n % 7 + 1) + chr(0x4E00 + n), chr(0x5E00 + n)) for n in range(99)],
    "words seen once": [(f"x{n:x}q{n * 37 % 91:o}", f"{n**3:x}z") for n in range(40)],
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_supports_the_vocabulary_that_is_chosen(name):
    recipe, _ = fitted(TEXTS[name], {"data.max_length_ratio": 1_000.0})
    kept = Cleaner(Data(max_length_ratio=1_000.0)).clean(TEXTS[name])
    lines = [line for pair in kept for line in pair]
    assert len(learn_vocabulary(lines, recipe.data.vocabulary_size)) == recipe.data.vocabulary_size
