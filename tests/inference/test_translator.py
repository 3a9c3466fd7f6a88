"""A model at work in Python: prefixes, samples, ensembles, in any block the same text."""

import cProfile
import math
from dataclasses import replace

import pytest
from tests.inference.random_models import LINES, SIZES, WORDS, ensemble_of, random_translator

from transduce.errors import InputError
from transduce.inference.lines import Line, encode_line
from transduce.inference.load import TaskModel, choose_ensemble_recipe
from transduce.inference.translator import Translator
from transduce.paper.model import Transformer

TRANSLATE = random_translator()
FREE = TRANSLATE(LINES)


def texts(translator: Translator, lines=LINES, **options):
    return [[one.text for one in outputs] for outputs in translator.nbest_lines(lines, **options)]


def same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert [output.text for output in one] == [output.text for output in other]
        assert [output.log_prob for output in one] == pytest.approx(
            [output.log_prob for output in other], abs=1e-4
        )


def test_a_line_for_a_line_whatever_the_block():
    whole = texts(TRANSLATE, n=2)
    assert [len(outputs) for outputs in whole] == [2, 1, 2, 2, 2]
    assert len({best for best, *_ in whole}) == 5
    for block in (1, 3):
        assert texts(TRANSLATE, n=2, block=block) == whole
    assert [best for best, *_ in whole] == FREE
    assert TRANSLATE(LINES[0]) == whole[0][0]


@pytest.mark.parametrize("beam", [1, 2])
def test_an_output_begins_with_its_prefix_and_the_others_are_free(beam):
    translate = TRANSLATE.searching(beam=beam)
    prefixes = ["the cat", "", "", "who", "  a   red "]
    forced = translate(LINES, prefix=prefixes)
    free = translate(LINES) if beam == 1 else FREE
    assert [forced[n] for n in (1, 2)] == [free[n] for n in (1, 2)]
    begun = (("the cat", forced[0]), ("who", forced[3]), ("a red", forced[4]))
    assert all(output.startswith(prefix) for prefix, output in begun)
    assert not any(free[n].startswith(prefixes[n].strip()) for n in (0, 3, 4))
    assert translate(LINES[0], prefix="the cat") == forced[0]
    assert [outputs[0] for outputs in texts(translate, prefixes=prefixes, block=2)] == forced


def test_a_prefix_of_nothing_changes_nothing():
    assert TRANSLATE(LINES, prefix=[""] * 5) == FREE


def test_the_score_of_a_forced_output_is_the_model_s_own():
    ((found,),) = TRANSLATE.nbest_lines(["a dog"], prefixes=["who"])
    (given,) = TRANSLATE.likelihood([("a dog", found.text)])
    assert WORDS.decode(WORDS.encode(found.text)) == found.text
    assert found.log_prob <= given.log_prob + 1e-4  # its own pieces may be others


def test_a_long_line_s_prefix_begins_its_first_sentence():
    line = "The dog sees a cat and a woman. A man runs now."
    narrow = random_translator(longest=16)
    assert len(encode_line(Line(1, line), narrow.task, narrow.recipe, strict=True).sources) == 2
    forced, free = narrow(line, prefix="who"), narrow(line)
    assert forced.startswith("who")
    assert forced != free
    assert forced.endswith(narrow("A man runs now."))
    assert free.endswith(narrow("A man runs now."))


def test_a_prefix_for_an_empty_line_is_refused():
    with pytest.raises(InputError) as error:
        TRANSLATE(["a", ""], prefix=["", "who"])
    assert str(error.value) == (
        "line 2: its text is empty, but its prefix is not\nhint: an empty line has an empty output"
    )
    assert TRANSLATE([""], prefix=[""]) == [""]


def test_a_prefix_that_the_output_cannot_hold_is_refused_and_the_hint_helps():
    pieces = len(WORDS.encode("xxxxxxxxxxx"))
    with pytest.raises(InputError) as error:
        TRANSLATE(["a"], prefix=["xxxxxxxxxxx"])
    most = len(WORDS.encode("a")) + 3
    assert str(error.value) == (
        f"line 1: its prefix has {pieces} pieces, and its output at most {most}\n"
        f"hint: raise search.extra_length (extra_length) to {3 + pieces - most} or more"
    )
    longer = TRANSLATE.searching(extra_length=3 + pieces - most)
    assert longer(["a"], prefix=["xxxxxxxxxxx"]) == ["xxxxxxxxxxx"]


@pytest.mark.parametrize(
    ("lines", "prefixes", "fact"),
    [
        (2, 1, "the prefixes end after line 1, but the input goes on"),
        (1, 3, "the input ends after line 1, but the prefixes go on"),
    ],
)
def test_another_count_of_prefixes_is_refused(lines, prefixes, fact):
    with pytest.raises(InputError) as error:
        TRANSLATE(["a"] * lines, prefix=["a"] * prefixes)
    assert str(error.value).startswith(f"{fact}\nhint: one prefix a line; an empty one leaves")


def test_a_sample_is_the_same_in_any_block_and_batch_and_beside_other_samples():
    drawing = TRANSLATE.sampling(seed=5, temperature=0.9)
    whole = texts(drawing, n=3)
    assert texts(drawing, n=3, block=1) == whole
    assert texts(drawing.searching(batch_size=2), n=3, block=4) == whole
    assert texts(drawing, n=1) == [outputs[:1] for outputs in whole]
    assert len({text for outputs in whole for text in outputs}) > 10
    assert texts(drawing.sampling(seed=6), n=3) != whole
    assert texts(drawing.sampling(seed=6).sampling(seed=5), n=3) == whole


def test_equal_lines_and_the_sentences_of_a_line_are_drawn_apart():
    drawing = random_translator(longest=16).sampling()
    first, second = drawing(["a woman"] * 2)
    assert first != second
    sentence = "The dog sees a cat and a man now."
    assert (
        len(
            encode_line(
                Line(1, f"{sentence} {sentence}"), drawing.task, drawing.recipe, strict=True
            ).sources
        )
        == 2
    )
    line = drawing(f"{sentence} {sentence}")
    assert line[: len(line) // 2] != line[-(len(line) // 2) :]


def test_drawing_the_likeliest_is_greedy_search():
    assert TRANSLATE.sampling(top_k=1)(LINES) == TRANSLATE.searching(beam=1)(LINES)


def test_samples_begin_with_their_prefixes():
    drawing = TRANSLATE.sampling()
    for outputs in drawing.nbest_lines(["a dog"] * 5, n=4, prefixes=["who"] * 5):
        assert len({one.text for one in outputs}) > 1
        assert all(one.text.startswith("who") for one in outputs)


def test_the_best_outputs_have_different_texts_and_are_as_many_as_the_beam_finds():
    wide = replace(random_translator(), strict=True).searching(beam=8)
    texts = WORDS.decode  # several outputs of bytes that are no UTF-8 have one text
    assert texts([250]) == texts([251])
    outputs = [wide.nbest("who runs now", n) for n in (8, 3)]
    found = [[one.text for one in some] for some in outputs]
    assert len(set(found[0])) == len(found[0])
    assert found[1] == found[0][:3]


def test_one_model_twice_is_the_model_alone():
    same(
        ensemble_of(TRANSLATE, TRANSLATE).nbest_lines(LINES, n=2),
        TRANSLATE.nbest_lines(LINES, n=2),
    )


def test_two_models_give_each_output_the_mean_of_their_probabilities():
    other = random_translator(2)
    both = ensemble_of(TRANSLATE, other)
    assert both(LINES) not in (FREE, other(LINES))
    pair = ("a dog", "")
    alone = [next(one.likelihood([pair])).log_prob for one in (TRANSLATE, other)]
    (given,) = both.likelihood([pair])
    mean = math.log(sum(map(math.exp, alone)) / 2)
    assert given.log_prob == pytest.approx(mean, abs=1e-5)
    assert ensemble_of(other, TRANSLATE)(LINES) == both(LINES)


def test_the_members_of_an_ensemble_share_the_smallest_limit_and_the_first_one_s_search():
    members = [
        TaskModel(one.models[0], one.task, one.recipe, "")
        for one in (random_translator(longest=24).searching(beam=3), random_translator(longest=10))
    ]
    recipe = choose_ensemble_recipe(members)
    assert (recipe.data.max_length, recipe.search) == (10, members[0].recipe.search)


def test_a_search_that_goes_beyond_the_positions_of_one_member_is_refused():
    sizes = replace(SIZES, positions="learned", max_positions=30)
    short = Transformer(sizes, len(WORDS), len(WORDS))
    both = replace(TRANSLATE, models=(*TRANSLATE.models, short))
    assert both.searching(extra_length=6).recipe.search.extra_length == 6
    with pytest.raises(InputError, match="only 30 learned positions"):
        both.searching(extra_length=50)


def test_a_translator_is_shown_in_a_line():
    data = TRANSLATE.recipe.data
    said = f"<{TRANSLATE.recipe.name}: {data.source_language} to {data.target_language}>"
    assert repr(TRANSLATE) == said
    assert repr(ensemble_of(TRANSLATE, TRANSLATE)) == f"{said[:-1]}, 2 models>"


@pytest.mark.usefixtures("unchecked_types")
def test_an_empty_line_costs_few_calls():
    translator, profile = random_translator(), cProfile.Profile()
    profile.enable()
    outputs = list(translator.nbest_lines([""] * 1_000))
    profile.disable()
    assert {best[0].text for best in outputs} == {""}
    calls = sum(one.callcount for one in profile.getstats())
    assert calls < 110_000  # there were 217,000
