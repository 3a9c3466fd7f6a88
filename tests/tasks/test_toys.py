"""Copy and reverse are learned by their recipes: more than 99 % of unseen lines without a fault."""

import pytest

from transduce.inference.load import load
from transduce.recipes import by_name
from transduce.runs.average import write_average
from transduce.runs.prepared_corpus import prepare_corpus
from transduce.runs.texts import GeneratedCorpus
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.settings.recipe import with_changes
from transduce.training.progress import TrainingCallbacks

LINES = 500
LESS = {"training.steps": 1_600, "data.source_tokens": 512, "data.target_tokens": 512}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "less"),
    [
        ("toy-copy", LESS),
        pytest.param("toy-copy", {}, marks=pytest.mark.soak),
        pytest.param("toy-reverse", {}, marks=pytest.mark.soak),
    ],
    ids=["copy with less than its recipe", "copy", "reverse"],
)
def test_more_than_99_percent_of_unseen_lines_are_exact(tmp_path, name, less):
    recipe = with_changes(by_name(name), {"training.threads": 1} | less)
    train = GeneratedCorpus(name, "train", 100_000)
    prepared = prepare_corpus(tmp_path / "p", recipe.data, train, None, lambda _what, _pairs: None)
    run, model = tmp_path / "run", tmp_path / "model"
    train_run(
        run,
        begin_or_resume_run(run, recipe, prepared),
        prepared,
        TrainingCallbacks(),
        lambda _: None,
    )
    write_average(run, model, None)
    seen = {source for source, _ in train.read()}
    test = GeneratedCorpus(name, "test", 2 * LINES).read()
    unseen = [pair for pair in test if pair[0] not in seen][:LINES]
    assert len(unseen) == LINES
    outputs = load(model)([source for source, _ in unseen])
    exact = sum(ours == theirs for ours, (_, theirs) in zip(outputs, unseen, strict=True))
    assert exact / LINES > 0.99
