"""transduce translate: prefixes, samples, ensembles, and what contradicts what."""

import json
import shutil

import pytest
from tests.cli.language import write

FAST = ("--extra-length=1",)
LINES = b"the dog sees a cat.\n\na woman\nwho runs now\n"


@pytest.fixture
def said(call, babbler):
    """What a model says to these bytes, as lines."""

    def translated(*options, data=LINES, model=babbler):
        ended = call("translate", model, *FAST, *options, stdin=data)
        assert (ended.code, ended.stderr) == (0, "")
        return ended.stdout[:-1].split("\n")

    return translated


@pytest.fixture
def refused(call, babbler):
    """How an impossible wish is answered."""

    def answer(*options, data=LINES):
        ended = call("translate", babbler, *FAST, *options, stdin=data)
        assert (ended.code, ended.stdout) == (2, "")
        return ended.stderr

    return answer


def test_outputs_begin_with_their_prefixes(said, tmp_path):
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    free, forced = said("--beam=1"), said("--beam=1", "--prefix", prefixes)
    assert forced[1:3] == free[1:3]
    assert forced[0].startswith("ein")
    assert forced[3].startswith("wer")
    assert forced != free


def test_prefixes_may_come_from_standard_input(call, babbler, said, tmp_path):
    lines = tmp_path / "lines"
    lines.write_bytes(LINES)
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    options = ("--beam=1", "--extra-length=1", "--prefix")
    piped = call("translate", babbler, lines, *options, "-", stdin=prefixes.read_bytes())
    assert piped.stdout[:-1].split("\n") == said("--beam=1", "--prefix", prefixes)


@pytest.mark.parametrize(
    ("prefixes", "answer"),
    [
        (["a"], "error: the prefixes end after line 1, but the input goes on\nhint: one prefix"),
        (["a", "", "", "", "b"], "error: the input ends after line 4, but the prefixes go on\n"),
        (["", "a", "", ""], "error: line 2 is empty, but its prefix is not\nhint: an empty"),
        (["", "", "x" * 99, ""], "error: line 3: its prefix has 99 pieces, and its output at most"),
    ],
)
def test_prefixes_that_do_not_fit_are_refused(refused, tmp_path, prefixes, answer):
    assert refused("--prefix", write(tmp_path / "prefixes", prefixes)).startswith(answer)


def test_a_file_of_prefixes_that_is_not_there_is_refused(refused, tmp_path):
    answer = refused("--prefix", tmp_path / "nowhere")
    assert answer.startswith(f"error: {tmp_path}/nowhere: cannot be read (No such file")


def test_samples_depend_on_the_seed_and_on_their_line_only(said):
    def drawn(*options):
        rows = [row.split("\t") for row in said("--sample", "--nbest=3", *options)]
        return [[row[0], row[3]] for row in rows]  # scores agree to rounding only

    rows = drawn()
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] + ["3"] * 3 + ["4"] * 3
    assert len({text for _, text in rows}) == 10
    assert drawn("--batch-size=1", "--seed=1") == rows
    assert drawn("--line-buffered") == rows
    assert drawn("--seed=2") != rows
    assert said("--sample") == [rows[place][1] for place in (0, 3, 4, 7)]
    last = said("--sample", data=b"\n\n\n" + LINES.splitlines()[3])
    assert last[3] == rows[7][1]


def test_drawing_from_the_likeliest_only_is_greedy_search(said):
    greedy = said("--beam=1")
    assert said("--sample", "--top-k=1") == greedy
    assert said("--sample", "--top-p=0.000001") == greedy
    assert said("--sample", "--temperature=0.00001") == greedy
    assert said("--sample", "--temperature=1.5", "--top-k=50", "--top-p=0.9") != greedy


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (
            ("--temperature=0.5",),
            "error: --temperature is of drawing, and a beam searches\nhint: add --sample\n",
        ),
        (("--seed=3",), "error: --seed is of drawing, and a beam searches\nhint: add --sample\n"),
        (
            ("--sample", "--beam=4"),
            "error: --sample draws, and --beam searches\n"
            "hint: leave one; --nbest says how many samples\n",
        ),
        (("--sample", "--top-k=-1"), "error: sampling.top_k must be a count, or 0 for all"),
        (("--sample", "--temperature=0"), "error: sampling.temperature must be a number above 0"),
        (
            ("--prefix=-",),
            "error: standard input can be one of the files only\nhint: name the other\n",
        ),
        (
            ("--workers=2", "--line-buffered"),
            "error: --workers take many lines at once, and --line-buffered answers each\n",
        ),
        (("--workers=0",), "error: invalid value for '--workers'"),
    ],
)
def test_wishes_that_contradict_each_other_are_refused(refused, options, answer):
    assert refused(*options).startswith(answer)


def scores(rows):
    return [float(row.split("\t")[1]) for row in rows]


def test_a_model_twice_is_the_model_alone(said, babbler):
    alone, twice = said("--nbest=2"), said("--nbest=2", "--ensemble", babbler)
    assert [row.split("\t")[3] for row in twice] == [row.split("\t")[3] for row in alone]
    assert scores(twice) == pytest.approx(scores(alone), abs=2e-4)


def test_two_models_answer_together_whoever_is_named_first(said, babbler, made):
    both = said("--beam=1", "--ensemble", made / "model")
    assert both == said("--beam=1", "--ensemble", babbler, model=made / "model")
    assert both != said("--beam=1")


def test_models_with_other_vocabularies_are_refused(call, babbler, tmp_path):
    from transduce.checkpoint import load_model, save_model
    from transduce.vocabulary import learn_vocabulary

    model = load_model(babbler)
    size = len(model.vocabularies[0])
    other = learn_vocabulary(["other words of another language, unlike the first"] * 99, size=270)
    rows = {name: w[:270] if w.shape[0] == size else w for name, w in model.weights.items()}
    save_model(tmp_path / "other", rows, model.recipe, (other, other), "# Other\n")
    ended = call("translate", babbler, "--ensemble", tmp_path / "other", stdin=LINES)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {tmp_path}/other: its source vocabulary is not that of the first model\n"
        "hint: the models of an ensemble are trained on one prepared corpus\n"
    )


def test_an_ensemble_in_python_is_that_of_the_command_line(said, babbler, made):
    import transduce

    translate = transduce.load(babbler, made / "model").searching(beam=1, extra_length=1)
    lines = LINES.decode().split("\n")[:-1]
    assert translate(lines) == said("--beam=1", "--ensemble", made / "model")


def test_prefix_samples_and_ensemble_go_together_as_json(said, made, tmp_path):
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    options = ("--sample", "--nbest=2", "--ensemble", made / "model", "--prefix", prefixes)
    found = [json.loads(line)["outputs"] for line in said(*options, "--json")]
    assert [len(outputs) for outputs in found] == [2, 1, 2, 2]
    assert all(one["text"].startswith("ein") for one in found[0])
    assert all(one["text"].startswith("wer") for one in found[3])


def test_a_run_that_is_not_over_says_which_step_answers(call, trained, tmp_path):
    source = write(tmp_path / "a", ["the dog"])
    commands = [
        ("translate", trained, source, *FAST),
        ("evaluate", trained, source, source),
        ("likelihood", trained, source, source),
    ]
    assert not any("is not over" in call(*command).stderr for command in commands)
    shutil.rmtree(trained / "checkpoints/step-00000020")
    for command in commands:
        ended = call(*command)
        assert ended.code == 0
        assert f"{trained} is not over: step 19 of 20 answers\n" in ended.stderr
    with (trained / "log.jsonl").open("a") as log:  # as a run that has lost patience says
        log.write('{"event": "finish", "step": 19}\n')
    assert not any("is not over" in call(*command).stderr for command in commands)
    with (trained / "log.jsonl").open("a") as log:  # as one says that was made longer
        log.write('{"event": "resume", "step": 19}\n')
    assert all("is not over" in call(*command).stderr for command in commands)
