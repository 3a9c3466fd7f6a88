"""transduce parse: sentences in, trees over exactly their words out."""

import json

import pytest
from tests.cli.treebank import train, write_treebank

from transduce.tasks.parsing import to_tree

SENTENCES = "the dog saw a bank .\n\nAcme (  never ) sold\n"


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_treebank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def parser(bank):
    return train(bank, "craft", "trees")


@pytest.fixture
def parse(call, parser):
    """Parse three lines, the second of them empty."""
    return lambda *options, text=SENTENCES: call("parse", parser, *options, stdin=text.encode())


def words_of(tree):
    return " ".join(to_tree(tree).words)


def test_a_sentence_a_line_in_and_a_tree_over_its_words_a_line_out(parse):
    ended = parse()
    assert (ended.code, ended.stderr) == (0, "")
    first, second, third, end = ended.stdout.split("\n")
    assert words_of(first) == "the dog saw a bank ."
    assert words_of(third) == "Acme -LRB- never -RRB- sold"
    assert second == end == ""
    assert "(DT the)" in first


def test_a_file_in_and_a_file_out_give_the_same_trees(parse, call, parser, tmp_path):
    (tmp_path / "in").write_text(SENTENCES)
    ended = call("parse", parser, tmp_path / "in", "-o", tmp_path / "out")
    assert (ended.code, ended.stdout) == (0, "")
    assert (tmp_path / "out").read_text() == parse().stdout
    ended = call("parse", parser, tmp_path / "in", "-o", tmp_path / "two", "--workers", "2")
    assert ended.code == 0
    assert (tmp_path / "two").read_text() == parse().stdout


def test_tags_of_a_file_or_of_columns_stand_in_the_trees(call, parser, bank):
    one = call("parse", parser, bank / "dev.txt", "--tags", bank / "dev.tags").stdout
    other = call("parse", parser, bank / "dev.pos", "--columns").stdout
    assert one == other
    tags = [" ".join(to_tree(tree).tags) for tree in one.splitlines()]
    assert tags == (bank / "dev.tags").read_text().splitlines()


def test_words_of_a_line_with_tags_are_what_ascii_blanks_separate(call, parser, tmp_path):
    (tmp_path / "in").write_text("5\u00a0mg dog\n")
    (tmp_path / "tags").write_text("CD ( \n")
    ended = call("parse", parser, tmp_path / "in", "--tags", tmp_path / "tags")
    tree = to_tree(ended.stdout)
    assert (tree.words, tree.tags) == (("5\u00a0mg", "dog"), ("CD", "-LRB-"))


@pytest.mark.parametrize(
    ("tags", "error"),
    [
        ("DT NN\nX\n", "tags, line 1: 2 tags for a sentence of 3 words\nhint: --tags has a line"),
        ("DT NN X\n", "{tags} ends before line 2\nhint: give a line of tags a sentence"),
        ("DT NN X\nX\nX\n", "the input ends before line 3\nhint: "),
    ],
)
def test_tags_that_do_not_fit_are_refused_and_nothing_is_written(
    call, parser, tmp_path, tags, error
):
    (tmp_path / "in").write_text("the dog saw\nAcme\n")
    (tmp_path / "tags").write_text(tags)
    files = [tmp_path / "in", "--tags", tmp_path / "tags"]
    ended = call("parse", parser, *files, "-o", tmp_path / "out")
    assert ended.code == 2
    assert error.format(tags=tmp_path / "tags") in ended.stderr
    assert not (tmp_path / "out").exists()


def test_raw_text_is_tokenised_on_request(parse):
    tree = parse("--tokenise", text='He didn\'t see it, "Acme".\n').stdout
    assert words_of(tree) == "He did n't see it , `` Acme '' ."


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (
            "the dog saw.",
            "ends in 'saw.', and words are separated by spaces; --tokenise splits raw text",
        ),
        ("dog\tNN", "has a tab, as in a file of labels, and each line is taken for a sentence"),
        ("(S (NN dog))", "begins like a tree, and its brackets are taken for words"),
    ],
)
def test_what_is_no_line_of_words_is_noted_once(parse, line, note):
    ended = parse(text=f"the dog .\n{line}\n{line}\n")
    assert (ended.code, len(ended.stdout.splitlines())) == (0, 3)
    assert ended.stderr == f"note: line 2 {note}\n"


def test_json_is_an_object_a_line_with_trees_best_first(parse):
    rows = [json.loads(line) for line in parse("--json", "--nbest", "2").stdout.splitlines()]
    assert [row["line"] for row in rows] == [1, 2, 3]
    first, second = rows[0]["outputs"]
    assert words_of(first["text"]) == words_of(second["text"])
    assert first["score"] >= second["score"]
    assert rows[1]["outputs"] == [{"text": "", "score": 0.0, "log_prob": 0.0}]


def test_nbest_trees_are_columns_of_number_score_probability_and_tree(parse):
    rows = [line.split("\t") for line in parse("--nbest", "2").stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3"]
    assert words_of(rows[1][3]) == "the dog saw a bank ."


def test_pretty_trees_are_the_same_trees_with_blank_lines_between(parse):
    plain, pretty = parse().stdout, parse("--pretty").stdout
    first, second, third = pretty.split("\n\n")[0], "", pretty.strip().split("\n\n")[-1]
    found = [" ".join(one.split()) for one in (first, second, third)]
    assert [one.replace(" ", "") for one in found] == [
        one.replace(" ", "") for one in plain.splitlines()
    ]
    assert pretty.endswith("\n\n")


def test_drawings_are_files_numbered_as_the_lines(parse, tmp_path):
    assert parse("--svg", tmp_path / "svg").code == 0
    assert sorted(path.name for path in (tmp_path / "svg").iterdir()) == ["1.svg", "3.svg"]
    assert "never" in (tmp_path / "svg" / "3.svg").read_text()


def test_drawings_are_not_written_into_a_model(parse, parser):
    before = sorted(parser.iterdir())
    ended = parse("--svg", parser)
    assert (ended.code, "another file would damage it" in ended.stderr) == (2, True)
    assert sorted(parser.iterdir()) == before


def test_an_unconstrained_search_is_repaired_told_and_counted(parse):
    ended = parse("--unconstrained", "--extra-length", "5")
    assert [words_of(tree) for tree in ended.stdout.splitlines() if tree] == [
        "the dog saw a bank .",
        "Acme -LRB- never -RRB- sold",
    ]
    *each, total = ended.stderr.splitlines()
    assert [one[:34] for one in each] == [
        f"warning: line {number}: a malformed tree,"[:34] for number in (1, 3)
    ]
    assert total == "warning: 2 lines have malformed outputs: repaired"


def test_ten_of_many_malformed_trees_are_named_and_all_are_counted(parse):
    ended = parse("--unconstrained", "--extra-length", "5", text="the dog saw a bank .\n" * 12)
    *each, total = ended.stderr.splitlines()
    assert [one.split(":")[1] for one in each] == [f" line {n}" for n in range(1, 11)]
    assert (
        total == "warning: 12 lines have malformed outputs: repaired; only the first 10 are named"
    )


def test_a_sentence_too_long_is_a_flat_tree_counted_and_the_others_go_on(parse):
    text = "dog " * 1_100 + "\nthe dog\n"
    ended = parse("--json", text=text)
    first, second = [json.loads(line)["outputs"][0] for line in ended.stdout.splitlines()]
    assert first["text"] == f"(TOP (S {'(NN dog) ' * 1_100}".strip() + "))"
    assert (first["score"], first["log_prob"]) == (None, None)
    assert words_of(second["text"]) == "the dog"
    assert ended.stderr.splitlines() == [
        "warning: line 1: a sentence of 1,101 pieces, and this model takes 1,024; not searched",
        "warning: 1 line is longer than the model takes: a flat tree stands for each; "
        "--strict refuses such lines",
    ]
    strict = parse("--strict", text=text)
    assert strict.code == 2
    assert strict.stderr.startswith("error: line 1: a sentence of 1,101 pieces")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--pretty", "--json"), "--pretty and --json are two formats"),
        (("--tags", "x", "--columns"), "--columns has the tags"),
        (("--tokenise", "--columns"), "--tokenise is for raw text, which has no tags"),
        (("--tags", "-"), "standard input can be one of the files only"),
        (("--nbest", "3"), "--nbest 3 asks for more outputs than the beam of 2 holds"),
    ],
)
def test_options_that_contradict_are_refused(parse, options, error):
    ended = parse(*options)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {error}\nhint: ")


def test_a_model_that_translates_is_no_parser(call, model):
    ended = call("parse", model, stdin=b"a dog\n")
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {model}: `transduce parse` needs a model that parses, and this one's task is "
        "translation\nhint: `transduce translate` uses this model\n"
    )


def test_a_baseline_of_labels_is_for_taggers(call, parser, bank):
    ended = call("evaluate", parser, bank / "test.trees", "--baseline", bank / "train.pos")
    assert ended.code == 2
    assert ended.stderr == (
        "error: a baseline of most frequent labels needs a model that tags, and this one's task is "
        "parsing\nhint: `transduce parse` uses this model\n"
    )


def test_an_evaluation_counts_gold_labels_that_training_lacked(call, parser, bank, tmp_path):
    trees = (bank / "test.trees").read_text().replace("(PRP ", "(XYZ ").replace("NP-SBJ", "NEW", 1)
    (tmp_path / "gold").write_text(trees)
    ended = call("evaluate", parser, tmp_path / "gold", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "tags:reference" in ended.stdout
    assert ended.stdout.endswith(
        "  without 1 line that is longer than data.max_length or has labels that training "
        "lacked\n  2 gold labels that training lacked, each an error: (NEW 1, )NEW 1\n"
    )
    assert len((tmp_path / "out").read_text().splitlines()) == 6
    found = json.loads(call("evaluate", parser, tmp_path / "gold", "--json").stdout)
    assert found["unknown_labels"] == {"(NEW": 1, ")NEW": 1}


def test_the_likelihood_of_a_tree_is_that_of_its_search(call, parser, bank, tmp_path):
    outputs = call("parse", parser, bank / "dev.txt", "--nbest", "2", "--beam", "2").stdout
    best = [line.split("\t") for line in outputs.splitlines()][::2]
    (tmp_path / "trees").write_text("".join(f"{row[3]}\n" for row in best))
    rows = call("likelihood", parser, bank / "dev.txt", tmp_path / "trees").stdout.splitlines()
    found = [float(row.split("\t")[0]) for row in rows]
    assert found == pytest.approx([float(row[1]) for row in best], abs=1e-3)


@pytest.mark.parametrize("bad", ["", "(S (NN a)", "a"])
def test_a_bad_tree_beside_its_sentence_is_refused_with_its_side_and_line(
    call, parser, tmp_path, bad
):
    (tmp_path / "text").write_text("a b\na\n")
    (tmp_path / "trees").write_text(f"(TOP (S (NN a) (NN b)))\n{bad}\n")
    ended = call("likelihood", parser, tmp_path / "text", tmp_path / "trees")
    assert ended.code == 2
    assert ended.stderr.startswith("error: line 2, target: ")
    assert "line 1" not in ended.stderr


@pytest.mark.parametrize(
    ("trees", "error"),
    [
        ("(S (NN a)\n", "line 1, column 1: this bracket is not closed"),
        ("( (S (X)))\n", "line 1, column 6: an empty constituent"),
        ("", "has no test sentence"),
    ],
)
def test_a_bad_file_of_trees_is_one_sentence_with_its_place(call, parser, tmp_path, trees, error):
    (tmp_path / "gold").write_text(trees)
    ended = call("evaluate", parser, tmp_path / "gold", "-o", tmp_path / "out")
    assert ended.code == 2
    assert ended.stderr.startswith("error: ")
    assert error in ended.stderr.splitlines()[0]
    assert not (tmp_path / "out").exists()


def test_trees_left_out_of_the_training_data_are_counted_with_their_place(call, bank, tmp_path):
    trees = (bank / "train.trees").read_text()
    (tmp_path / "trees").write_text(f"( (S (X)))\n{trees}")
    options = ["--set", "data.vocabulary_size=300", "-o", tmp_path / "store"]
    ended = call("prepare", "craft", "--trees", tmp_path / "trees", *options)
    assert ended.code == 0
    assert (
        "train: 61 trees read, 60 kept\n  left out, no tree, or a tree without words: 1\n"
        in ended.stderr
    )
    assert "    line 1:  | trees, line 1, column 6: an empty const" in ended.stderr


def test_plain_text_is_no_file_of_trees(call, tmp_path):
    (tmp_path / "plain").write_text("A dog runs.\nA cat sleeps.\n")
    ended = call("train", "--trees", tmp_path / "plain", "-o", tmp_path / "run")
    assert (ended.code, ended.stderr) == (
        2,
        "error: no tree is left of 1, all were left out (plain, line 1, column 1: text outside of "
        "brackets: A)\nhint: are these the right files? --trees FILE_OR_FOLDER\n",
    )


def test_trees_for_validation_with_unknown_labels_are_counted_and_refused_if_none_is_left(
    call, bank, tmp_path
):
    known = (bank / "dev.trees").read_text()
    files = ["--trees", bank / "train.trees", "--dev-trees", tmp_path / "dev"]
    options = ["--set", "data.vocabulary_size=300", "-o", tmp_path / "store"]
    (tmp_path / "dev").write_text(known.replace("(S ", "(NEW "))
    ended = call("prepare", "craft", *files, *options)
    assert ended.code == 2
    assert "nothing is left of 6: 6 have labels that the training data lack\n" in ended.stderr
    (tmp_path / "dev").write_text(known + known.replace("(S ", "(NEW "))
    ended = call("prepare", "craft", *files, *options)
    assert ended.code == 0
    assert "dev: 12 trees read, 6 kept\n  left out, a label that training lacks: 6\n" in (
        ended.stderr
    )
