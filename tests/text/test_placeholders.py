"""What is kept in a text, and what counts as lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.placeholders import (
    ITEM,
    NAMES,
    YEARS,
    find_items,
    find_lost,
    has_words,
    list_masks,
    mask,
)


def items(text):
    return [text[start:end] for start, end in find_items(text)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Open {0}, {} or {name}.", ["{0}", "{}", "{name}"]),
        ("%s, %d, %-5.2f, %1$s, %ld", ["%s", "%d", "%-5.2f", "%1$s", "%ld"]),
        ("%(name)s ${x} %{x} #{x}", ["%(name)s", "${x}", "%{x}", "#{x}"]),
        ("{{x}}, {{ user.name }}!", ["{{x}}", "{{ user.name }}"]),
        ("{{{x}}} {{x}} {{{{x}}}}", ["{{{x}}}", "{{x}}", "{{{{x}}}}"]),
        (
            "{n, plural, one {# dog} other {# dogs}} {a}",
            [
                "{n, plural, one {# dog} other {# dogs}}",
                "{a}",
            ],
        ),
        ("{% if user %}Hello{%endif%}, {%- x -%}", ["{% if user %}", "{%endif%}", "{%- x -%}"]),
        ("<%= user.name %> has <%- n > 1 -%>.", ["<%= user.name %>", "<%- n > 1 -%>"]),
        ("%1 of %L2", ["%1", "%L2"]),
        ("100%% of 2 %s", ["100%%", "%s"]),
        ("{0}{1}-{2}", ["{0}{1}", "{2}"]),
        ("See https://a.org/b?c=%20d#e.", ["https://a.org/b?c=%20d#e"]),
        ("(https://a.org/B_(c)), <http://b.org>", ["https://a.org/B_(c)", "http://b.org"]),
        ("www.a.org/{id}!", ["www.a.org/{id}"]),
        ("请访问https://a.org/b 查看", ["https://a.org/b"]),
        ("xhttps://a.org x_www.a.org", []),
        ("a.b+c@d-e.org, mailto:x@y.z", ["a.b+c@d-e.org", "mailto:x@y.z"]),
    ],
)
def test_placeholders_urls_and_addresses_are_kept(text, kept):
    assert items(text) == kept


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("如有问题，请发邮件至{}。", "bob@example.com"),
        ("我们的网站：{}，请查看那里的说明。", "https://example.com/help"),
        ("詳しくは、{}（英語）をご覧ください。", "https://example.com/help"),
        ("お問い合わせは{}まで", "www.example.com"),
        ("자세한 내용은 {}으로 문의하십시오.", "bob@example.com"),
        ("𠮷{}", "bob@example.com"),
        ("ติดต่อ{}ครับ", "bob@example.com"),
        ("почта: {}, напишите", "почта@пример.рф"),
        ("an {} schreiben", "müller@example.de"),
    ],
)
def test_text_of_any_script_beside_an_address_is_no_part_of_it(text, address):
    assert items(text.format(address)) == [address]


@pytest.mark.parametrize(
    "text",
    ["50 % sure", "50% sure", "eine 100%ige Sicherheit", "eine 50 %ige", "a@b", "{red, blue}", "%"],
)
def test_what_only_looks_like_one_is_text(text):
    assert items(text) == []


def test_a_stand_in_is_a_word_that_the_text_has_not():
    text = "In 1981 {0} met {1} and {0}."
    masked = mask(text, YEARS)
    assert masked is not None
    assert masked.text == "In 1981 1982 met 1983 and 1982."
    assert masked.restore("1983 traf 1982 und 1982 1981.") == ("{1} traf {0} und {0} 1981.", True)


@pytest.mark.parametrize("output", ["Er traf 1982.", "1981 traf 19821.", "1981 1982 1982", ""])
def test_a_stand_in_that_is_not_there_exactly_as_often_is_noticed(output):
    masked = mask("{0} met {1}.", YEARS)
    assert masked is not None
    assert masked.restore(output)[1] is False


def test_names_come_before_years_unless_a_number_is_awaited():
    assert [one.text for one in list_masks("Open {0}.")] == ["Open Tom.", "Open 1981."]
    assert [one.text for one in list_masks("%d of %s")] == ["1981 of 1982", "Tom of Anna"]


def test_a_stand_in_that_could_not_be_read_again_is_not_used():
    assert mask("v{0}", YEARS) is None  # v1981 is one word
    assert mask(" ".join(f"{{{n}}}" for n in range(40)), NAMES) is None


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("1,250.50 dogs", "1.250,50 Hunde", []),
        ("1,250 dogs", "1 250 chiens", []),
        ("26.11.2026", "11/26/2026", []),
        ("\u0661\u0662 dogs", "12 Hunde", []),
        ("12 dogs and 12 cats", "12 Hunde und Katzen", ["12"]),
        ("Open {0} 7 times", "Öffne 7 {1}", ["{0}"]),
        ("see https://a.org/1", "siehe https://a.org/2", ["https://a.org/1"]),
        ("a dog", "7 Hunde", []),
        ("<h1>a dog&#39;s", "Hund", []),
    ],
)
def test_what_is_lost(source, translation, lost):
    assert find_lost(source, translation) == lost


def test_a_text_of_nothing_but_items_has_no_words():
    assert not has_words("{0}: https://a.org <b>%s</b> &amp; 7")
    assert has_words("{0} a")


HOSTILE = [
    *("%", "%0", "%1", "%(a", "{", "{{", "{a", "http://", "www.", "a", "a.", "a@", "<a", "&a"),
    *("请", "请a", "a@请"),
]


@pytest.mark.parametrize("part", [*HOSTILE, "1", "1,", "1 ", "%%", ")", "{a, date"])
def test_long_runs_are_read_to_their_end(part):
    # quadratic time would be minutes
    for text in (part * 20_000, HOSTILE[0] + part * 20_000, f"http://{part * 20_000}"):
        assert find_lost(f"{text} \n7", "") != []


@given(st.text(st.sampled_from("%{}@:/.wWhtpsſ0 a$ilo请"), max_size=12))
def test_no_item_is_overlooked_in_a_line_that_is_not_searched(text):
    assert any(find_items(text)) == any(ITEM.finditer(text))
