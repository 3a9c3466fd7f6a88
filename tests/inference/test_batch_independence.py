"""What is said of a sentence does not depend on the company it is in."""

import random

import pytest
import torch
from tests.runs.corpora import TOY, prepared_toy

from transduce.inference.load import load
from transduce.runs.texts import GeneratedCorpus
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.settings.recipe import with_changes
from transduce.training.progress import TrainingCallbacks


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """A model that has learned a little of sorting, and so is often in doubt."""
    torch.set_num_threads(1)
    changes: dict[str, int | float | str] = {
        "data.corpus": "toy-sort",
        "data.max_pairs": 2_000,
        "data.source_tokens": 1_024,
        "data.target_tokens": 1_024,
        "training.steps": 300,
        "training.warmup": 150,
        "training.learning_rate_factor": 0.5,
        "training.micro_batch_tokens": 2_048,
        "training.validate_every": 1_000,
        "search.beam": 4,
        "search.extra_length": 5,
    }
    recipe = with_changes(TOY, changes)
    folder = tmp_path_factory.mktemp("company")
    prepared = prepared_toy(folder / "p", recipe)
    train_run(
        folder / "run",
        begin_or_resume_run(folder / "run", recipe, prepared),
        prepared,
        TrainingCallbacks(),
        lambda _: None,
    )
    return load(folder / "run")


@pytest.mark.parametrize(
    "count",
    [pytest.param(200, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.soak)],
)
def test_sentences_alone_in_batches_and_shuffled_give_the_same_text(translator, count):
    lines = [source for source, _ in GeneratedCorpus("toy-sort", "test", count).read()]
    together = translator(lines)
    assert len(set(together)) > count // 2
    alone = [output for line in lines for output in translator([line])]
    order = random.Random(1).sample(range(count), count)
    shuffled = translator.searching(batch_size=17)([lines[place] for place in order])
    assert alone == together
    assert shuffled == [together[place] for place in order]


@pytest.mark.slow
def test_scores_agree_too_and_in_any_block(translator):
    lines = [source for source, _ in GeneratedCorpus("toy-sort", "dev", 200).read()]
    together = list(translator.nbest_lines(lines, n=3))
    apart = list(translator.nbest_lines(lines, n=3, block=7))
    for ours, theirs in zip(together, apart, strict=True):
        assert [one.text for one in ours] == [one.text for one in theirs]
        assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], abs=1e-4)
