"""Figures of the paper from records, and the heads that show their effects."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from transduce.errors import InputError
from transduce.view.attention.figures import (
    FIGURES,
    RankedHeads,
    choose_heads,
    count_strong,
    draw_paper_figure,
    join_encoder_words,
    rank_heads,
)
from transduce.view.attention.record import AttentionView, ModelName, read_sequence
from transduce.vocabulary import END
from transduce.vocabulary.learn import learn_vocabulary

VOCABULARY = learn_vocabulary([figure.text for figure in FIGURES.values()] * 3, 300)
LAYERS, HEADS = (1, 2), 8
PAPER_WORDS = {  # as they stand in the paper's pictures, without its marks of end and padding
    3: "It is in this spirit that a majority of American governments have passed new laws since "
    "2009 making the registration or voting process more difficult .",
    4: "The Law will never be perfect , but its application should be just - this is what we are "
    "missing , in my opinion .",
}


def view_of(number, heads=HEADS):
    """A record of a figure's sentence in which every position reads all equally."""
    ids = [*VOCABULARY.encode(FIGURES[number].text), END]
    source = read_sequence(VOCABULARY, ids, is_tokenised=False)
    shape = (len(LAYERS), heads, len(ids), len(ids))
    return AttentionView(
        model=ModelName("tiny", "", layers=len(LAYERS), heads=heads),
        task="translation",
        source=source,
        input=source,
        output=source,
        layers=LAYERS,
        weights={"encoder": np.full(shape, 1 / len(ids), dtype=np.float32)},
        steps=(),
        is_given=True,
    )


def read_only(view, layer, head, reader, *words):
    """Make a head's word read the first pieces of some words, all equally."""
    rows = {word.text: word for word in view.source.words}
    query, weights = rows[reader], view.head("encoder", layer, head)
    weights[query.first : query.last + 1] = 0
    for word in words:
        weights[query.first : query.last + 1, rows[word].first] = 1 / len(words)


def panels(svg):
    root = ElementTree.fromstring(svg)
    return [g for g in root if (g.get("transform") or "").startswith("translate(0")]


def strokes(panel):
    """The colours of the lines, without the white rims of words."""
    found = (group.get("stroke") for group in panel.iter())
    return [colour for colour in found if colour not in (None, "#ffffff")]


def lines(panel):
    return [line for line in panel.iter() if line.tag.endswith("}line")]


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_words_are_those_of_the_paper(number):
    words = PAPER_WORDS[3 if number == 3 else 4].split()
    assert [word.text for word in view_of(number).source.words] == [*words, "</s>"]


def test_figure_3_shows_all_heads_of_one_word():
    view = view_of(3)
    read_only(view, 2, 6, "making", "more", "difficult")
    (panel,) = panels(draw_paper_figure(view, FIGURES[3], 2))
    assert {line.get("x1") for line in lines(panel)} == {str(15 * 18 + 7.5)}  # position 18, from 1
    assert len(strokes(panel)) == 8
    strong = [line for line in lines(panel) if line.get("stroke-opacity") == "0.500"]
    assert len(strong) == 2


def test_figure_4_shows_one_head_of_all_words_and_two_heads_of_its():
    above, below = panels(draw_paper_figure(view_of(4), FIGURES[4], 1))
    assert strokes(above) == ["#9467bd"]
    assert strokes(below) == ["#9467bd", "#8c564b"]
    assert len({line.get("x1") for line in lines(above)}) == 26
    assert {line.get("x1") for line in lines(below)} == {str(15 * 9 + 7.5)}  # position 9


def test_figure_5_shows_two_heads_below_each_other_and_others_if_asked():
    drawn = panels(draw_paper_figure(view_of(5), FIGURES[5], 1))
    assert [strokes(panel) for panel in drawn] == [
        ["#2ca02c"],
        ["#d62728"],
    ]
    drawn = panels(draw_paper_figure(view_of(5), FIGURES[5], 1, (1,)))
    assert [strokes(panel) for panel in drawn] == [["#1f77b4"]]


def test_weights_of_pieces_are_joined_to_words_before_drawing():
    view = view_of(3)
    joined = join_encoder_words(view)
    assert joined.weights.shape == (2, 8, len(view.source.words), len(view.source.words))
    np.testing.assert_allclose(joined.weights.sum(axis=-1), 1, atol=1e-5)
    assert len(view.source.pieces) > len(view.source.words)


def test_heads_are_ranked_by_the_weight_on_the_words_of_figure_3():
    view = view_of(3)
    for head in (1, 2, 3, 4):
        read_only(view, 2, head, "making", "more", "difficult")
    read_only(view, 1, 8, "making", "laws")
    ranked = rank_heads(join_encoder_words(view), FIGURES[3], view.layers)
    assert ranked[:4] == [RankedHeads(2, (head,), 1.0) for head in (1, 2, 3, 4)]
    assert ranked[-1] == RankedHeads(1, (8,), 0.0)
    assert count_strong(ranked) == {1: 0, 2: 4}
    assert choose_heads(ranked, FIGURES[3]) == (2, ())


def test_figure_4_takes_the_two_heads_of_one_layer_that_read_law_and_application():
    view = view_of(4)
    read_only(view, 1, 7, "its", "Law")
    read_only(view, 1, 2, "its", "Law", "application", "we")
    ranked = rank_heads(join_encoder_words(view), FIGURES[4], view.layers)
    assert ranked[0] == RankedHeads(1, (7,), 1.0)
    assert ranked[1].strength == pytest.approx(2 / 3)
    assert choose_heads(ranked, FIGURES[4]) == (1, (7, 2))


def test_figure_5_takes_the_two_heads_that_differ_most():
    view = view_of(5)
    for head, key in ((3, 0), (6, 9)):
        view.head("encoder", 2, head)[:] = np.eye(len(view.source.pieces))[key]
    ranked = rank_heads(join_encoder_words(view), FIGURES[5], view.layers)
    assert (ranked[0].layer, ranked[0].heads) == (2, (3, 6))
    assert ranked[0].strength == pytest.approx(1)
    assert choose_heads(ranked, FIGURES[5]) == (2, (3, 6))


def test_figure_5_of_a_model_with_one_head_is_refused():
    with pytest.raises(InputError, match="Figure 5 compares two heads of a layer"):
        rank_heads(join_encoder_words(view_of(5, heads=1)), FIGURES[5], LAYERS)


def test_a_record_of_some_layers_has_the_figures_of_these_alone():
    view = view_of(3)
    some = view.select_layers([2])
    assert draw_paper_figure(some, FIGURES[3], 2) == draw_paper_figure(view, FIGURES[3], 2)
    with pytest.raises(InputError, match="there is no layer 1"):
        draw_paper_figure(some, FIGURES[3], 1)


def test_layers_heads_and_words_that_do_not_exist_are_refused():
    with pytest.raises(InputError, match="there is no layer 5 of the encoder here, but 1, 2"):
        draw_paper_figure(view_of(3), FIGURES[3], 5)
    with pytest.raises(InputError, match="there is no head 5: this model has 4"):
        draw_paper_figure(view_of(4, heads=4), FIGURES[4], 1)
    other = replace(FIGURES[3], word="dog")
    with pytest.raises(InputError, match="the text has no word 'dog'"):
        draw_paper_figure(view_of(3), other, 1)


def test_a_model_without_self_attention_is_refused():
    with pytest.raises(InputError, match="no self-attention"):
        draw_paper_figure(replace(view_of(3), weights={}), FIGURES[3], 1)
