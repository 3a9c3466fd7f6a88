"""HTML: sentences out, translations in, and not one byte of markup changed."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.documents.document import ParseOptions
from transduce.text.documents.html import parse_html, split_html

PAGE = """<!DOCTYPE html>
<html lang=en><head><title>A  title. More&nbsp;title.</title>
<style>p > b {color: red}</style></head><body><!-- Not <b>me</b> -->
<p translate=no>Keep <b>me</b>.<p class="x y">Hello <b>wor&shy;ld</b>! It costs &lt; 6 &euro; now.
Yes
 or no? 1990. &nbsp;<br/>a < b<pre>as is</pre> <code>x<i>y</code> and <A HREF='a>b'>&eacute;nd</A>
<span class="z notranslate">no <i translate=yes>but me</i> no</span> &copy; <input value="Val">
<script>var a = "<b>Not me.</b>";</script></div><![CDATA[Not me]]><?php echo "Not me"; ?></body> &
"""
SENTENCES = [
    "A  title.", "More\xa0title.", "Hello", "wor\xadld", "It costs < 6 € now.", "Yes\n or no?",
    "a < b", "and", "énd", "but me",
]  # fmt: skip
TRANSLATED = """<!DOCTYPE html>
<html lang=en><head><title>@ @</title>
<style>p > b {color: red}</style></head><body><!-- Not <b>me</b> -->
<p translate=no>Keep <b>me</b>.<p class="x y">@ <b>@</b>! @
@ 1990. &nbsp;<br/>@<pre>as is</pre> <code>x<i>y</code> @ <A HREF='a>b'>@</A>
<span class="z notranslate">no <i translate=yes>@</i> no</span> &copy; <input value="Val">
<script>var a = "<b>Not me.</b>";</script></div><![CDATA[Not me]]><?php echo "Not me"; ?></body> &
"""
TAGS = """<p> </p> <b> </b> <br> <i translate=no> <i translate=yes> </i> <pre> </pre> <script>
    </script> <!-- --> <! <? <![ ]]> <a <a$ </ </a href="> &amp; &nbsp; &#x; & < > " ' = <li>
    <table> <% %> <%= > <![if <textarea> </textarea> <title> </title> <svg/> <!doctype"""
MARKUP = st.sampled_from([*TAGS.split(), "One. Two", " ", "\n", "ä", "\0", "\u2028", "\r\n"])


def test_text_nodes_are_split_into_sentences():
    assert list(split_html(PAGE).sentences) == SENTENCES


def test_a_document_that_is_not_changed_comes_back_byte_for_byte():
    split = split_html(PAGE)
    assert split.join(split.sentences) == PAGE


def test_only_text_is_changed():
    split = split_html(PAGE)
    assert split.join(["@"] * len(SENTENCES)) == TRANSLATED


def test_the_code_of_a_template_is_markup():
    page = '<p>I <%= if x > 1\n%>see <a href="<%= url %>">it</a>.<% end %></p> a <% b'
    assert split_html(page, inline=True).sentences == ("I see it.", "a <% b")
    assert split_html(page).join(["@"] * 4) == (
        '<p>@ <%= if x > 1\n%>@ <a href="<%= url %>">@</a>.<% end %></p> @'
    )


def test_the_page_names_the_language_of_its_translation():
    page = '<HTML class=a xml:lang="en" lang="en-GB"><p lang="en">One.</p><!-- <html lang=en> -->'
    split = split_html(page, "en", target="de")
    assert split.join(["Eins."]) == (
        '<HTML class=a xml:lang="de" lang="de"><p lang="en">Eins.</p><!-- <html lang=en> -->'
    )
    assert split_html(PAGE, target="de").join(SENTENCES) == PAGE.replace("lang=en", "lang=de")
    assert split_html(PAGE, "fr", target="de").join(SENTENCES) == PAGE
    page = '<html lang="en_US"><p>One.</p>'
    assert split_html(page, "en", target="de").join(["One."]) == page.replace("en_US", "de")


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        ('<meta charset="iso-8859-1">', "iso-8859-1"),
        (
            "<META content='text/html; charset=windows-1252' http-equiv=content-type>",
            "windows-1252",
        ),
        ("<meta charset=UTF-8>", None),
        ("<meta charset=utf8><p>charset=latin1", None),
    ],
)
def test_a_charset_that_the_translation_will_not_have_is_a_warning(head, charset):
    warnings = parse_html(f"{head}<p>One.", ParseOptions()).warnings
    assert [charset in one for one in warnings] == ([True] if charset else [])


@pytest.mark.parametrize("digits", ["0" * 5_000 + "65", "9" * 5_000])
def test_a_reference_of_thousands_of_digits_stays_and_is_one_unknown_character(digits):
    page = f'<p title="&#{digits};">A &#{digits}; dog.</p>'
    split = split_html(page)
    assert split.sentences == ("A \ufffd dog.",)
    assert split.join(split.sentences) == page


def test_a_translation_cannot_become_markup():
    split = split_html("<p>One.</p>")
    joined = split.join(["<script>alert(1)</script> & \0"])
    assert joined == "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; \ufffd</p>"


@pytest.mark.parametrize("tag", ["script", "style", "pre", "code", "textarea", "svg", "template"])
def test_code_and_its_like_are_not_translated(tag):
    assert split_html(f"<{tag}>One <b>two</b></{tag}>three").sentences == ("three",)
    assert split_html(f"<{tag}>One").sentences == ()


@pytest.mark.parametrize(
    ("fragment", "sentences"),
    [
        ("<b translate=no>a</b>b", ["b"]),
        ("<ul translate='NO'><li>a<li translate>b<li>c</ul>d", ["b", "d"]),
        ("<p translate=no>a<p>b", ["b"]),
        ("<td translate=no>a<td>b<tr><td>c", ["b", "c"]),
        ("<br translate=no>a<img translate=no />b", ["a", "b"]),
        ("<b translate=no>a</i>b</b>c", ["c"]),
        ("<b translate=no><i>a</b>b", ["b"]),
        ("<pre translate=yes>a", []),
        ("<![<p>a", ["a"]),
    ],
)
def test_what_the_author_excludes_is_not_translated(fragment, sentences):
    assert list(split_html(fragment).sentences) == sentences


@given(st.lists(MARKUP).map("".join))
def test_any_tag_soup_comes_back(soup):
    split = split_html(soup)
    assert split.join(split.sentences) == soup
    assert all(any(map(str.isalpha, html.unescape(one))) for one in split.sentences)


def test_a_thousand_open_elements_need_no_recursion():
    soup = "<b>" * 1_100 + "<i>x" * 500 + "</u></i>" * 500 + "</b>" * 1_100 + "end"
    assert list(split_html(soup).sentences) == ["x"] * 500 + ["end"]


@pytest.mark.parametrize("start", ["<a ", "<a b='", "<!--", "</a ", "<![", "<? "])
def test_tags_that_never_end_take_no_quadratic_time(start):
    soup = "One." + start * 20_000
    split = split_html(soup)
    assert split.sentences == ("One.",)
    assert split.join(["Eins."]) == "Eins." + start * 20_000


def test_text_beside_a_tag_without_a_partner_is_split_by_the_rules_of_its_language():
    pytest.importorskip("sentencex")
    split = split_html("<p>Aquí <b>vive el Sr. López.</p>", "es", inline=True)
    assert list(split.sentences) == ["Aquí", "vive el Sr. López."]
