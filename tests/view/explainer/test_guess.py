"""Row E10: predict first. Questions are computed, numbers are hidden until one is answered."""

import math

import pytest
from tests.view.explainer.opened import READY, change, text_of
from tests.view.explainer.samples import ODD, TEXT, make_translator

from transduce.view.explainer.explain import explain

pytestmark = pytest.mark.browser
TEXTS = (TEXT, "the red house")
# At one place of each station: the questions, and what was found to be right.
ASK = """
const [station, done] = arguments, { change, questionsNow, page } = transduce;
(async () => {
  await change(station);
  const asked = [];
  for (const one of questionsNow()) {
    const [right, why] = await one.find();
    asked.push([one.kind, one.text, one.choices.map(String), right, why]);
  }
  done(asked);
})();
"""
ROWS = (
    "const rows = transduce.page.result.trace[arguments[0]]; return rows.map(r => Array.from(r));"
)
VISIBLE = """
const shown = selector => document.querySelector(selector).checkVisibility();
return [".work", ".strips", ".results", "#guess"].map(shown);
"""
CHOICES = "return [...document.querySelectorAll('#guess-choices button')].map(x => x.textContent)"


@pytest.fixture(scope="module")
def page():
    return explain(make_translator(ODD), *TEXTS).page


@pytest.fixture
def opened(browser, page):
    browser.resize(1200, 900)
    browser.open_text(page)
    browser.wait(READY)
    yield browser
    assert browser.console() == []
    assert browser.requests() == []


def click_guess_first(browser):
    browser.run("document.getElementById('guess-first').scrollIntoView()")
    browser.click("#guess-first")


def ask(browser, **station):
    """Return {kind: (text, choices, right choices, why)} at a station."""
    script = {"script": ASK, "args": [station]}
    found = browser.command("execute/async", script)
    return {kind: tuple(rest) for kind, *rest in found}


def right_of(question):
    _, choices, right, _ = question
    return [choices[i] for i in right]


def rows(browser, name):
    return browser.run(ROWS, name)


def test_each_station_has_a_question_and_there_are_many_kinds(opened):
    kinds = set[str]()
    for panel in opened.run("return transduce.PANELS.map(panel => panel.id)"):
        asked = ask(opened, panel=panel, layer=2, head=2, source=1, target=2, step=1)
        assert asked, panel
        for _, choices, right, _ in asked.values():
            assert len(set(choices)) == len(choices) >= 2
            assert 1 <= len(right) <= len(choices)
        kinds |= asked.keys()
    assert len(kinds) >= 15


@pytest.mark.parametrize("text", TEXTS)
def test_answers_are_those_of_the_numbers(opened, text):
    asked = ask(opened, text=text, panel="pieces")
    pieces = opened.run("return transduce.page.result.source.length")
    assert right_of(asked["count"]) == [str(pieces)]
    station = {"text": text, "layer": 2, "head": 3, "source": 1, "target": 1}
    longest = right_of(ask(opened, panel="input", **station)["longest"])
    norms = [math.hypot(*row) for row in rows(opened, "source.input")]
    assert longest[0].split()[0] == str(norms.index(max(norms)) + 1)
    asked = ask(opened, panel="attention", **station)
    weights = rows(opened, "encoder.2.self.weights.3")[1]
    assert right_of(asked["reads"])[0].split()[0] == str(weights.index(max(weights)) + 1)
    sharpest = [max(rows(opened, f"encoder.2.self.weights.{h}")[1]) for h in (1, 2, 3)]
    assert right_of(asked["sharp"]) == [f"head {sharpest.index(max(sharpest)) + 1}"]
    asked = ask(opened, panel="cross", **station)
    weights = rows(opened, "decoder.2.cross.weights.3")[1]
    assert right_of(asked["source"])[0].split()[0] == str(weights.index(max(weights)) + 1)
    all_heads = [rows(opened, f"decoder.2.cross.weights.{h}")[1] for h in (1, 2, 3)]
    means = [sum(column) for column in zip(*all_heads, strict=True)]
    assert right_of(asked["aligned"])[0].split()[0] == str(means.index(max(means)) + 1)
    asked = ask(opened, panel="norm", **station)
    far = [
        math.dist(rows(opened, before)[1], rows(opened, f"encoder.{n}.ff.norm")[1])
        for n, before in ((1, "source.input"), (2, "encoder.1.ff.norm"))
    ]
    assert right_of(asked["encoder"]) == [f"layer {far.index(max(far)) + 1}"]
    zeros = rows(opened, "encoder.2.ff.inner")[1].count(0) / ODD.d_ff
    (found,) = ask(opened, panel="forward", **station)["zeros"][2]
    assert found == min(3, int(4 * zeros))


@pytest.mark.parametrize("head", [1, 2, 3])
def test_without_the_mask_the_piece_that_is_read_most_may_be_a_later_one(opened, head):
    change(opened, off=["mask"])
    for row, weights in enumerate(rows(opened, f"decoder.1.self.weights.{head}")):
        asked = ask(opened, panel="masked", layer=1, head=head, target=row)
        assert right_of(asked["back"])[0].split()[0] == str(weights.index(max(weights)) + 1)


@pytest.mark.parametrize("text", TEXTS)
def test_the_likeliest_piece_is_the_right_one(opened, text):
    asked = ask(opened, text=text, panel="softmax", target=1)
    probabilities = rows(opened, "probabilities")[1]
    best = probabilities.index(max(probabilities))
    name = (
        "const { readablePiece: f, VOCABULARIES: v } = transduce; return f(v.target, arguments[0])"
    )
    assert right_of(asked["next"]) == [opened.run(name, best)]
    assert asked["sure"][2] == [min(3, int(4 * max(probabilities)))]


def test_the_hypothesis_that_is_cut_is_one_that_the_search_cuts(opened):
    for step in range(3):
        question = ask(opened, panel="beam", step=step)["cut"]
        candidates = opened.run(
            "return transduce.page.result.search.steps[arguments[0]].candidates", step
        )
        fates = [
            opened.run(
                "return arguments[0].map(id => transduce.readablePiece("
                "transduce.VOCABULARIES.target, id)).join(' ')",
                one["ids"],
            )
            for one in candidates
            if one["fate"] == "cut"
        ]
        assert [choice for choice in question[1] if choice in fates] == right_of(question)


@pytest.mark.parametrize("head", [1, 2, 3])
def test_whether_the_translation_changes_is_tried(opened, head):
    question = ask(opened, panel="cross", layer=1, head=head, target=1)["without"]
    before = text_of(opened, "#translation")
    change(opened, off=[f"decoder.1.cross.{head}"])
    after = text_of(opened, "#translation")
    assert right_of(question) == ["no" if before == after else "yes"]
    assert question[3] == after


def test_nothing_is_asked_before_the_reader_wants_it(opened):
    assert opened.run(VISIBLE) == [True, True, True, False]


def test_numbers_are_hidden_until_a_guess_by_mouse_and_the_score_is_counted(opened):
    change(opened, panel="cross", layer=2, head=2, target=2)
    click_guess_first(opened)
    assert opened.run(VISIBLE) == [False, False, False, True]
    right = ask(opened, panel="cross", layer=2, head=2, target=2)["source"][2][0]
    wrong = 1 if right == 0 else 0
    opened.click(f"#guess-choices button:nth-child({wrong + 1})")
    opened.wait("document.getElementById('guess-told').textContent")
    assert opened.run(VISIBLE) == [True, True, True, True]
    choices = opened.run(CHOICES)
    assert choices[wrong].endswith("✗")
    assert choices[right].endswith("✓")
    assert text_of(opened, "#guess-told").startswith("No. It is")
    assert text_of(opened, "#guess-score") == "0 of 1 right"
    opened.click(f"#guess-choices button:nth-child({right + 1})")
    assert text_of(opened, "#guess-score") == "0 of 1 right", "only the first answer counts"
    click_guess_first(opened)
    assert opened.run(VISIBLE) == [True, True, True, False]


def test_the_translation_stays_and_the_question_says_how_to_stop(opened):
    click_guess_first(opened)
    assert opened.run("return document.getElementById('translation').checkVisibility()")
    opened.click("#guess-end")
    assert opened.run(VISIBLE) == [True, True, True, False]
    assert opened.run("return document.getElementById('guess-first').ariaPressed") == "false"


def test_guesses_by_keyboard_go_from_question_to_question(opened):
    for key in ("q", "PageDown"):
        opened.press(key)
        opened.wait("transduce.page.ready")
    asked = ask(opened, panel="input")
    first, second = (asked[kind] for kind in ("longest", "order"))
    assert text_of(opened, "#guess-text") == first[0]
    opened.run(
        "document.querySelectorAll('#guess-choices button')[arguments[0]].focus()", first[2][0]
    )
    opened.press("Enter")
    opened.wait("document.getElementById('guess-told').textContent")
    focused = "return document.activeElement.textContent"
    assert opened.run(focused) == f"{right_of(first)[0]} ✓"
    assert text_of(opened, "#guess-told").startswith("Right. It is")
    opened.type_into("#guess-more", "Enter")
    assert text_of(opened, "#guess-text") == second[0] == opened.run(focused)
    opened.press("Tab", "Enter")
    opened.wait("document.getElementById('guess-told').textContent")
    assert text_of(opened, "#guess-score").endswith(" of 2 right")
    opened.type_into("#guess-more", "Enter")
    opened.wait("transduce.page.ready && transduce.state().source === 1")
    assert text_of(opened, "#guess-told") == ""
    opened.type_into("#guess-show", "Enter")
    opened.wait("document.getElementById('guess-told').textContent")
    assert text_of(opened, "#guess-told").startswith("It is")
    assert text_of(opened, "#guess-score").endswith(" of 2 right"), "what is only shown counts not"


def test_training_asks_three_questions_and_of_the_rate_no_other(opened):
    rate = {kind: right_of(one) for kind, one in ask(opened, panel="rate", warmup=400).items()}
    assert rate == {"peak": ["400"], "halfway": ["600"], "later": ["2"]}
    assert len(ask(opened, panel="smoothing")) == 3
    change(opened, panel="rate")
    click_guess_first(opened)
    for _ in range(3):
        opened.wait("document.getElementById('guess-more').checkVisibility()")
        opened.run("document.getElementById('guess-more').click()")
        opened.run("document.getElementById('guess-show').click()")
        opened.wait("document.getElementById('guess-told').textContent")
    assert not opened.run("return document.getElementById('guess-more').checkVisibility()")


def test_the_loss_of_the_right_piece_and_its_share_are_compared_with_what_the_target_gives(opened):
    asked = ask(opened, panel="smoothing", target=1)
    probabilities, id_ = rows(opened, "probabilities")[1], "transduce.page.result.output[1]"
    share = probabilities[opened.run(f"return {id_}")]
    count, mean = len(probabilities), sum(-math.log(one) for one in probabilities)
    assert right_of(asked["aim"]) == ["the target" if share < 0.9 + 0.1 / count else "the model"]
    is_right = -0.9 * math.log(share) > 0.1 * mean / count
    assert right_of(asked["parts"])[0].startswith("that of the " + ("r" if is_right else "m"))


def test_what_was_answered_stays_open_and_a_slider_does_not_ask_again(opened):
    click_guess_first(opened)
    change(opened, panel="smoothing")
    opened.click("#guess-show")
    opened.wait("document.getElementById('guess-told').textContent")
    opened.type_into("#slider", "ArrowRight")
    opened.wait("transduce.page.ready && transduce.state().smoothing > 0.1")
    change(opened, panel="rate")
    assert opened.run(VISIBLE)[0] is False
    change(opened, panel="smoothing")
    assert opened.run(VISIBLE)[0] is True
