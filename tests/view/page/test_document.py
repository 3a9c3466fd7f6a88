"""A page: its policy names its own script and style, and a browser runs nothing else."""

import base64
import hashlib
import json
import re
import zlib

import pytest
from tests.view.hostile import attacks

from transduce.view.page.document import (
    PageParts,
    base64_block,
    build_page,
    json_block,
    pack_blocks,
)

# Any file of the package can stand for the markup here.
PARTS = PageParts(("page/dom.js",), ("page/theme.css",), "page/dom.js")


def page(title="A page", data=()):
    return build_page(title, PARTS, data)


def test_the_policy_holds_the_hashes_of_the_script_and_the_style():
    text = page()
    for name in ("script", "style"):
        inline = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in text


def test_the_policy_refuses_what_it_does_not_name():
    policy = re.search('content="(default-src[^"]*)"', page())
    assert policy
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]


def test_equal_arguments_give_equal_bytes():
    assert page(data=[json_block("a", {"b": 1})]) == page(data=[json_block("a", {"b": 1})])


def read_packed(text):
    """Return the type, id and text of each script element of a packed page."""
    (packed,) = re.findall(r'id="packed">([^<]*)</script>', text)
    bits = "".join(f"{ord(character) & 127:07b}" for character in packed[:-1])
    octets = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return json.loads(zlib.decompress(octets[: len(octets) - int(packed[-1])]))


def test_the_policy_of_a_packed_page_names_the_script_that_is_unpacked_too():
    data = [json_block("a", {"b": "</script>"}), base64_block("c", b"d")]
    packed = build_page("A page", PARTS, data, is_compressed=True)
    plain = re.findall(r"<script>(.*?)</script>", page(), re.DOTALL)
    elements = read_packed(packed)
    assert elements == [["application/json", "a", data[0].text], ["", "", plain[0]]]
    assert 'id="c">' in packed
    (policy,) = re.findall("script-src ([^;]*);", packed)
    inline = [elements[-1][2], *re.findall(r"<script>(.*?)</script>", packed, re.DOTALL)]
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in inline]
    assert policy.split() == [f"'sha256-{one.decode()}'" for one in digests]


@pytest.mark.browser
def test_a_packed_page_runs_its_script_and_no_other(browser):
    """The script is named by its hash in the policy, wherever its text comes from."""
    packed = build_page("A page", PARTS, [json_block("strings", attacks())], is_compressed=True)
    browser.open_text(packed)
    browser.wait("document.getElementById('strings')")
    codes = "t => Array.from({ length: t.length }, (_, i) => t.charCodeAt(i))"
    parsed = "JSON.parse(document.getElementById('strings').textContent)"
    assert browser.run(f"return {parsed}.map({codes})") == [utf16_codes(one) for one in attacks()]
    assert browser.console() == []
    (before,) = re.findall(r'id="packed">([^<]*)<', packed)
    (after,) = pack_blocks([json_block("late", 1)], "window.stolen = 1")
    browser.open_text(packed.replace(before, after.text))
    browser.wait("document.getElementById('late')")
    assert browser.run("return window.stolen || 0") == 0
    assert len(browser.refusals()) == 1


@pytest.mark.browser
def test_a_browser_that_cannot_unpack_a_page_is_told(browser):
    packed = build_page("A page", PARTS, [], is_compressed=True)
    (before,) = re.findall(r'id="packed">([^<]*)<', packed)
    browser.open_text(packed.replace(before, "AAAA"))
    browser.wait("document.body.textContent.includes('unpack')")
    assert "cannot unpack" in browser.run("return document.body.textContent")


def test_a_mark_in_the_data_stays_a_mark():
    """Parts are joined: nothing is replaced after the data is in."""
    text = page(data=[json_block("a", "%s {title} $1 TITLE")])
    assert '"%s {title} $1 TITLE"' in text


@pytest.mark.parametrize("title", ["</title><script>x()</script>", "a & b < c", "\ud800\x00\u202e"])
def test_a_title_is_text(title):
    text = page(title=title)
    text.encode("utf-8")
    assert "<script>x()" not in text
    assert text.count("</title>") == 1


def utf16_codes(text):
    encoded = text.encode("utf-16-le", "surrogatepass")
    return [low + 256 * high for low, high in zip(encoded[::2], encoded[1::2], strict=True)]


@pytest.mark.browser
def test_the_browser_reads_hostile_data_back_and_runs_none_of_it(browser):
    strings = attacks()
    data = [json_block("strings", strings), base64_block("bytes", bytes(range(256)))]
    browser.open_text(page(title="".join(strings), data=data))
    codes = "t => Array.from({ length: t.length }, (_, i) => t.charCodeAt(i))"
    parsed = "JSON.parse(document.getElementById('strings').textContent)"
    assert browser.run(f"return {parsed}.map({codes})") == [utf16_codes(text) for text in strings]
    read = (
        "return [...atob(document.getElementById('bytes').textContent)].map(c => c.charCodeAt(0))"
    )
    assert browser.run(read) == list(range(256))
    assert browser.run("return window.stolen || 0") == 0
    assert browser.requests() == []
    assert browser.console() == []


@pytest.mark.browser
def test_a_page_without_the_escapes_runs_them(browser):
    """The control: the same strings, in a page that writes them as they are."""
    unsafe = f"<!doctype html><meta charset=utf-8><p>{'</p><p>'.join(attacks()[:60])}"
    browser.open_text(unsafe.encode("utf-8", "replace").decode("utf-8"))
    assert browser.run("return window.stolen || 0") > 10


@pytest.mark.browser
def test_the_policy_refuses_another_script_and_every_request(browser):
    changed = page().replace("</body>", "<script>window.stolen = 1</script></body>")
    changed = changed.replace("</body>", '<img src="https://example.invalid/x.png"></body>')
    browser.open_text(changed)
    assert browser.run("return window.stolen || 0") == 0
    assert len(browser.refusals()) == 2
