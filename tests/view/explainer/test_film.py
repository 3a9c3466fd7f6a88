"""The film of one minute: its length, what it says and shows, and one of a teacher's own."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tests.view.explainer.opened import READY, open_explainer, text_of
from tests.view.explainer.samples import ODD, make_translator
from tests.view.explainer.test_model import stored_model

from transduce.errors import InputError
from transduce.inference.translator import Translator
from transduce.settings.alignment import AlignmentHeads
from transduce.view.explainer.explain import explain
from transduce.view.explainer.reference import trace_model
from transduce.view.explainer.user_files import PARTS, PICTURES, read_film, time_lines
from transduce.view.page.document import read_texts

TEXTS = ("the old dog sees a woman", "a woman sees the dog")
# Plays the film by a clock of its own; returns the seconds for which each caption stood.
PLAY = """
const frames = [], stood = new Map(), caption = document.getElementById("film-caption");
let clock = 1000;
window.requestAnimationFrame = frame => frames.push(frame);
transduce.film.time = 0;
document.getElementById("film-play").click();
for (let count = 0; frames.length && count < 5000; count++) {
  clock += 50;
  frames.splice(0).forEach(frame => frame(clock));
  stood.set(caption.textContent, (stood.get(caption.textContent) ?? 0) + 0.05);
}
return [[...stood], transduce.film.isPlaying];
"""
SHOW = """
document.getElementById("film-scrub").value = arguments[0];
document.getElementById("film-scrub").dispatchEvent(new Event("input"));
"""
# What the row predicts that the film frames.
FRAMED = """
const box = one => one.getBoundingClientRect(), frame = box(document.querySelector(".film-ring"));
const isFramed = ({ top, bottom }) =>
  top + bottom > 2 * frame.top && top + bottom < 2 * frame.bottom;
return [...document.querySelectorAll("#film-picture text")]
  .filter(one => isFramed(box(one)) && one.textContent.startsWith("→")).map(one => one.textContent);
"""


@pytest.fixture(scope="module")
def translator() -> Translator:
    return make_translator(ODD)


def open_film(browser, translator, **settings):
    open_explainer(browser, translator, *TEXTS, **settings)
    assert not browser.run("return document.getElementById('film').open"), "it began by itself"
    browser.click("#begin-film")
    browser.wait("transduce.film.data && transduce.film.isPlaying")
    browser.click("#film-play")
    assert not browser.run("return transduce.film.isPlaying")


def show(browser, picture, share=0.9):
    lines = browser.run("return transduce.film.lines")
    (line,) = (one for one in lines if one["picture"] == picture)
    browser.run(SHOW, round(line["begin"] + share * (line["end"] - line["begin"]), 1))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_film_takes_a_minute_and_every_caption_can_be_read(browser, translator, language):
    open_film(browser, translator, language=language)
    stood, is_playing = browser.run(PLAY)
    assert not is_playing
    assert sum(seconds for _, seconds in stood) == pytest.approx(60, abs=5)
    for caption, seconds in stood:
        assert seconds >= len(caption) / 15 - 0.1, caption
    lines = browser.run("return transduce.film.lines.map(one => one.text)")
    assert [caption for caption, _ in stood] == lines
    assert browser.console() == []
    assert browser.requests() == []


def test_its_lines_are_those_of_the_heads_that_were_chosen_for_word_alignments(translator):
    chosen = AlignmentHeads(2, (1, 3), shifted=False)
    page = explain(replace(translator, alignment_heads=chosen), *TEXTS).page
    (header,) = re.findall(r'id="header"[^>]*>(.*?)</script>', page)
    reading = json.loads(header)["reading"]
    assert [reading[name] for name in ("layer", "heads", "shifted")] == [2, [1, 3], False]


@pytest.mark.browser
def test_its_pictures_have_the_numbers_of_the_model(browser, translator):
    open_film(browser, translator)
    header = browser.run("return transduce.header")
    reading, swap = header["reading"], header["experiments"]["positions"]
    (source,) = translator.task.encode_sources([reading["text"]])
    output = browser.run("return transduce.film.data.output")
    rows = trace_model(stored_model(translator), source, output)
    weights = torch.stack(
        [rows[f"decoder.{reading['layer']}.cross.weights.{h}"] for h in reading["heads"]]
    ).mean(dim=0)
    data = browser.run(
        "const { sourceWords, targetWords } = transduce.film.data; "
        "return [sourceWords, targetWords].map(side => side.map(one => one[1]))"
    )
    steps = [min(piece + reading["shifted"], len(output) - 1) for piece in data[1][-1]]
    expected = [float(weights[steps][:, word].sum(dim=1).mean()) for word in data[0]]
    show(browser, "write")
    lines = "return [...document.querySelectorAll('.film-line')]"
    opacities = browser.run(f"{lines}.map(one => one.getAttribute('opacity'))")
    assert list(map(float, opacities)) == pytest.approx(
        [weight for weight in expected if weight >= 0.05], abs=0.001
    )
    show(browser, "swap")
    for said in (swap["text"], swap["before"], swap["after"]):
        assert said[:75] in text_of(browser, "#film-picture")


@pytest.mark.browser
def test_without_positions_two_orders_of_the_same_words_have_one_translation(browser, translator):
    """The film shows both, each with and without positions."""
    texts = ("the dog sees the woman", "the woman sees the dog")
    open_explainer(browser, translator, *texts)
    browser.run(
        "Object.assign(transduce.header.experiments.positions, "
        "{ text: arguments[0], twin: arguments[1], off: ['source.position'] })",
        *texts,
    )
    browser.click("#begin-film")
    browser.wait("transduce.film.data && transduce.film.isPlaying")
    (first, one, without), (second, other, same) = browser.run("return transduce.film.data.swapped")
    assert (first, second) == texts
    assert without == same
    assert one != other
    show(browser, "swap")
    lines = browser.run(
        "return [...document.querySelectorAll('#film-picture text')].map(one => one.textContent)"
    )
    assert lines[:4:2] == [*texts]
    assert lines[4] == "both, without positions"
    for line, said in zip(lines[1::2], (one, other, without), strict=True):
        assert line[:40] == browser.run("return transduce.visible(arguments[0])", said[:75])[:40]


# What of the film's texts is out of its picture, and whether a frame crosses the label of a model.
OUTSIDE = """
const box = one => one.getBoundingClientRect(), picture = box(document.querySelector("#film svg"));
const texts = [...document.querySelectorAll("#film-picture svg > text")];
const outside = texts.filter(one => box(one).left < picture.left || box(one).right > picture.right);
const ring = document.querySelector("#film-picture svg > .film-ring"), frame = ring && box(ring);
const label = texts.find(one => one.textContent === "GPT");
const isCrossed = label && box(label).left < frame.right && box(label).right > frame.right;
return [outside.map(one => one.textContent), Boolean(isCrossed)];
"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_of_the_film_is_cut_or_crossed(browser, translator, width):
    browser.resize(width)
    open_film(browser, translator)
    browser.run("transduce.film.data.stages = ['saus'.repeat(40), 'Wir?', 'oder '.repeat(40)]")
    browser.run("transduce.header.stages = Array(3).fill({ name: 'untrained', step: 0 })")
    browser.run("transduce.film.lines[0].picture = 'stages'")
    for line in browser.run("return transduce.film.lines"):
        browser.run(SHOW, round(line["end"] - 0.1, 1))
        assert browser.run(OUTSIDE) == [[], False], line["picture"]
    browser.resize(1200, 900)


@pytest.mark.browser
@pytest.mark.parametrize("end", [".", "。", "!"])
def test_a_narrow_film_shows_the_sentences_of_a_note_whatever_ends_them(
    browser, translator, tmp_path, end
):
    texts = {text: text.replace(".", end) for text in read_texts("explainer")["de"]}
    file = tmp_path / "ja.json"
    file.write_text(json.dumps(texts), encoding="utf-8")
    browser.resize(390)
    open_film(browser, translator, page_texts=file)
    browser.run("transduce.film.data.targetPieces.fill('.')")
    show(browser, "mask")
    lines = "[...document.querySelectorAll('#film-picture svg > .quiet-text')]"
    shown = browser.run(f"return {lines}.map(one => one.textContent.trim())")
    rows = f"All rows at once; blue: how much each reads{end}"
    framed = f"The framed row is to predict “.”{end}"
    masked = f"So “.” and all after it are masked (hatched) there{end}"
    assert shown == [rows, *([f"{framed} {masked}"] if end == "!" else [framed, masked])]
    assert browser.console() == []
    browser.resize(1200, 900)


@pytest.mark.browser
def test_no_word_of_the_film_runs_into_the_next_one_even_in_bold(browser, translator):
    browser.resize(1280, 800)
    open_film(browser, translator)
    words = [["WWWWWWWWWWW?", [0]], ["um", [1]]] * 5
    browser.run("transduce.film.data.targetWords = arguments[0]", words)
    show(browser, "sentence")
    found = browser.run(
        """
        const texts = [...document.querySelectorAll("#film-picture .film-accent")];
        for (const one of texts) one.classList.add("film-bold");
        return texts.map(one => one.getBoundingClientRect());
        """
    )
    assert len(found) == len(words)
    assert all(one["right"] + 3 < other["left"] for one, other in pairwise(found))
    browser.resize(1200, 900)


@pytest.mark.browser
def test_in_training_all_words_are_given_and_the_mask_hides_those_that_the_film_names(
    browser, translator
):
    open_film(browser, translator)
    text = browser.run("return transduce.header.reading.text")
    (source,) = translator.task.encode_sources([text])
    output = browser.run("return transduce.film.data.output")
    show(browser, "mask")
    read = "return [...document.querySelectorAll('#film-picture text')].map(one => one.textContent)"
    count = len(output)
    shown = browser.run(read)
    assert [one for one in shown if one.startswith("→")][-1] == "→ </s>"
    assert shown.count("<s>") == 2, "all that is given stands at the rows and above the columns"
    assert len(shown) == 3 * count + 2
    hatched = "return document.querySelector('#film-picture .hatch').getAttribute('d').split('M')"
    assert len(browser.run(hatched)) - 1 == count * (count - 1) / 2
    rows = trace_model(stored_model(translator), source, output)
    masked = rows["decoder.1.self.weights.1"]
    shades = "return [...document.querySelectorAll('#film-picture .above')].map(one => "
    shades = browser.run(shades + "Number(one.getAttribute('fill-opacity')) * 12)")
    expected = {round(12 * float(weight)) for weight in masked.flatten()} - {0}
    assert sorted(shades) == pytest.approx(sorted(expected))
    (row,) = browser.run(FRAMED)
    piece = row.removeprefix("→ ")
    assert piece in shown, "is also above a column"
    assert f"“{piece}” and all after it are masked (hatched) there." in shown[-1]
    show(browser, "mask", 0.1)
    assert browser.run(read) == shown, "from the beginning, so that it can be read"


@pytest.mark.browser
def test_the_film_names_the_head_that_it_takes_out(browser, translator):
    open_film(browser, translator)
    layer = browser.run("return transduce.header.reading.layer")
    show(browser, "without")
    taken = browser.run("return transduce.film.data.taken")
    assert taken.startswith(f"{layer}.")
    head = f"without head {taken} (cross-attention), whose largest weight is on "
    pieces = "return [transduce.film.data.sourcePieces, transduce.film.data.targetPieces]"
    source, target = browser.run(pieces)
    rows = browser.run(
        "const [layer, head] = arguments[0].split('.'); return transduce.film.data.trace["
        "`decoder.${layer}.cross.weights.${head}`].map(row => Array.from(row))",
        taken,
    )
    place = max((x, i, j) for i, row in enumerate(rows) for j, x in enumerate(row))[1:]
    named = [*target, "</s>"][place[0]], [*source, "</s>"][place[1]]
    assert f"{head}“{named[1]}” for “{named[0]}”" in text_of(browser, "#film-picture")


@pytest.mark.browser
def test_at_its_end_the_film_leads_to_the_tour(browser, translator):
    open_film(browser, translator)
    is_shown = "return document.getElementById('film-tour').checkVisibility()"
    browser.run(SHOW, 59)
    assert not browser.run(is_shown)
    browser.run(SHOW, 60)
    assert browser.run(is_shown)
    browser.click("#film-tour")
    browser.wait("transduce.page.ready && transduce.state().tour === 1")
    assert not browser.run("return document.getElementById('film').open")


@pytest.mark.browser
def test_it_stands_still_for_those_who_ask_for_it_and_goes_where_it_is_scrubbed(
    browser, translator
):
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    open_film(browser, translator)
    count = "return document.querySelectorAll('#film-picture g').length"
    show(browser, "heads", 0.1)
    moving = browser.run(count)
    browser.develop("Emulation.setEmulatedMedia", features=[still])
    browser.run(SHOW, browser.run("return transduce.film.time"))
    assert browser.run(count) > moving, "a picture is whole from its beginning"
    browser.press("Escape")
    assert not browser.run("return document.getElementById('film').open")
    browser.develop("Emulation.setEmulatedMedia", features=[])


def test_the_pages_own_film_is_short_enough_in_both_languages():
    film, german = read_film(None), read_texts("explainer")["de"]
    assert list(dict.fromkeys(line.part for line in film)) == list(PARTS)
    for part in PARTS:
        lines = [line for line in film if line.part == part]
        assert 2 <= len(lines) <= 4
        assert [bool(line.goal) for line in lines] == [True] + [False] * (len(lines) - 1)
    for texts in ([line.text for line in film], [german[line.text] for line in film]):
        assert len(texts) <= 15
        assert sum(map(len, texts)) <= 800
        assert all(5 <= len(text.split()) <= 15 for text in texts)


LINE = {"part": "hook", "text": "Look at this.", "picture": "heads"}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([LINE] * 16, "it has not 1 to 15 captions"),
        ([LINE | {"text": "x" * 81}] * 10, "captions have 810 characters, and a minute has room"),
        ([LINE | {"picture": "video"}], "the picture 'video' is unknown; known: sentence, order"),
        ([LINE | {"needs": "luck"}], "the needs 'luck' is unknown"),
        ([LINE | {"text": " "}], "a caption is empty"),
        ({"parts": []}, "it has not 1 to 15 captions"),
        ([LINE | {"needs": "stages"}], "film.json: is no film: it has no caption without `needs`"),
    ],
)
def test_what_is_no_film_of_a_minute_is_refused(tmp_path, lines, reason):
    file = tmp_path / "film.json"
    file.write_text(json.dumps(lines))
    with pytest.raises(InputError, match=reason):
        read_film(file)


def test_who_writes_no_film_is_told_where_one_lies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.json").write_text("[")
    with pytest.raises(InputError) as refused:
        read_film(tmp_path / "film.json")
    (told,) = re.findall(r"\S+film\.json", refused.value.hint)
    assert read_film(Path(told))


def test_a_film_of_ones_own_is_in_the_page_and_in_the_storyboard(translator, tmp_path):
    file = tmp_path / "film.json"
    file.write_text(json.dumps([LINE | {"goal": "Look."}, LINE | {"text": "And look again."}]))
    found = explain(translator, *TEXTS, film=file)
    assert '"text":"And look again."' in found.page
    assert re.findall(r"\*\*(.+?)\*\* (.+)", found.storyboard) == [
        ("0.0 to 29.9 s.", "Look at this."),
        ("29.9 to 60.0 s.", "And look again."),
    ]
    assert found.storyboard.startswith("# The film: one minute\n\n## Hook\n\n*Look.*\n")


def test_each_caption_has_its_reading_time_and_all_an_equal_rest():
    times = [one for times in time_lines(["x" * 15, "x" * 30]) for one in times]
    assert times == pytest.approx([0.0, 29.5, 29.5, 60.0])


def test_translations_that_are_too_long_to_read_in_time_still_fill_a_minute_in_their_order():
    times = [one for times in time_lines(["x" * 1_000, "x" * 2_000]) for one in times]
    assert times == pytest.approx([0.0, 20.0, 20.0, 60.0])


@pytest.mark.browser
def test_the_page_shows_captions_that_are_too_long_to_read_in_time_in_their_order(
    browser, translator
):
    open_explainer(browser, translator, *TEXTS)
    browser.run(
        "const { header } = transduce, line = header.film.find(one => !one.needs);"
        "header.film = arguments[0].map(n => ({ ...line, text: 'x'.repeat(n) }));",
        [1_000, 2_000],
    )
    browser.click("#begin-film")
    browser.wait("transduce.film.data && transduce.film.isPlaying")
    times = browser.run("return transduce.film.lines.map(one => [one.begin, one.end])")
    assert times == [pytest.approx(pair) for pair in ((0.0, 20.0), (20.0, 60.0))]


@pytest.mark.browser
def test_every_picture_of_a_film_of_ones_own_is_shown_by_a_model_without_experiments(
    browser, tmp_path
):
    file = tmp_path / "film.json"
    file.write_text(json.dumps([LINE | {"picture": picture} for picture in [*PICTURES][:15]]))
    plain = replace(make_translator(ODD), alignment_heads=None)
    found = explain(plain, TEXTS[0], film=file)
    assert "None" not in found.storyboard
    assert "“”" not in found.storyboard
    browser.open_text(found.page)
    browser.wait(READY)
    browser.click("#begin-film")
    browser.wait("transduce.film.data && transduce.film.isPlaying")
    for at in range(len(PICTURES)):
        browser.run(SHOW, (at + 0.5) * 60 / len(PICTURES))
    assert browser.console() == []
