"""The translation page as text: its size, its policy, and what a form puts into it."""

from dataclasses import replace

from transduce.view.translation.page import Form, PageSettings, TranslationPage

SETTINGS = PageSettings([("en", "de"), ("de", "en")], {"en": "English"}, 5_000, 64)


def test_the_page_is_below_forty_kilobytes_and_asks_its_own_server_only():
    page = TranslationPage(replace(SETTINGS, can_detect=True)).write(Form())
    assert len(page.encode()) < 40_000
    assert "default-src 'none'" in page
    assert "connect-src 'self'; base-uri 'none'; form-action 'self'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_languages_can_be_detected_where_the_server_can_and_are_told():
    assert '<option value="auto"' not in TranslationPage(SETTINGS).write(Form())
    settings = replace(SETTINGS, can_detect=True)
    fresh = TranslationPage(settings).write(Form())
    assert '<option value="auto">detect language</option><option value="en" selected>' in fresh
    asked = TranslationPage(settings).write(Form("a", "b", "auto", "de", "en"))
    assert '<option value="auto" selected>detected: English</option><option value="en">' in asked


def test_what_a_form_holds_is_escaped_and_no_mark_in_it_is_filled():
    form = Form("<!--translation--></textarea>", "<script>", "de", "en")
    page = TranslationPage(SETTINGS).write(form)
    assert "&lt;!--translation--&gt;&lt;/textarea&gt;</textarea>" in page
    assert ">&lt;script&gt;</div>" in page
    assert page.count("<script>") == 1
    assert '<option value="de" selected>de</option><option' not in page
    assert '<option value="en">English</option><option value="de" selected>de</option>' in page
