"""Data blocks: what goes in comes out, and nothing of it can be markup."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.view.hostile import attacks

from transduce.view.page.document import base64_block, encode_json, encode_seven_bits, json_block

STRINGS = st.text(st.characters(exclude_categories=()), max_size=40)


class Scripts(HTMLParser):
    """Collects the elements of a page and the text of its scripts, as another parser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser's signature
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


@given(st.recursive(STRINGS | st.integers() | st.none(), lambda inner: st.lists(inner)))
def test_json_reads_back_as_what_was_written(value):
    assert json.loads(encode_json(value)) == value


@given(STRINGS)
def test_no_string_leaves_its_script_element(text):
    require_one_script(text)


@pytest.mark.parametrize("text", attacks())
def test_no_hostile_string_leaves_its_script_element(text):
    require_one_script(text)


def require_one_script(text):
    page = Scripts(json_block("data", [text]).to_html())
    assert page.tags == ["script"]
    assert json.loads("".join(page.texts)) == [text]


@given(STRINGS)
def test_every_string_can_be_written_as_utf_8_and_holds_no_line_end_of_javascript(text):
    written = encode_json({"text": text})
    written.encode("utf-8")
    assert not set(written) & set("<>&\u2028\u2029\n\r")


def test_there_are_two_hundred_hostile_strings():
    assert len(set(attacks())) >= 200


def test_not_a_number_is_refused_since_a_browser_could_not_read_it():
    with pytest.raises(ValueError, match="JSON"):
        encode_json(float("nan"))


def test_bytes_are_written_as_base64():
    assert base64_block("weights", b"\x00\xff").text == "AP8="


@given(st.binary(max_size=300))
def test_bytes_in_seven_bits_a_character_come_back(content):
    text = encode_seven_bits(content)
    bits = "".join(f"{ord(character) & 127:07b}" for character in text)
    assert bytes(int(bits[i : i + 8], 2) for i in range(0, 8 * len(content), 8)) == content
    assert len(text) == -(-len(content) // 7) * 8
    assert not set(text) & set("\0\r<")


def test_seven_bits_a_character_take_less_space_than_base64():
    content = bytes(range(256)) * 70
    assert len(encode_seven_bits(content).encode()) < 1.2 * len(content)
