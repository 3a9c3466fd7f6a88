"""XLIFF 1.2 and 2: sources get targets, with states, and nothing else is changed."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.documents.mock_translators import repeat, swap_case

from transduce.errors import InputError
from transduce.text.documents.document import ParseOptions
from transduce.text.documents.xliff import parse_xliff
from transduce.text.pair_files import read_pair_file

OLD = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a>b.txt" source-language="en" datatype='plaintext'><!-- note -->
    <body><group>
      <trans-unit id="1">
        <source>Click <g id='1'>the <x id="2"/>button</g> &amp; go.  Then&#xA0;stop. </source>
        <alt-trans><source>Old</source><target>Alt</target></alt-trans>
      </trans-unit>
      <trans-unit id="2"><source>Done</source><target state="final">Fertig</target></trans-unit>
      <trans-unit id="3" translate="no"><source>Never</source></trans-unit>
      <trans-unit id="4"><source><![CDATA[A < B]]> here</source>
        <target state='new'>x</target></trans-unit>
      <trans-unit id="5"><source>One. Two.</source><seg-source><mrk mtype="seg" mid="0">One.</mrk>
        <mrk mtype="seg" mid="1">Two <ph id="1">&lt;br></ph> more.</mrk></seg-source><target/>
      </trans-unit>
      <trans-unit id="6"><source>42</source></trans-unit>
    </group></body>
  </file>
</xliff>
"""
NEW = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en">
 <file id="f"><unit id="u"><originalData><data id="d">Not me</data></originalData>
  <segment id="1"><source>Go <pc id="1">home</pc><ph id="2"/> now. %s files.</source></segment>
  <ignorable><source> </source></ignorable>
  <segment state="final"><source>Done</source><target>Fertig</target></segment>
  <segment><source>Use <mrk id="m" translate="no">ls <pc id="3">-l</pc></mrk> here</source>
   <target></target></segment>
 </unit><unit id="v" translate="no"><segment><source>Never</source></segment></unit></file>
</xliff>"""
SENTENCES = {
    OLD: [
        "Click the button & go.", "Then\xa0stop.", "A < B here", "One.", "Two  more."
    ],
    NEW: ["Go home now. %s files.", "Use  here"],
}  # fmt: skip


def parse(text, *, inline=True, language="de"):
    return parse_xliff(text, ParseOptions(inline, language, "a.xlf"))


def targets(text):
    """Return the text of each target that is no alternative, and of each source beside one."""
    root = ElementTree.fromstring(text.encode())
    found = []
    for unit in root.iter():
        source, target = (unit.find(f"{{*}}{name}") for name in ("source", "target"))
        if target is not None and not unit.tag.endswith("alt-trans"):
            assert source is not None
            found.append(("".join(source.itertext()), "".join(target.itertext()), target.attrib))
    return found


@pytest.mark.parametrize("text", [OLD, NEW])
def test_sources_without_a_translation_are_translated(text):
    document = parse(text)
    assert list(document.sentences) == SENTENCES[text]
    assert document.kept == 1
    assert parse(repeat(document).text.replace("needs-review", "x")).sentences == ()


def test_a_target_is_its_source_if_the_translator_changes_nothing():
    text = repeat(parse(OLD)).text
    state = {"state": "needs-review-translation", "state-qualifier": "mt-suggestion"}
    assert targets(text) == [
        ("Click the button & go.  Then\xa0stop. ",) * 2 + (state,),
        ("Done", "Fertig", {"state": "final"}),
        ("A < B here", "A < B here", state),
        ("One. Two.", "One.\n        Two <br> more.", state),
        ("42", "42", state),
    ]
    assert [one[:2] for one in targets(repeat(parse(NEW)).text)] == [
        ("Go home now. %s files.",) * 2, ("Done", "Fertig"), ("Use ls -l here",) * 2,
    ]  # fmt: skip


def test_inline_elements_follow_their_words():
    text = swap_case(parse(OLD)).text
    assert (
        """<target state="needs-review-translation" state-qualifier="mt-suggestion">"""
        """cLICK <g id='1'>THE <x id="2"/>BUTTON</g> &amp; GO.  tHEN&#xA0;STOP. </target>"""
    ).replace("&#xA0;", "\xa0") in text
    text = swap_case(parse(NEW)).text
    assert '<target>gO <pc id="1">HOME</pc><ph id="2"/> NOW. %S FILES.</target>' in text
    assert (
        '<target>uSE <mrk id="m" translate="no">ls <pc id="3">-l</pc></mrk> HERE</target>' in text
    )


@pytest.mark.parametrize("text", [OLD, NEW])
def test_without_what_was_written_the_document_is_the_same_to_the_byte(text):
    result = repeat(parse(text)).text
    for line in text.split("\n"):
        if "trans-unit" not in line and "segment" not in line and "target" not in line:
            changed = line.replace("'plaintext'>", "'plaintext' target-language=\"de\">")
            assert changed.replace('Lang="en">', 'Lang="en" trgLang="de">') + "\n" in result + "\n"
    done = result.replace("needs-review", "x")
    assert repeat(parse(done)).text == done


def test_protected_text_stays():
    text = OLD.replace("<source>42", '<source>Use <mrk mtype="protected">Tux</mrk> now')
    assert parse(text).sentences[-1] == "Use  now"
    assert 'uSE <mrk mtype="protected">Tux</mrk> NOW</target>' in swap_case(parse(text)).text


def test_a_target_of_nothing_but_empty_segments_is_none():
    empty = '<target><mrk mtype="seg" mid="0"></mrk> <mrk mtype="seg" mid="1"/></target>'
    document = parse(OLD.replace("<target/>", empty))
    assert (list(document.sentences), document.kept) == (SENTENCES[OLD], 1)
    assert targets(repeat(document).text) == targets(repeat(parse(OLD)).text)
    tag = parse(OLD.replace("<target/>", '<target><x id="1"/></target>'))
    assert "One." not in tag.sentences


def test_a_target_has_its_own_line_and_prefix():
    text = NEW.replace("xmlns=", "xmlns:x=").replace("<", "<x:").replace("<x:/", "</x:")
    text = text.replace("><x:source>Go", ">\n    <x:source>Go")
    assert '</x:source>\n    <x:target>Go <x:pc id="1">' in repeat(parse(text)).text


def test_states_say_that_a_machine_translated():
    joined = parse(NEW).join(["a", "c"], [])
    assert joined.for_review == ("line 3, segment 1: the target lacks %s",)
    assert '<segment id="1"><source>Go' in joined.text
    assert '<segment state="translated"><source>Use' in joined.text
    assert '<segment id="1" state="translated">' in repeat(parse(NEW)).text


def test_attributes_of_other_programs_change_no_state():
    text = NEW.replace('state="final"', 'state="final" xmlns:my="urn:my" my:state="initial"')
    assert len(parse(text).sentences) == len(parse(NEW).sentences)


def test_an_approved_translation_stays_and_a_new_one_is_not_approved():
    text = OLD.replace('id="4"', 'id="4" approved="yes"')
    assert "x</target>" in swap_case(parse(text)).text
    empty = text.replace(">x</target>", "></target>")
    assert '<trans-unit id="4" approved="no"><source>' in swap_case(parse(empty)).text


def test_a_doubtful_translation_has_no_finished_state():
    text = NEW.replace('<segment id="1">', '<segment id="1" state="final">')
    assert '<segment id="1" state="initial">' in parse(text).join(["a", "c"], []).text


@pytest.mark.parametrize("approved", ["", " approved='no'", " approved='yes'"])
@pytest.mark.parametrize("state", ["new", "needs-translation", "translated", "final"])
def test_what_is_translated_anew_is_no_pair_to_train_on(tmp_path, state, approved):
    unit = (
        f"<trans-unit{approved}><source>a</source><target state='{state}'>b</target></trans-unit>"
    )
    done = "<trans-unit><source>c</source><target>d</target></trans-unit>"
    text = f"<xliff version='1.2'><file><body>{unit}{done}</body></file></xliff>"
    (tmp_path / "a.xlf").write_text(text, "utf-8")
    assert parse(text).sentences == (
        () if ("a", "b") in read_pair_file(tmp_path / "a.xlf") else ("a",)
    )


def test_languages_that_are_named_stay():
    assert 'trgLang="fr"' in repeat(parse(NEW.replace('"en">', '"en" trgLang="fr">'))).text
    assert "trgLang" not in repeat(parse(NEW, language="")).text


def test_without_links_the_texts_between_tags_are_sentences():
    document = parse(NEW, inline=False)
    assert list(document.sentences) == ["Go", "home", "now. %s files.", "Use", "here"]
    assert repeat(document).text == repeat(parse(NEW)).text


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><xliff version="2.0">&b;</xliff>'


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (BOMB, "line 1: has a document type"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><xliff version="2.0"/>', "has a document type"),
        ('<xliff version="2.0">&b;</xliff>', r"line 1: .*well-formed XML \(undefined entity\)"),
        ("<xliff>\n<a></b>", r"line 2: is not well-formed XML \(mismatched tag\)"),
        ("<xliff>R & D", r"\(not well-formed(.|\n)*hint: a lone & is written &amp;,"),
        ("", "line 1: is not well-formed XML"),
        ("<html/>", r"is no XLIFF of version 1 or 2(.|\n)*format that it has"),
        ('<xliff version="3.0"/>', "is no XLIFF of version 1 or 2"),
        (f'<xliff version="2.0">{"<a>" * 300}', "nested more than 256 deep"),
        ('<xliff version="2.0">\x01</xliff>', r"well-formed XML \(not well-formed"),
        ('<?xml version="1.0" encoding="latin1"?><xliff version="2.0"/>', "encoding is latin1"),
        ('<?xml version="1.0" encoding="US-ASCII"?><xliff version="2.0"/>', "encoding is US-ASCII"),
    ],
)
def test_hostile_and_other_documents_are_refused(text, fact):
    with pytest.raises(InputError, match=f"a.xlf.*{fact}"):
        parse(text)


@settings(max_examples=30)
@given(st.text(st.characters(codec="utf-8", categories=["L", "P", "Zs", "S"]), max_size=40))
def test_any_text_becomes_a_target(translation):
    document = parse(NEW)
    joined = document.join([translation] * 2, [])
    (_, target, _), *_ = targets(joined.text)
    assert "".join(target.split()) == "".join(translation.split())
