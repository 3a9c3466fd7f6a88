"""The survey of heads against loops over the attention records of single pairs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.inference.random_models import (
    SIZES,
    WORDS,
    ensemble_of,
    translator_of_six_heads,
)
from tests.view.attention.samples import make_view
from tests.view.browser import Browser

import transduce
from transduce.errors import InputError
from transduce.mixing import find_mixing
from transduce.paper.model import build_transformer
from transduce.settings import Data
from transduce.tasks import build_task
from transduce.view.attention.attend import record_attention
from transduce.view.attention.survey.survey import (
    HeadSums,
    HeadSurvey,
    SurveyedHead,
    build_survey_page,
)
from transduce.view.attention.tendencies import compute_tendencies
from transduce.vocabulary.vocabulary import Vocabularies

SOURCE = ["the dog sees a cat.", "a woman", "the old red house"]
TARGET = ["a woman who runs", "the dog", "who runs today"]


@pytest.fixture(scope="module")
def translator():
    """A random translator of two layers with three heads."""
    return translator_of_six_heads()


@pytest.fixture(scope="module")
def surveyed(translator):
    return transduce.survey(translator, SOURCE, TARGET)


@pytest.fixture(scope="module")
def views(translator):
    return [record_attention(translator, *pair) for pair in zip(SOURCE, TARGET, strict=True)]


def test_there_is_a_row_for_every_head(surveyed):
    rows = [(one.kind, one.layer, one.head) for one in surveyed.heads]
    kinds = ("encoder", "decoder", "cross")
    assert rows == [(kind, n, h) for kind in kinds for n in (1, 2) for h in (1, 2, 3)]
    assert surveyed.pairs == 3


def test_the_loss_is_that_of_likelihood(translator, surveyed):
    found = list(translator.likelihood(zip(SOURCE, TARGET, strict=True)))
    assert surveyed.loss == pytest.approx(-sum(one.log_prob for one in found) / surveyed.tokens)


def test_entropy_and_distance_are_means_over_all_queries(surveyed, views):
    for one in surveyed.heads:
        entropies, distances = [], []
        for view in views:
            weights = view.weights[one.kind][one.layer - 1, one.head - 1]
            rows, columns = weights.shape
            for q, row in enumerate(weights):
                at = q * (columns - 1) / max(rows - 1, 1) if one.kind == "cross" else q
                distances.append(sum(w * abs(k - at) for k, w in enumerate(row)))
            tendency = compute_tendencies(view)[one.kind][one.layer - 1][one.head - 1]
            entropies += [tendency.entropy] * rows
        assert one.distance == pytest.approx(np.mean(distances), abs=1e-5)
        assert one.entropy == pytest.approx(np.mean(entropies), abs=1e-5)


@pytest.mark.parametrize("count", [3, 5, 8])
def test_a_head_surveyed_by_one_pair_has_the_label_of_its_tendency_there(count):
    view = make_view(["a"] * count, [f"b{n}" for n in range(count)], seed=count)
    for kind, heads in compute_tendencies(view).items():
        sums = HeadSums()
        sums.add(view, kind, heads)
        expected = [[one.label for one in layer] for layer in heads]
        places = [
            [(kind, n, h) for h in range(1, len(layer) + 1)]
            for n, layer in enumerate(heads, start=1)
        ]
        assert [[sums.describe(at, 0.0).tendency for at in row] for row in places] == expected


def test_the_aligned_share_is_the_weight_on_the_links_of_gold(translator, views):
    gold = ["0-0 1p1", "", "3-2"]
    found = transduce.survey(translator, SOURCE, TARGET, gold=gold)
    assert found.alignment == "gold"
    for one in (head for head in found.heads if head.kind == "cross"):
        weights = [view.weights["cross"][one.layer - 1, one.head - 1] for view in views]
        share, count = 0.0, 0
        for number, links in ((0, {0: 0, 1: 1}), (2, {2: 3})):
            ours, theirs = (words_of(text[number]) for text in (SOURCE, TARGET))
            for t, word in enumerate(theirs):
                if word in links:
                    count += 1
                    row = weights[number][t + 1]
                    share += sum(row[s] for s, other in enumerate(ours) if other == links[word])
        assert one.aligned == pytest.approx(share / count, abs=1e-5)


def words_of(text):
    """Return the index of the word of each piece, by the blanks written before its first letter."""
    found, written = [], b""
    for number in WORDS.encode(text):
        piece = WORDS.piece_bytes(number)
        found.append((written + piece[: len(piece) - len(piece.lstrip(b" "))]).count(b" "))
        written += piece
    return found


def test_only_the_first_pairs_are_taken_and_progress_is_told(translator, surveyed):
    told: list[tuple[int, int]] = []
    one = transduce.survey(
        translator, SOURCE, TARGET, pairs=1, on_head=lambda *counts: told.append(counts)
    )
    assert (one.pairs, told[-1]) == (1, (18, 18))
    assert one.loss != surveyed.loss


def test_a_model_without_self_attention_has_heads_to_the_source_only(translator):
    sizes = replace(SIZES, mixing="convolution")
    mixing = find_mixing(sizes)
    model = build_transformer(sizes, len(WORDS), len(WORDS), seed=5, build_mixing=mixing).eval()
    recipe = replace(translator.recipe, architecture=sizes)
    found = transduce.survey(replace(translator, models=(model,), recipe=recipe), SOURCE, TARGET)
    assert {one.kind for one in found.heads} == {"cross"}


def test_what_cannot_be_surveyed_is_refused(translator):
    with pytest.raises(InputError, match="the source has 1 lines, but the target has 2"):
        transduce.survey(translator, ["a"], ["a", "b"])
    with pytest.raises(InputError, match="no pair has text on both sides"):
        transduce.survey(translator, [""], ["a"])
    with pytest.raises(InputError, match="line 1: the gold link 0-9 is of words beyond"):
        transduce.survey(translator, ["a"], ["a"], gold=["0-9"])
    with pytest.raises(InputError, match="gold has fewer lines"):
        transduce.survey(translator, SOURCE, TARGET, gold=["0-0"])
    with pytest.raises(InputError, match="a survey needs one model"):
        transduce.survey(ensemble_of(translator, translator), SOURCE, TARGET)
    tagger = replace(translator, task=build_task(Data(task="tagging"), Vocabularies(WORDS, WORDS)))
    with pytest.raises(InputError, match="gold links are for a model that translates text"):
        transduce.survey(tagger, SOURCE, TARGET, gold=["0-0"] * len(SOURCE))


def test_the_page_holds_the_survey_and_equal_surveys_give_equal_bytes(surveyed, tmp_path):
    pages = [surveyed.write_page(tmp_path / name).read_bytes() for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]
    text = pages[0].decode()
    block = text.split('id="survey">')[1].split("</script>")[0]
    assert json.loads(block) == json.loads(json.dumps(surveyed.as_json()))
    assert "default-src 'none'" in text


@pytest.mark.browser
def test_the_page_shows_every_head_and_sorts_by_a_column(browser: Browser, surveyed: HeadSurvey):
    hostile = replace(
        surveyed, model=replace(surveyed.model, name="</script><img src=x onerror=alert(1)>")
    )
    browser.open_text(build_survey_page(hostile))
    cells = "return [...document.querySelectorAll('#rows tr')].map(r => r.lastChild.textContent)"
    heads: list[SurveyedHead] = sorted(surveyed.heads, key=lambda one: one.loss)
    assert browser.run(cells)[1:] == [f"{one.loss:.4f}" for one in reversed(heads)]
    browser.run("document.querySelectorAll('#rows button')[8].click()")
    assert browser.run(cells)[1:] == [f"{one.loss:.4f}" for one in heads]
    assert browser.run("return document.querySelectorAll('#grids table').length") == 3
    assert browser.run("return document.images.length") == 0


def reads(kind, head, tendency, share, loss, aligned=None):
    return SurveyedHead(kind, 1, head, tendency, share, 1.0, 1.0, aligned, loss)


@pytest.mark.browser
def test_the_page_begins_with_what_stands_out_in_sentences(browser: Browser, surveyed: HeadSurvey):
    heads = (
        *(reads("encoder", 1, "next", 0.6, 0.004), reads("encoder", 2, "next", 0.87, 0.2)),
        *(reads("cross", 1, "mixed", 0.4, 0.9, 0.3), reads("cross", 2, "other", 0.7, 0.1, 0.75)),
    )
    browser.open_text(build_survey_page(replace(surveyed, heads=heads, loss=2.5)))
    said = browser.run("return [...document.querySelectorAll('main li')].map(e => e.textContent)")
    assert said == [
        "Head 1.2 (encoder) reads the next word: 87 % of its weight.",
        "Head 1.2 (encoder–decoder) follows the alignment best: 75 % of its weight lies on "
        "aligned words.",
        "The model itself aligned the words, by layer 1, heads 1,2,3, so these heads follow the "
        "alignment by construction. Gold links (--gold) compare all heads fairly.",
        "Without head 1.1 (encoder–decoder) the loss rises most: by 0.900, from 2.500 nats a "
        "target piece.",
        "1 of 4 heads can be left out alone, and the loss rises by less than 0.01.",
    ]
    equal = tuple(replace(one, aligned=one.aligned and 0.32) for one in heads)
    browser.open_text(build_survey_page(replace(surveyed, heads=equal)))
    said = browser.run("return document.querySelectorAll('main li')[1].textContent")
    assert said == (
        "All 2 encoder–decoder heads follow the alignment alike: 32 % of their weight lies on "
        "aligned words."
    )
