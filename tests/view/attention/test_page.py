"""The attention page in bytes: what it may weigh, and that nothing in it can be markup."""

import pytest
from tests.view.attention.samples import ENGLISH, make_view
from tests.view.hostile import attacks

from transduce.view.attention.page import PARTS, WeightEncoding, build_attention_page
from transduce.view.page.document import join_scripts, join_styles


def words(count):
    return [f"{ENGLISH[i % len(ENGLISH)]}{i}" for i in range(count)]


def test_script_and_style_have_at_most_44_kilobytes():
    script, style = join_scripts(PARTS.scripts), join_styles(PARTS.styles)
    assert len(script.encode()) + len(style.encode()) <= 44_000


@pytest.mark.parametrize(("count", "size"), [(26, 60_000), (127, 600_000)])
def test_a_page_of_one_kind_is_small(count, size):
    """Positions are one more than words: END. Row V2 counts a page with its script and style."""
    view = make_view(words(count), words(count), kinds=["encoder"])
    assert len(build_attention_page(view).encode()) <= size


def test_equal_views_give_equal_pages():
    assert build_attention_page(make_view()) == build_attention_page(make_view())


def test_another_weight_gives_another_page():
    assert build_attention_page(make_view(seed=1)) != build_attention_page(make_view(seed=2))


@pytest.mark.parametrize("compression", ["zlib", "none"])
def test_hostile_words_are_in_the_data_only_and_escaped(compression):
    encoding = WeightEncoding(compression=compression)
    plain = build_attention_page(make_view(["a"], ["b"]), encoding)
    hostile = build_attention_page(make_view(attacks()[:80], attacks()[80:160]), encoding)
    hostile.encode("utf-8")
    assert hostile.count("<script") == plain.count("<script")
    assert hostile.count("<") == plain.count("<")
