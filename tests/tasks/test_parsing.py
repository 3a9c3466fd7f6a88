"""Parsing as a task: sentences to trees over exactly their words, from files to scores."""

import pytest
import torch
from tests.cli.treebank import SETTINGS
from tests.datasets.made_trees import write_penn_treebank

import transduce
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.recipes import by_name
from transduce.runs.texts import TaskFiles
from transduce.settings import Data, Search
from transduce.settings.recipe import with_changes
from transduce.tasks import build_task
from transduce.tasks.parsing import (
    PARSING,
    build_parsing,
    list_tagged_words,
    list_target_symbols,
    to_tree,
)
from transduce.text.trees.brackets import format_tree
from transduce.text.trees.linearise import FORMS
from transduce.vocabulary import END
from transduce.vocabulary.learn import learn_closed_list, learn_vocabulary
from transduce.vocabulary.tag_lexicon import learn_tag_lexicon
from transduce.vocabulary.vocabulary import Vocabularies

TREE = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))"
WORDS = "The dog barks ."
TINY = {**SETTINGS, "search.beam": 4}


@pytest.fixture
def task():
    data = Data(task="parsing", shared_vocabulary=False, vocabulary_size=300)
    symbols = learn_closed_list([["(S", "(NP", "(VP", "XX", ")VP", ")NP", ")S"]])
    lexicon = learn_tag_lexicon([[("The", "DT"), ("dog", "NN"), (".", "."), ("barks", "VBZ")]])
    return build_task(data, Vocabularies(learn_vocabulary([WORDS] * 3, 262), symbols, lexicon))


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("penn")
    write_penn_treebank(folder)
    return folder


@pytest.fixture(scope="module")
def run(treebank, tmp_path_factory):
    """A run of a few updates on the sections of a made treebank."""
    folder = tmp_path_factory.mktemp("parser") / "run"
    return transduce.train(folder, treebank, recipe="table4/wsj", settings=TINY)


def test_a_tree_is_encoded_as_symbols_and_comes_back_with_its_words_and_tags(task):
    (ids,) = task.encode_targets([TREE])
    assert [task.target.symbols[number] for number in ids[:-1]] == [
        "(S", "(NP", "XX", "XX", ")NP", "(VP", "XX", ")VP", "XX", ")S",
    ]  # fmt: skip
    assert ids[-1] == END
    assert task.decode(ids[:-1], WORDS) == TREE
    assert task.find_fault(ids[:-1], WORDS) == ""


def test_a_label_that_training_lacked_cannot_be_encoded(task):
    assert task.encode_targets(["(TOP (SINV (NN x)))"]) == [None]


def test_a_malformed_output_is_repaired_over_all_words_and_told(task):
    (ids,) = task.encode_targets([TREE])
    cut = ids[:3]
    assert to_tree(task.decode(cut, WORDS)).words == tuple(WORDS.split())
    assert task.find_fault(cut, WORDS).startswith("a malformed tree, repaired: ")


def test_words_are_what_ascii_blanks_separate_and_brackets_are_escaped(task):
    line = task.normalise(" a\u00a0b \t (c) ")
    assert line == "a\u00a0b (c)"
    tree = to_tree(task.fallback(line))
    assert tree.words == ("a\u00a0b", "-LRB-c-RRB-")
    assert task.constraint(line, Search(extra_length=300)).words == 2
    assert task.constraint(line, Search(extra_length=300)).limit == 303


def test_a_word_of_invisible_characters_still_has_a_piece(task):
    (ids,) = task.encode_sources(["\u200b dog"])
    (one,) = task.encode_sources(["dog"])
    assert len(ids) > len(one) >= 2


def test_trees_in_memory_may_be_raw(task):
    raw = "( (S (NP-SBJ (-NONE- *)) (NP (DT The) (NN dog)) (VP=2 (VBZ barks)) (. .)))"
    assert task.encode_targets([raw]) == task.encode_targets([TREE])


def test_its_score_is_labelled_f1_with_the_tags_of_the_reference(task):
    wrong_tags = TREE.replace("(. .)", "(NN .)")
    assert task.score([wrong_tags], [TREE]).value == 100
    assert task.score(["(TOP (S (DT The) (NN dog) (VBZ barks) (. .)))"], [TREE]).value == 50


def test_a_penn_treebank_is_read_by_its_sections(run, treebank):
    train = TaskFiles(treebank, PARSING, "train")
    assert len(list(train.read())) == 300
    assert run.recipe.data.task == "parsing"
    assert (run.folder / "tags.json").exists()


def test_a_barely_trained_parser_gives_only_well_formed_trees_over_the_words(run, tmp_path):
    parser = load(transduce.average(run, tmp_path / "model"))
    sentences = ["the dog saw a bank .", "Acme", "he sold every new share quickly , in London ."]
    trees = parser(sentences)
    assert [tree.words for tree in trees] == [tuple(one.split()) for one in sentences]
    assert all(output.log_prob < 0 for output in parser.nbest(sentences[0], 3))
    assert parser("") is None
    sampled = parser.sampling(seed=3)(sentences)
    assert [tree.words for tree in sampled] == [tree.words for tree in trees]


def test_it_is_evaluated_on_one_file_of_trees(run, treebank):
    found = transduce.evaluate(run.folder, str(treebank))
    assert [score.name for score in found.scores] == ["bracket F1"]
    assert "tags:reference" in found.scores[0].signature
    assert found.perplexity.words == 0  # brackets are not words
    assert len(found.outputs) == 50


def test_a_sentence_too_long_for_the_model_becomes_a_flat_tree_with_a_warning(run):
    heard: list[object] = []
    short = load(run.folder, on_warning=heard.append)
    long = " ".join(["dog"] * 600)
    first, second = short([long, "the dog saw ."])
    assert first.labels == ("S",)
    assert len(first.words) == 600
    assert second.words == ("the", "dog", "saw", ".")
    assert [str(warning)[:7] for warning in heard] == ["line 1:"]


def test_an_unconstrained_search_is_repaired_and_counted(run):
    heard: list[object] = []
    free = load(run.folder, on_warning=heard.append).searching(constrained=False, extra_length=5)
    assert free("the dog saw a bank .").words == ("the", "dog", "saw", "a", "bank", ".")
    assert "malformed" in str(heard[0])


def test_trees_need_a_recipe_of_parsing(tmp_path, treebank):
    with pytest.raises(InputError, match="another task, and the recipe is for translation"):
        transduce.prepare(tmp_path / "p", TaskFiles(treebank, PARSING), recipe="tiny")


def test_the_recipe_of_the_paper_is_a_parser():
    recipe = by_name("table4/wsj")
    assert (recipe.data.task, recipe.search.beam) == ("parsing", 21)
    assert with_changes(recipe, {"data.linearisation": "t2t"}).data.linearisation == "t2t"
    assert format_tree(to_tree(TREE)) == TREE


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The dog barks", "a tree over 4 words for a sentence of 3"),
        ("The cat barks .", "word 2 is dog in the tree and cat in the sentence"),
    ],
)
def test_a_tree_over_other_words_than_the_sentence_is_refused_with_its_line(
    run, tmp_path, sentence, fact
):
    with pytest.raises(InputError, match=f"train: item 2: {fact}"):
        transduce.train(tmp_path / "r", [(WORDS, TREE), (sentence, TREE)], recipe="craft")
    with pytest.raises(InputError, match=f"line 2: {fact}"):
        list(load(run.folder).likelihood([(WORDS, TREE), (sentence, TREE)]))
    with pytest.raises(InputError, match=f"line 1: {fact}"):
        transduce.evaluate(run.folder, [sentence], [TREE])


def test_labels_that_training_lacked_are_counted_by_evaluation(run):
    found = transduce.evaluate(run.folder, [WORDS, WORDS], [TREE, TREE.replace("NP", "SINV")])
    assert found.unknown_labels == {"(SINV": 1, ")SINV": 1}
    assert found.left_out == 1


def test_trees_of_a_test_set_may_not_be_malformed(run, tmp_path):
    (tmp_path / "t").write_text(f"{TREE}\n(S (X))\n{TREE}\n")
    with pytest.raises(InputError, match="t, line 2, column 4: an empty constituent"):
        transduce.evaluate(run.folder, tmp_path / "t")


def test_a_sentence_with_brackets_belongs_to_a_tree_that_escapes_them(task):
    assert PARSING.find_mismatch("( x )", task.fallback("( x )")) == ""


@pytest.mark.parametrize("form", FORMS)
def test_every_linearisation_comes_back_and_is_searched_with_its_constraint(form):
    data = Data(task="parsing", linearisation=form, shared_vocabulary=False)
    symbols = learn_closed_list([list_target_symbols(data, TREE)])
    lexicon = learn_tag_lexicon([list_tagged_words(TREE)])
    vocabularies = Vocabularies(learn_vocabulary([WORDS] * 3, 262), symbols, lexicon)
    task = build_parsing(data, vocabularies)
    (ids,) = task.encode_targets([TREE])
    assert ids is not None
    assert task.decode(ids[:-1], WORDS) == TREE
    constraint = task.constraint(WORDS, Search())
    state = constraint.start_batch([constraint], torch.device("cpu"))
    for symbol in ids:
        assert state.allowed(len(symbols))[0, symbol], symbols.symbols[symbol]
        state = state.advance(torch.tensor([symbol]))
