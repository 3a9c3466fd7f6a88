"""What the page saves: SVG, PNG and CSV of what is shown."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from tests.view.attention.opened import list_lines, load_view, open_view
from tests.view.attention.samples import make_view

pytestmark = pytest.mark.browser
VIEW = make_view()
SPACE = "{http://www.w3.org/2000/svg}"
PATH = re.compile(r"M(\S+) (\S+)L(\S+) (\S+)")


def read_svg(browser):
    return ElementTree.fromstring(browser.run("return transduce.buildSvg()"))


def test_rows_are_saved_in_the_geometry_and_colours_of_the_papers_figures(browser):
    browser.prefer("light")
    open_view(browser, VIEW, "v=rows&l=5&h=5,6&q=9&e=1")
    drawing = read_svg(browser)
    groups = drawing.findall(f"{SPACE}g")
    assert {one.get("stroke") for one in groups} == {"#9467bd", "#8c564b"}
    paths = [PATH.match(str(path.get("d"))) for one in groups for path in one]
    lines = [path.groups() for path in paths if path]
    assert {(float(x), float(y)) for x, y, _, _ in lines} == {(15 * 9 + 7.5, 80)}
    assert {float(y) for _, _, _, y in lines} == {180}
    assert all((float(x) - 7.5) % 15 == 0 for _, _, x, _ in lines)
    assert len(lines) == len(list_lines(browser))
    opacities = sorted(float(one.get("stroke-opacity")) for one in groups for _ in one)
    assert opacities == pytest.approx(sorted(list_lines(browser).values()), abs=0.001)


@pytest.mark.parametrize("name", ["lines", "rows", "matrix", "grid", "align"])
def test_every_view_is_saved_as_well_formed_svg(browser, name):
    view = make_view(["<b>&\"'", "\x00\x1b", "]]>", "a\uffff"], ["x", "y"], layers=2, heads=2)
    open_view(browser, view, f"v={name}&q=1")
    drawing = read_svg(browser)
    assert float(drawing.get("width")) > 0
    texts = [one.text for one in drawing.iter(f"{SPACE}text")]
    if name in ("lines", "rows", "matrix"):
        assert "<b>&\"'" in texts
        assert {"[U+0000][U+001B]", "a[U+FFFF]"} <= {*texts}


LONG = make_view([f"word{i}" for i in range(26)], ["a"])
SAVED = """
const done = arguments[0], svg = transduce.buildSvg();
transduce.buildPng(svg, 1).then(async (png) =>
  done([svg, transduce.buildCsv(), Array.from(new Uint8Array(await png.arrayBuffer()))]));
"""


def save_all(browser):
    """Return SVG, PNG and CSV of what is shown, as bytes."""
    svg, table, png = browser.command("execute/async", {"script": SAVED, "args": []})
    return svg.encode(), bytes(png), table.encode()


@pytest.mark.parametrize("name", ["lines", "rows", "matrix"])
def test_a_picture_of_27_words_and_8_heads_has_at_most_200_kilobytes(browser, name):
    """Row V17."""
    open_view(browser, LONG, f"v={name}&e=1")
    assert max(map(len, save_all(browser))) <= 200_000


DIFFERENCES = """
const done = arguments[0], svg = transduce.buildSvg();
(async () => {
  const image = new Image(), saved = await createImageBitmap(await transduce.buildPng(svg, 1));
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const [drawn, read] = [image, saved].map((one) => {
    const { width, height } = saved;
    const pen = new OffscreenCanvas(width, height).getContext("2d");
    pen.drawImage(one, 0, 0);
    return pen.getImageData(0, 0, width, height).data;
  });
  const found = new Set();
  drawn.forEach((value, i) => found.add(read[i] - value));
  done([...found].sort());
})();
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_png_has_the_colours_of_the_svg_or_the_next_odd_ones(browser, theme):
    browser.prefer(theme)
    open_view(browser, LONG, "v=lines&e=1")
    assert browser.command("execute/async", {"script": DIFFERENCES, "args": []}) == [0, 1]


@pytest.mark.parametrize("link", ["v=lines&q=2", "v=rows&h=2", "v=matrix&c=1", "v=grid", "v=align"])
def test_equal_states_give_equal_bytes(browser, link):
    """Row V18, for what is saved."""
    load_view(browser, VIEW, link)
    first = save_all(browser)
    load_view(browser, VIEW, link)
    assert save_all(browser) == first


def test_png_is_as_large_as_asked_for(browser):
    open_view(browser, VIEW, "v=rows&q=2")
    script = """
    const done = arguments[0];
    transduce.buildPng(transduce.buildSvg(), 3).then(async (blob) => {
      const bitmap = await createImageBitmap(blob);
      done([blob.type, bitmap.width, bitmap.height]);
    });
    """
    kind, width, height = browser.command("execute/async", {"script": script, "args": []})
    svg = read_svg(browser)
    assert kind == "image/png"
    assert (width, height) == (3 * int(svg.get("width")), 3 * int(svg.get("height")))


def test_a_picture_too_high_for_a_canvas_is_saved_smaller(browser):
    open_view(browser, VIEW)
    script = """
    const done = arguments[0], size = 'width="10" height="40000"';
    transduce.buildPng(`<svg xmlns="http://www.w3.org/2000/svg" ${size}/>`, 4).then(async (blob) =>
      done([blob?.type, (await createImageBitmap(blob)).height]));
    """
    kind, height = browser.command("execute/async", {"script": script, "args": []})
    assert kind == "image/png"
    assert 30_000 < height <= 32_767  # the longest side of a canvas in Firefox


def test_csv_holds_the_weights_that_are_drawn(browser):
    view = make_view(['say "x", y', "b"], ["c"], layers=2, heads=2)
    open_view(browser, view, "k=cross&l=2&h=1&e=1&t=0")
    rows = list(csv.DictReader(io.StringIO(browser.run("return transduce.buildCsv()"))))
    assert len(rows) == 2 * 3
    assert rows[0]["read_text"] == 'say "x", y'
    for row in rows:
        expected = view.weights["cross"][1, 0, int(row["reader"]) - 1, int(row["read"]) - 1]
        assert float(row["weight"]) == pytest.approx(expected, abs=0.004)


def test_contrast_of_squares_and_lines_is_high_enough(browser):
    """Text on a head's square 4.5, lines on the page 3, both palettes, light and dark."""
    open_view(browser, VIEW)
    script = """
    const { headColour, offColour, readable, inkOn, contrast } = transduce, found = [];
    for (const second of [false, true])
      for (let head = 1; head <= 10; head++) {
        const [on, off] = [headColour(head, second), offColour(head, second)];
        found.push([contrast(inkOn(on), on), contrast(inkOn(off), off),
          ...['#ffffff', '#0d1117'].map((paper) => contrast(readable(on, paper), paper))]);
      }
    return found;
    """
    found = np.array(browser.run(script))
    assert found[:, :2].min() >= 4.5
    assert found[:, 2:].min() >= 3


def test_a_word_that_xml_may_not_hold_is_saved_as_png(browser):
    open_view(browser, make_view(["a\uffff", "\ufffe"], ["x"], layers=1, heads=1), "v=lines")
    _, png, _ = save_all(browser)
    assert png.startswith(b"\x89PNG")
