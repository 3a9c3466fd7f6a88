"""What a reader does with the explainer: types, moves, takes the tour, switches parts off."""

import re
from dataclasses import replace

import pytest
import torch
from tests.view.explainer.opened import READY, change, number_of, open_explainer, text_of
from tests.view.explainer.samples import ODD, PAPERS, TEXT, make_translator
from tests.view.hostile import attacks

from transduce.inference.translator import Translator
from transduce.tasks import build_task
from transduce.view.explainer.explain import explain
from transduce.vocabulary.vocabulary import Vocabularies

pytestmark = pytest.mark.browser
LINKS = [
    {
        "panel": "attention",
        "layer": 2,
        "head": 3,
        "source": 2,
        "cell": "encoder.2.self.weights.3:2:1",
    },
    {"panel": "beam", "step": 3, "beam": 2, "alpha": 0.3},
    {"panel": "softmax", "target": 2, "prefix": "a woman", "off": ["mask", "decoder.1.cross.2"]},
    {"panel": "smoothing", "smoothing": 0.35},
    {"panel": "rate", "warmup": 12_345},
    {"text": "größer & <b>#x=1</b>", "tour": 4},
]


MARKED = """
return [...document.querySelectorAll("#figure :is(.off, .partly)")].map(one => [
  one.id || one.textContent, one.classList.contains("off") ? "off" : "partly"]);
"""
STRUCK = """
return [...document.querySelectorAll("#figure text")].map(one => [one, getComputedStyle(one)])
  .filter(([, style]) => style.textDecorationLine === "line-through")
  .map(([one]) => one.textContent);
"""
FORWARD = ["model-encoder-feed-forward", "off"]


AGAIN = """
const { body, activeElement } = document;
for (const one of document.querySelectorAll("details")) one.open = false;
if (activeElement !== body) activeElement.blur();
try { history.replaceState(null, "", "#"); } catch { location.hash = "#"; }
dispatchEvent(new HashChangeEvent("hashchange"));
"""


@pytest.fixture(scope="module")
def page():
    """The page of a small model."""
    return explain(make_translator(ODD), TEXT, "the red house").page


@pytest.fixture
def opened(browser, page):
    """The page as it is without a link, loaded once; at the end nothing may have gone wrong."""
    browser.resize(1200, 900)
    if browser.shown is page:
        browser.forget()
        browser.run(AGAIN)
    else:
        browser.open_text(page)
        browser.shown = page
    browser.wait(READY)
    yield browser
    assert browser.console() == []
    assert browser.requests() == []


def state(browser, name):
    return browser.run("return transduce.state()[arguments[0]]", name)


def press(browser, *keys):
    for key in keys:
        browser.press(key)
        browser.wait("transduce.page.ready")


def test_the_stored_translation_is_shown_before_anything_is_computed(opened):
    begin = """
        const clear = side => document.getElementById(side + "-pieces").replaceChildren();
        const strips = () => [...document.querySelectorAll("#target-pieces button")]
          .map(one => one.textContent);
        const shown = strips();
        transduce.page.result = null;
        ["source", "target"].forEach(clear);
        transduce.change(JSON.parse(arguments[0]));
        return [shown, strips()];
    """
    shown, before = opened.run(begin, "{}")
    assert before == shown
    assert len(before) > 1
    opened.wait("transduce.page.ready")
    _, before = opened.run(begin, '{"text": "the red house"}')
    assert before == [], "the stored translation is not that of another text"
    opened.wait("transduce.page.ready")


def test_the_page_says_how_far_it_is_from_pytorch(opened):
    opened.wait("transduce.page.checked !== undefined")
    difference = opened.run("return transduce.page.checked")
    assert 0 < difference <= 1e-4
    assert number_of(text_of(opened, "#check")) == pytest.approx(difference, rel=0.05)


def test_what_is_typed_is_translated(opened):
    before = text_of(opened, "#translation")
    opened.click("#text")
    opened.press("Control+a", "d", "o", "g", "Enter")
    opened.wait("transduce.page.ready && transduce.state().text === 'dog'")
    assert text_of(opened, "#translation") != before
    assert opened.run("return transduce.page.result.source") == opened.run(
        "return transduce.encodeSource('dog')"
    )


def test_a_sentence_sent_by_enter_begins_at_its_first_row_with_no_number_open(opened):
    change(opened, panel="attention", source=5, cell="encoder.1.self.q:1:0")
    opened.click("#text")
    opened.press("Control+a", *"a dog", "Enter")
    opened.wait("transduce.page.ready && transduce.state().text === 'a dog'")
    assert [state(opened, "source"), state(opened, "cell")] == [0, ""]


def test_where_the_chosen_row_is_beyond_a_shorter_output_the_last_one_is_marked(opened):
    change(opened, text="a dog", panel="masked", target=900)
    marked = "document.querySelector('#boxes .marked')"
    inside = f"const one = {marked}, svg = one.ownerSVGElement; return [one, svg]"
    row, svg = opened.run(f"{inside}.map(one => one.getBoundingClientRect().bottom)")
    assert row == pytest.approx(svg, abs=1.5)


def test_what_is_typed_is_kept_when_another_control_is_pressed_at_once(opened):
    opened.click("#text")
    opened.press("Control+a")
    opened.move("#station-next")
    typed = [{"type": kind, "value": key} for key in "dog" for kind in ("keyDown", "keyUp")]
    click = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
    waits = [{"type": "pause", "duration": 0}] * len(typed)
    keyboard = {"type": "key", "id": "keyboard", "actions": typed}
    opened.act([keyboard, opened.mouse([*waits, *click])])
    opened.wait("transduce.page.ready && transduce.state().panel !== 'pieces'")
    assert state(opened, "text") == "dog"
    assert opened.run("return document.getElementById('text').value") == "dog"


@pytest.mark.parametrize("typed", ["a \ud83d", "\ude00 a", "x" * 999 + "\U0001f600"])
def test_half_a_surrogate_pair_becomes_the_replacement_character(opened, typed):
    change(opened, text=typed, prefix=typed)
    for name in ("text", "prefix"):
        assert state(opened, name).count("\ufffd") == 1
    link = opened.run("return transduce.writeHash(transduce.state())")
    assert link.count("%EF%BF%BD") == 2


@pytest.mark.parametrize("typed", ["", "   ", "x" * 60])
def test_an_empty_or_long_sentence_is_named_and_the_page_lives_on(opened, typed):
    change(opened, text=typed)
    assert text_of(opened, "#problem") != ""
    assert text_of(opened, "#translation") == "", "of the sentence before"
    change(opened, text="a dog")
    assert text_of(opened, "#problem") == ""
    assert text_of(opened, "#translation") != ""


@pytest.mark.parametrize("typed", ["", "x" * 60])
def test_a_refused_sentence_leaves_no_old_translation_at_any_station(opened, typed):
    change(opened, panel="softmax", off=["decoder.1.cross"])
    old = opened.run("return transduce.page.before.output.slice(0, -1)")
    old = opened.run("return transduce.decodeIds(transduce.VOCABULARIES.target, arguments[0])", old)
    words = {text_of(opened, "#translation"), old} - {""}
    change(opened, text=typed)
    for panel in opened.run("return transduce.PANELS.map(one => one.id)"):
        change(opened, panel=panel)
        shown = opened.run("return document.querySelector('main').textContent")
        assert not any(one in shown for one in words), panel
        assert text_of(opened, "#here-name") == text_of(opened, "#panel-title") != ""
        assert opened.run("return document.querySelectorAll('#source-pieces button').length") == 0
    change(opened, text="a dog", panel="cross")
    assert text_of(opened, "#translation") != ""
    assert opened.run("return document.querySelectorAll('#boxes .box').length") > 3


def test_keys_and_switches_work_while_a_sentence_is_refused(opened):
    change(opened, text="")
    press(opened, "ArrowRight", "PageDown", "q")
    assert state(opened, "panel") == "input"
    opened.run("document.querySelector('[data-name=mask]').click()")
    pressed = "[...document.querySelectorAll('.switch, #guess-first')]"
    pressed = f"return {pressed}.filter(one => one.ariaPressed === 'true').length"
    assert opened.run(pressed) == 2
    assert text_of(opened, ".pieces.search") == "", "no translation in the map"
    press(opened, "q", "u")
    assert opened.run(pressed) == 0


def test_pieces_that_flow_through_the_map_cover_no_label(opened):
    """Blocks are drawn after the pieces; of other labels, no piece touches one at any time."""
    cover = """
        const moving = document.getAnimations(), layer = document.querySelector(".flow");
        const texts = [...document.querySelectorAll("#figure text")], found = [];
        const names = texts.filter(one => !layer.contains(one));
        const is = (one, side) => layer.compareDocumentPosition(one) & side;
        const before = names.filter(one => is(one, Node.DOCUMENT_POSITION_PRECEDING));
        const free = [...before, ...names.filter(one => one.closest(".end"))];
        const box = one => one.getBoundingClientRect();
        const apart = (a, b) => a.right <= b.left || a.bottom <= b.top;
        const meet = (a, b) => !apart(a, b) && !apart(b, a);
        moving.forEach(one => one.pause());
        for (let time = 100; time < 5000; time += 100) {
          moving.forEach(one => (one.currentTime = time));
          const shown = [...layer.children].filter(one => getComputedStyle(one).opacity > 0.05);
          for (const part of shown.flatMap(one => [...one.querySelectorAll("rect")].map(box)))
            found.push(...free.filter(one => meet(box(one), part)).map(one => one.textContent));
        }
        return [moving.length, before.map(one => one.textContent), found];
    """
    change(opened, text="a dog")
    count, before, covered = opened.run(cover)
    assert count > 1
    assert set(before) == {"2×"}, "names of blocks are drawn after the pieces"
    assert covered == []


@pytest.mark.parametrize("parts", LINKS)
def test_a_link_brings_back_what_is_shown(opened, parts):
    change(opened, **parts)
    shown = opened.run("return [document.body.innerText, transduce.state()]")
    opened.wait("(location.hash || '#') === transduce.writeHash(transduce.state())")
    link = opened.run("return location.hash")
    opened.run("location.hash = '#p=pieces'")
    opened.wait("transduce.page.ready && transduce.state().panel === 'pieces'")
    opened.run("location.hash = arguments[0]", link)
    opened.wait(f"transduce.page.ready && transduce.writeHash(transduce.state()) === '{link}'")
    assert opened.run("return [document.body.innerText, transduce.state()]")[1] == shown[1]
    for name, value in parts.items():
        assert state(opened, name) == value


@pytest.mark.parametrize(
    "link", ["#p=none&l=99&b=0&a=7&x=nothing&c=a", "#s=%E0%A4%A", "#&&==&q=-1"]
)
def test_a_damaged_link_shows_what_it_can(opened, link):
    opened.run("location.hash = arguments[0]", link)
    opened.wait("transduce.page.ready")
    assert state(opened, "panel") == "pieces"
    assert state(opened, "off") == []
    assert state(opened, "text") == TEXT


def test_keys_move_through_pieces_layers_heads_and_stations(opened):
    press(opened, "PageDown", "PageDown", "ArrowRight", "ArrowRight", "]", "2")
    assert [state(opened, name) for name in ("panel", "source", "layer", "head")] == [
        "attention",
        2,
        2,
        2,
    ]
    press(opened, "PageUp", "ArrowLeft", "[")
    assert [state(opened, name) for name in ("panel", "source", "layer")] == ["input", 1, 1]


def test_brackets_choose_the_layer_where_a_keyboard_has_them_with_altgr_or_option(opened):
    change(opened, panel="attention")
    send = "document.body.dispatchEvent(new KeyboardEvent('keydown', arguments[0]))"
    for held in ({"ctrlKey": True, "altKey": True}, {"altKey": True}):
        for key, layer in (("]", 2), ("[", 1)):
            opened.run(send, {"key": key, "bubbles": True, **held})
            assert state(opened, "layer") == layer
    opened.run(send, {"key": "]", "bubbles": True, "ctrlKey": True})
    assert state(opened, "layer") == 1


def test_arrows_scroll_a_picture_that_has_the_focus_and_choose_no_row(opened):
    opened.resize(320)
    change(opened, panel="attention", text="a dog sees the cat " * 2)
    opened.run("document.querySelector('.scroll[tabindex]').focus()")
    opened.press(*["ArrowRight"] * 3)
    opened.wait("document.activeElement.scrollLeft > 0")
    assert state(opened, "source") == 0
    press(opened, "PageDown")
    assert state(opened, "panel") == "attention"


@pytest.mark.slow
def test_every_step_of_the_tour_has_its_focus(opened):
    press(opened, "t")
    titles = []
    for number in range(1, opened.run("return transduce.TOUR.length") + 1):
        assert state(opened, "tour") == number
        titles.append(text_of(opened, "#tour-title"))
        wanted = opened.run("return transduce.TOUR[arguments[0]][0]", number - 1)
        assert state(opened, "panel") == wanted["panel"]
        experiment = opened.run(
            "return transduce.header.experiments[arguments[0]]", wanted.get("experiment")
        )
        assert state(opened, "off") == (experiment or wanted).get("off", [])
        is_open = bool(wanted.get("cell") or wanted.get("largest"))
        assert opened.run("return document.getElementById('cell').hidden") != is_open
        press(opened, ">")
    assert len(set(titles)) == len(titles) >= 20
    press(opened, "t")
    assert state(opened, "tour") == 0


def test_the_map_opens_stations_by_mouse_and_keyboard_and_says_where_the_reader_is(opened):
    now = "return [...document.querySelectorAll('#figure .now')].map(one => one.id)"
    assert opened.run(now) == ["model-inputs"]
    opened.click("#model-decoder-cross-attention text")
    opened.wait("transduce.page.ready && transduce.state().panel === 'cross'")
    opened.type_into("#model-encoder-feed-forward", "Enter")
    assert state(opened, "panel") == "forward"
    assert opened.run(now) == ["model-encoder-feed-forward", "model-encoder-feed-forward-norm"]
    assert text_of(opened, "#here-name") == "Feed-forward"
    press(opened, "PageUp")
    assert text_of(opened, "#here-name") == "Add and normalise"


def test_the_name_of_each_button_has_the_words_that_are_written_on_it(opened):
    """What a reader says to press a button is what stands on it (WCAG 2.5.3)."""
    opened.run("document.getElementById('what-if').open = true")
    named = """
        const texts = one => [...one.querySelectorAll("text")].map(x => x.textContent).join(" ");
        return [...document.querySelectorAll("[aria-label]:is(button, [role=button])")].map(one =>
          [one.getAttribute("aria-label"), one.localName === "g" ? texts(one) : one.textContent]);
    """
    buttons = opened.run(named)
    assert len(buttons) > 30
    for name, written in buttons:
        if re.search(r"[A-Za-z]{2}", written):
            assert written in name


def test_every_station_is_in_the_map_or_below_it(opened):
    every = "return transduce.PANELS.map(one => one.id)"
    placed = "return [...new Set([...document.querySelectorAll('#guide [data-panel]')]"
    assert set(opened.run(f"{placed}.map(one => one.dataset.panel))]")) == set(opened.run(every))


def test_the_pieces_stand_at_both_ends_of_the_map(opened):
    at = """
        const lines = name => [...document.querySelectorAll(`#figure .pieces.${name}`)];
        return ["inputs", "outputs", "search"].map(name =>
          lines(name).map(one => one.textContent).join(" ").trim().split(/ +/));
    """
    source, target = (opened.run(f"return transduce.page.result.{n}") for n in ("source", "output"))
    read, written, likeliest = opened.run(at)
    assert read[0] == opened.run(
        "return transduce.readablePiece(transduce.VOCABULARIES.source, arguments[0])", source[0]
    )
    assert (written[0], likeliest[-1] in ("</s>", "…")) == ("<s>", True)
    assert written[1:4] == likeliest[:3]
    assert len(target) >= len(likeliest) - 1


def test_what_if_comes_into_sight_when_it_is_opened(opened):
    opened.run("document.querySelector('#what-if > summary').scrollIntoView({ block: 'end' })")
    opened.click("#what-if > summary")
    opened.next_frame()
    place = "const { top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect();"
    top, bottom = opened.run(f"{place} return [top, bottom]", "#parts tr:nth-child(2)")
    assert 0 < top < bottom < opened.run("return innerHeight")
    opened.click("#what-if > summary")


def test_a_part_is_switched_off_and_on_again_by_hand(opened):
    opened.run("document.getElementById('what-if').open = true")
    seen = "document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })"
    opened.run(seen, "[data-name='decoder.1.cross']")
    opened.click("[data-name='decoder.1.cross']")
    opened.wait("transduce.page.ready && transduce.page.before")
    assert text_of(opened, "#off") == "Off: decoder layer 1, cross-attention."
    assert text_of(opened, "#before-text") != text_of(opened, "#translation")
    assert opened.run(MARKED) == [["model-decoder-cross-attention", "partly"]]
    press(opened, "u")
    assert state(opened, "off") == opened.run(MARKED) == []
    assert opened.run("return document.getElementById('before').hidden")


def test_undo_takes_back_the_last_switch_and_leaves_sentence_and_station(opened):
    opened.run("document.querySelector(\"[data-name='encoder.1.ff']\").click()")
    opened.wait("transduce.page.ready && transduce.state().off.length")
    change(opened, text="a dog", panel="cross", source=1)
    press(opened, "u")
    found = [state(opened, name) for name in ("off", "text", "panel", "source")]
    assert found == [[], "a dog", "cross", 1]


@pytest.mark.parametrize(
    ("off", "marked"),
    [
        (["mask"], [["Masked", "off"]]),
        (["encoder.1.self.residual"], [["model-encoder-self-attention-residual", "off"]]),
        (["decoder.2.cross.3"], [["model-decoder-cross-attention", "partly"]]),
        (["encoder.1.ff"], [["model-encoder-feed-forward", "partly"]]),
        (["encoder.1.ff", "encoder.2"], [["model-encoder-self-attention", "partly"], FORWARD]),
        (["source.position"], [["model-input-positions", "off"]]),
    ],
)
def test_the_map_marks_no_more_than_what_is_off(opened, off, marked):
    """A block is crossed out if no layer computes it, and framed if some layer or head is off."""
    change(opened, off=off)
    assert opened.run(MARKED) == marked
    struck = opened.run(STRUCK)
    assert struck == {"mask": ["Masked"], "source.position": ["Positional", "Encoding"]}.get(
        off[0], ["Feed Forward"] if FORWARD in marked else []
    )


def test_each_station_of_the_map_is_opened_by_a_click_on_its_name(opened):
    blocks = opened.run(
        "return [...document.querySelectorAll('#map [role=button]')].map(x => x.id)"
    )
    assert "model-search" in blocks
    for block in blocks:
        opened.click(f"#{block} text")
        opened.wait(READY)
        wanted = opened.run("return document.getElementById(arguments[0]).dataset.panel", block)
        assert state(opened, "panel") == wanted
    opened.click("#model-search text")
    opened.wait(READY)
    assert text_of(opened, "#here-name") == "Beam search"


def test_a_number_opens_as_its_sum_by_mouse_and_by_table(opened):
    change(opened, panel="attention")
    opened.click(".picture svg")
    opened.wait("transduce.page.ready && transduce.state().cell")
    assert "W" in text_of(opened, "#cell-formula")
    assert "sum" in text_of(opened, "#cell-rows")
    press(opened, "Escape")
    opened.click(".box details summary")
    opened.wait("document.querySelector('.box details table')")
    assert opened.run("return document.querySelectorAll('.box details tbody tr').length") == 7
    opened.click(".box details td button")
    assert state(opened, "cell") == "encoder.1.self.q:3:0"


def test_an_open_weight_goes_along_to_another_head_and_layer(opened):
    change(opened, panel="cross", layer=2, head=1, cell="decoder.2.cross.weights.1:1:0")
    press(opened, "2")
    assert state(opened, "cell") == "decoder.2.cross.weights.2:1:0"
    press(opened, "[")
    assert state(opened, "cell") == "decoder.1.cross.weights.2:1:0"
    assert "layer 1, cross-attention: head 2, weight" in text_of(opened, "#cell-title")


def test_the_beam_names_what_becomes_of_each_candidate(opened):
    change(opened, panel="beam", step=1)
    steps = opened.run("return transduce.page.result.search.steps")
    rows = opened.run(
        "return [...document.querySelectorAll('#boxes tbody tr')].map(x => x.className)"
    )
    assert rows == [one["fate"] for one in steps[1]["candidates"]]
    assert rows.count("live") == 4
    press(opened, "ArrowRight")
    assert state(opened, "step") == 2


def test_weights_are_coloured_from_0_to_1_and_closed_places_hatched(opened):
    change(opened, panel="masked", layer=1, head=1)
    shades = """
        const box = document.querySelector("[data-name='decoder.1.self.weights.1']");
        const above = [...box.querySelectorAll(".above")];
        return [above.map(one => Number(one.getAttribute("fill-opacity"))),
          box.querySelectorAll(".hatch").length, box.querySelector(".legend").textContent];
    """
    weights = opened.run(
        "return transduce.page.result.trace['decoder.1.self.weights.1'].map(row => [...row])"
    )
    found, hatched, legend = opened.run(shades)
    expected = {round(12 * weight) / 12 for row in weights for weight in row} - {0.0}
    assert sorted(found) == pytest.approx(sorted(expected))
    assert (hatched, legend) == (1, "0  1 · masked: −∞, weight 0")
    change(opened, off=["mask"])
    assert opened.run(shades)[1:] == [0, "0  1"]
    assert text_of(opened, "#plain").startswith("The mask is off: every written piece reads")


IN_SIGHT = """
const one = document.querySelector(arguments[0]), box = one.getBoundingClientRect();
return one.contains(document.elementFromPoint(box.left + 5, (box.top + box.bottom) / 2));
"""


@pytest.mark.parametrize(
    ("panel", "off", "said"),
    [
        ("input", "source.position", "The positions are off"),
        ("target", "target.position", "The positions are off"),
        ("attention", "encoder.1.self", "Off in this layer: self-attention"),
        ("norm", "encoder.1", "Off in this layer: self-attention"),
        ("forward", "encoder.1.ff", "Off in this layer: feed-forward"),
        ("masked", "decoder.1.self", "Off in this layer: self-attention"),
        ("cross", "decoder.1.cross", "Off in this layer: cross-attention"),
        ("decoder", "decoder.1", "Off in this layer: feed-forward"),
        ("cross", "decoder.1.cross.2", "Head 2 is off"),
    ],
)
def test_a_station_says_what_is_off_there_and_nothing_at_others(opened, panel, off, said):
    change(opened, panel=panel, head=2, off=[off])
    assert text_of(opened, "#plain").startswith(said)
    change(opened, panel="pieces")
    assert " off" not in text_of(opened, "#plain")
    change(opened, panel=panel, layer=2, off=[off] if ".1" in off else [])
    assert not text_of(opened, "#plain").startswith(said), "of another layer, or on again"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"beam": 1}, "Changed: Beam 1."),
        ({"alpha": 0.9}, "Changed: α = 0.9."),
        ({"prefix": "a woman"}, "The output begins with “a woman”."),
    ],
)
def test_what_changes_the_search_shows_the_translation_before_and_now(opened, parts, said):
    whole = text_of(opened, "#translation")
    change(opened, panel="beam", **parts)
    assert text_of(opened, "#off") == said
    assert text_of(opened, "#before-text") == whole
    assert text_of(opened, "#after-text") == text_of(opened, "#translation")
    opened.click("#undo-all")
    opened.wait("transduce.page.ready && !transduce.page.before")
    assert text_of(opened, "#translation") == whole
    assert opened.run("return document.getElementById('compare').hidden")


def test_a_piece_that_is_taken_or_a_number_that_is_set_shows_both_translations_in_sight(opened):
    opened.resize(390, 700)
    change(opened, panel="softmax", target=1)
    whole = text_of(opened, "#translation")
    opened.run("document.querySelector('.bars tr:last-child').scrollIntoView({ block: 'end' })")
    opened.click(".bars tr:nth-child(11) td:last-child button")
    opened.wait("transduce.page.ready && transduce.page.before")
    assert text_of(opened, "#before-text") == whole != text_of(opened, "#after-text")
    for one in ("#before-text", "#after-text"):
        assert opened.run(IN_SIGHT, one), one
    change(opened, prefix="", panel="attention", cell="encoder.1.self.joined:0:0")
    opened.run("document.getElementById('edit').scrollIntoView({ block: 'end' })")
    opened.type_into("#edit-value", "Control+a", "9", "Enter")
    opened.wait("transduce.page.ready && transduce.page.before")
    for one in ("#before-text", "#after-text"):
        assert opened.run(IN_SIGHT, one), one


def test_the_sentence_is_seen_whole_and_its_box_is_no_higher(opened):
    def lines():
        return opened.run("""
            const box = document.getElementById('text'), { lineHeight } = getComputedStyle(box);
            const high = parseFloat(lineHeight);
            return [box.scrollHeight, box.clientHeight].map(one => Math.round(one / high));
        """)

    assert lines() == [1, 1]
    change(opened, text="the red house " * 12)
    needed, high = lines()
    assert needed == high > 3
    opened.resize(390)
    opened.next_frame()
    needed, narrow = lines()
    assert needed == narrow > high
    opened.type_into("#text", "Control+a", "a")
    assert lines() == [1, 1]


def test_no_switch_is_in_a_scroll_of_its_own_and_the_result_stays_in_sight(opened):
    opened.run("document.getElementById('what-if').open = true")
    high = "const one = document.querySelector('#what-if .rows'); "
    assert opened.run(high + "return one.scrollHeight <= one.clientHeight")
    first, *_, last = opened.run(
        "return [...document.querySelectorAll('#parts .switch')].map(one => one.dataset.name)"
    )
    for name in (first, last):  # pressed as by Safari, without the focus
        opened.run(f"document.querySelector(\"[data-name='{name}']\").click()")
        opened.wait("transduce.page.ready && transduce.page.before")
        opened.run("document.querySelector('#parts caption').scrollIntoView()")
        for one in ("#before-text", "#after-text"):
            assert opened.run(IN_SIGHT, one), (name, one)


def test_beam_and_alpha_stand_at_the_station_of_the_beam_and_nowhere_else(opened):
    shown = "return ['beam', 'offer'].map(id => window[id].checkVisibility())"
    for panel in opened.run("return transduce.PANELS.map(one => one.id)"):
        change(opened, panel=panel)
        assert opened.run(shown) == [panel == "beam"] * 2, panel
    change(opened, panel="beam")
    opened.choose("#beam", "2")
    opened.wait("transduce.page.ready && transduce.page.result.settings.beam === 2")
    opened.type_into("#slider", "Home")
    opened.wait("transduce.page.ready && transduce.page.result.settings.alpha === 0")
    assert text_of(opened, "#off") == "Changed: Beam 2; α = 0.0."
    assert "stages" not in opened.run("return transduce.PANELS.map(one => one.id)")


def test_what_is_said_of_a_number_under_the_finger_goes_with_its_station(opened):
    change(opened, panel="attention")
    opened.move(".picture svg")
    opened.wait("document.getElementById('readout').textContent")
    change(opened, panel="norm")
    assert text_of(opened, "#readout") == ""


def test_the_first_tap_on_an_example_after_typing_counts(opened):
    opened.resize(390, 844)
    opened.click("#text")
    opened.press("Control+a", "a", " ", "c", "a", "t")
    opened.wait("transduce.page.ready && transduce.state().text === 'a cat'")
    opened.click("#examples button:nth-child(2)")
    opened.wait("transduce.page.ready && transduce.state().text === 'the red house'")


def test_no_fold_and_no_button_of_the_tour_changes_the_height_of_the_map(opened):
    height = "return document.getElementById('map').clientHeight"
    for tour in (0, 2):
        change(opened, tour=tour, panel="input")
        before = opened.run(height)
        opened.run("for (const one of document.querySelectorAll('details')) one.open = true")
        opened.next_frame()
        assert opened.run(height) == before > 100
        opened.run("for (const one of document.querySelectorAll('details')) one.open = false")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_table_is_wider_than_a_phone(browser, language):
    browser.open_text(explain(make_translator(ODD), TEXT, language=language).page)
    browser.wait(READY)
    browser.resize(390, 844)
    browser.run("document.getElementById('what-if').open = true")
    wide = """
        const tables = [...document.querySelectorAll(".rows")].filter(one => one.checkVisibility());
        return [tables.length, tables.filter(one => one.scrollWidth > one.clientWidth)
          .map(one => one.textContent)];
    """
    for panel in browser.run("return transduce.PANELS.map(one => one.id)"):
        change(browser, panel=panel, target=2, step=2)
        count, wider = browser.run(wide)
        assert (count > 0, wider) == (True, []), panel
    change(browser, panel="softmax")
    tall = "return [...document.querySelectorAll('.bars th')].map(one => one.clientHeight)"
    assert max(browser.run(tall)) < 60, "no piece stands letter by letter"
    browser.resize(1200, 900)


def test_the_help_begins_with_words_and_has_the_keys_below(opened):
    opened.resize(390, 844)
    opened.press("?")
    words = opened.run(
        "return [...document.querySelectorAll('#help dt')].map(one => one.textContent)"
    )
    assert {"piece", "head", "mask", "residual", "beam", "α"} <= set(words)
    assert opened.run(IN_SIGHT, "#help dt")
    told = opened.run("return document.querySelectorAll('#help dt + dd').length")
    assert told == len(set(words)) == len(words)
    assert text_of(opened, "#help h2 ~ h2, #help .bar ~ h2") == "Keys"
    opened.click("#close-help")


def test_what_a_switch_changes_stands_in_sight_of_the_switch(opened):
    opened.resize(1280, 800)
    opened.run("document.getElementById('what-if').open = true")
    switch = "#parts [data-name='encoder.1.self.residual']"
    opened.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'end' })", switch)
    opened.click(switch)
    opened.wait(READY)
    for one in (switch, "#what-if #before-text", "#what-if #after-text"):
        assert opened.run(IN_SIGHT, one), one
    change(opened, panel="softmax", cell="")
    opened.run("document.activeElement.blur()")
    change(opened, panel="input")
    assert opened.run("return document.querySelectorAll('.panel #compare').length") == 1
    opened.resize(1200, 900)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_two_translations_cover_no_switch(opened, size):
    opened.resize(*size)
    opened.run("document.getElementById('what-if').open = true")
    change(opened, off=["encoder.1"])
    covered = """
        const covered = [];
        for (const one of document.querySelectorAll("#what-if :is(button, input)")) {
          one.focus();
          one.scrollIntoView({ block: "nearest", behavior: "instant" });
          const box = one.getBoundingClientRect(), x = (box.left + box.right) / 2;
          for (const y of [box.top + 3, box.bottom - 3])
            if (!one.contains(document.elementFromPoint(x, y))) covered.push(one.dataset.name);
        }
        return covered;
    """
    switches = "[...document.querySelectorAll('#parts .switch')]"
    opened.run(f"{switches}.at(-1).focus()")
    change(opened, off=["encoder.1", "mask"])
    assert opened.run("return document.querySelectorAll('#what-if #compare').length") == 1
    assert opened.run(covered) == []
    opened.resize(1200, 900)


def test_that_the_output_may_be_nonsense_is_said_as_long_as_a_part_is_off(opened):
    assert text_of(opened, "#altered") == ""
    change(opened, off=["decoder.1.cross"])
    said = "Off: decoder layer 1, cross-attention. The output may be nonsense now."
    assert text_of(opened, "#altered") == said
    opened.click("#text")
    opened.press("Control+a", "d", "o", "g", "Enter")
    opened.wait("transduce.page.ready && transduce.state().text === 'dog'")
    assert text_of(opened, "#altered") == said
    assert opened.run(IN_SIGHT, "#altered")
    change(opened, off=[], alpha=0.9)
    assert text_of(opened, "#altered") == "", "another search writes no nonsense"
    assert "other words may give nonsense" in opened.run(
        "return document.getElementById('landing').innerText"
    ), "with the focus in the sentence, too"


def test_no_number_of_the_page_is_shown_as_0_that_is_not(browser):
    translator = make_translator(ODD)
    with torch.no_grad():
        for weight in translator.models[0].encoder[0].feed_forward.outer.parameters():
            weight.mul_(1e-5)
    open_explainer(browser, translator, TEXT)
    change(browser, panel="forward", cell="encoder.1.ff.output:0:0")
    largest = """
        const rows = transduce.page.result.trace["encoder.1.ff.output"];
        return [rows[0][0], Math.max(...rows.map(row => Math.max(...row.map(Math.abs))))];
    """
    first, most = browser.run(largest)
    assert 0 < most < 0.001
    low, high = text_of(browser, "[data-name='encoder.1.ff.output'] .legend").split()
    assert [-number_of(low), number_of(high)] == pytest.approx([most, most], rel=0.01)
    shown = text_of(browser, "#cell-title").split(": ")[-1]
    assert number_of(shown) == pytest.approx(first, rel=1e-4)
    for text in (high, shown, text_of(browser, "#check")):
        assert re.fullmatch(r"−?\d(\.\d+)?·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+", text)


@pytest.mark.parametrize(
    ("panel", "pressed"),
    [
        ("attention", "#layers button:last-of-type"),
        ("attention", "#heads button:last-of-type"),
        ("attention", "#source-pieces button:nth-child(3)"),
        ("beam", "#boxes [aria-label='Next step']"),
        ("softmax", "#boxes .bars tr:nth-child(2) button"),
    ],
)
def test_a_button_that_was_pressed_keeps_the_focus(opened, panel, pressed):
    change(opened, panel=panel)
    name = "return [document.activeElement.ariaLabel || document.activeElement.textContent, state]"
    name = name.replace("state", "transduce.writeHash(transduce.state())")
    opened.run("document.querySelector(arguments[0]).focus()", pressed)
    before, link = opened.run(name)
    opened.press("Enter")
    opened.wait(READY)
    after, new = opened.run(name)
    assert (after, new != link) == (before, True)
    assert opened.run(
        "return document.querySelector(arguments[0]) === document.activeElement", pressed
    )


def test_a_number_opened_from_a_table_leaves_table_and_focus(opened):
    change(opened, panel="norm")
    opened.click(".box details summary")
    opened.wait("document.querySelector('.box details table')")
    button = ".box details tr:nth-child(3) td button"
    opened.run("document.querySelector(arguments[0]).focus()", button)
    opened.press("Enter")
    opened.wait("transduce.page.ready && transduce.state().cell")
    assert state(opened, "cell") == "encoder.1.self.sum:0:2"
    assert opened.run(
        "return document.querySelector(arguments[0]) === document.activeElement", button
    )


def test_with_the_mask_off_the_page_says_which_step_its_pictures_show(opened):
    change(opened, panel="softmax", off=["decoder.1.cross"])
    assert "Earlier steps" not in text_of(opened, "#changed")
    change(opened, off=["mask"])
    assert "Earlier steps read only what was written by then" in text_of(opened, "#changed")


def test_formulas_are_set_and_never_written_with_carets(opened):
    shown = "return ['equation', 'cell', 'boxes', 'exact'].map(id => window[id].textContent)"
    for panel in opened.run("return transduce.PANELS.map(one => one.id)"):
        change(opened, panel=panel, cell="source.position:1:1" if panel == "input" else "")
        for text in (*opened.run(shown), opened.run("return transduce.buildSvg()")):
            assert not re.search(r"\^|d_", text), (panel, text)
    change(opened, panel="rate")
    powers = "return [...document.querySelectorAll('#equation msup')].map(one => one.textContent)"
    assert opened.run(powers) == ["step−0.5", "warmup−1.5"]


def test_the_station_of_pieces_says_how_many_the_vocabulary_has(opened):
    change(opened, panel="pieces")
    size = opened.run("return transduce.VOCABULARIES.source.symbols.length")
    assert f"This vocabulary has {size} of them" in text_of(opened, "#plain")
    assert "END" not in text_of(opened, "#boxes")


def test_in_print_the_page_has_sentence_layer_and_head_and_no_other_control(opened):
    change(opened, panel="cross", layer=2, cell="decoder.2.cross.weights.1:0:0")
    opened.develop("Emulation.setEmulatedMedia", media="print")
    script = "return [...document.querySelectorAll('button, input, select, textarea')]"
    script += ".filter(one => one.checkVisibility() && !one.closest('.strip, #layers, #heads'))"
    assert opened.run(f"{script}.map(one => one.id)") == ["text"]
    chosen = "[...document.querySelectorAll('#layers button, #heads button')]"
    chosen = f"return {chosen}.filter(one => one.checkVisibility()).map(one => one.textContent)"
    assert opened.run(chosen) == ["2", "1"]
    opened.develop("Emulation.setEmulatedMedia", media="")


def test_a_picture_is_saved_as_svg_with_the_same_bytes(opened):
    for panel in ("input", "attention", "cross", "beam", "smoothing", "rate"):
        change(opened, panel=panel)
        first = opened.run("return transduce.buildSvg()")
        assert first == opened.run("return transduce.buildSvg()")
        parsed = "return new DOMParser().parseFromString(arguments[0], 'image/svg+xml')"
        assert opened.run(f"{parsed}.documentElement.nodeName", first) == "svg"
        assert len(first) <= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_station_is_wider_than_the_window(opened, width, scheme):
    opened.resize(width, 900)
    opened.prefer(scheme)
    opened.run("document.getElementById('what-if').open = true")
    for panel in opened.run("return transduce.PANELS.map((panel) => panel.id)"):
        change(opened, panel=panel, off=["decoder.1.self.1"])
        assert opened.run("return document.documentElement.scrollWidth") <= width, panel


@pytest.mark.slow
def test_hostile_sentences_are_shown_and_never_run(opened):
    for text in attacks()[::6]:
        change(opened, text=text[:40], prefix=text[:20], panel="softmax")
        change(opened, panel="beam")
    assert opened.run("return window.stolen || 0") == 0


@pytest.mark.slow
def test_hostile_sentences_of_the_file_are_inert(browser):
    texts = [one for one in (text[:20].strip() for text in attacks()) if one.isprintable() and one]
    open_explainer(browser, make_translator(PAPERS), *texts[:60])
    offered = (
        "return [...document.querySelectorAll('#examples button')].map(one => one.textContent)"
    )
    visible = "return transduce.header.texts.map(transduce.visible)"
    assert browser.run(offered) == browser.run(visible)
    assert browser.run("return window.stolen || 0") == 0
    assert browser.console() == []


def test_a_part_that_changes_nothing_here_is_not_said_to_be_useless(opened):
    caution = "One sentence does not show that a part is useless."
    change(opened, off=["decoder.2"])
    assert text_of(opened, "#changed").startswith("It changed.")
    assert caution not in text_of(opened, "#changed")
    change(opened, off=["encoder.1.self.1"])
    assert text_of(opened, "#changed").startswith("The translation is the same.")
    assert text_of(opened, "#changed").endswith(caution)


@pytest.mark.slow
def test_a_model_of_a_toy_task_is_not_said_to_translate_languages(browser):
    model = make_translator(ODD)
    data = replace(model.recipe.data, task="copy")
    task = build_task(data, Vocabularies(model.task.source, model.task.target))
    toy = Translator(model.models, task, replace(model.recipe, data=data))
    open_explainer(browser, toy)
    about = text_of(browser, "#about")
    assert "for the toy task “copy”" in about
    assert "English" not in about


def test_while_a_sentence_is_computed_the_one_before_is_not_called_ready(browser, page):
    browser.open_text(page)
    browser.wait(READY)
    script = "transduce.change({ text: 'a woman sees' }); transduce.change({ head: 2 });"
    assert browser.run(f"{script} return transduce.page.ready") is False
    browser.wait(READY)
    assert text_of(browser, "#busy") == "…"


def test_a_picture_is_saved_as_what_its_name_says(browser, page):
    browser.open_text(page)
    browser.wait(READY)
    browser.run(
        "window.kinds = []; const real = URL.createObjectURL.bind(URL);"
        "URL.createObjectURL = one => (kinds.push(one.type), real(one));"
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true }))"
    )
    browser.wait("kinds.at(-1) === 'image/png'")
