"""Read back what a page has drawn: its exported picture, its tables, its link."""

import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
CELLS = (  # the texts of a table's rows
    "(rows => [...document.querySelectorAll(rows)].map(r => [...r.children].map(c => c.innerText)))"
)
LEFT, RIGHT = 54, 14  # margins of a panel
BLUE, BROWN = "#0a58ca", "#b35900"  # the colours of the first two runs


def drawing(browser):
    """Return the panels of the exported picture, in the page's order."""
    root = ElementTree.fromstring(browser.run("return window.transduce.drawSvg()"))
    return [one for one in root.findall(f"{SVG}g") if "transform" in one.attrib]


def linear(pairs):
    """Return the straight line through the first and the last of (pixel, value) pairs."""
    (p, a), (q, b) = pairs[0], pairs[-1]
    return lambda pixel: a + (pixel - p) / (q - p) * (b - a)


def number(label):
    factor = {"k": 1e3, "M": 1e6}.get(label[-1], 1)
    return float(label.rstrip("kM")) * factor


def scales(panel):
    """Return the functions from pixels to x and to y, as the labels of the axes have them."""
    texts = panel.findall(f"{SVG}text")
    y = [t for t in texts if t.get("x") == str(LEFT - 6)]
    x = [t for t in texts if t.get("text-anchor") == "middle"]
    return (
        linear([(float(t.get("x")), number(t.text)) for t in x]),
        linear([(float(t.get("y")) - 4, number(t.text)) for t in y]),
    )


def read_across(panel):
    """Return the labels of x, from left to right."""
    return [t.text for t in panel.findall(f"{SVG}text") if t.get("text-anchor") == "middle"]


def lines(panel, color, width):
    """Return the points of the curves of a colour and width, in pixels; a mark has two at most."""
    drawn = panel.find(f"{SVG}g").iter(f"{SVG}path")
    found = [
        p.get("d") for p in drawn if (p.get("stroke"), p.get("stroke-width")) == (color, width)
    ]
    curves = [re.findall(r"[ML](\S+) ([\d.-]+)", path) for path in found]
    dotted = [p.get("d") for p in panel.iter(f"{SVG}path") if p.get("stroke-dasharray") == "1 3"]
    return [
        [tuple(map(float, pair)) for pair in curve]
        for curve, path in zip(curves, found, strict=True)
        if path not in dotted
    ]


def values(browser):
    """Return the column of each run in the table: its name, then its values."""
    _heads, *columns = zip(*browser.run(f"return {CELLS}('#values tr')"), strict=True)
    return list(map(list, columns))


def link(browser):
    return browser.run("return location.hash.slice(1)")
