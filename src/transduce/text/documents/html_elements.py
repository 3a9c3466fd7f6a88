"""Which of HTML's elements are translated, have no content, or may leave out their end tag."""

CODE = """script style pre code kbd samp var tt textarea svg math template iframe object
    noembed noframes xmp plaintext listing"""
EMPTY = "area base br col embed hr img input link meta param source track wbr"
BLOCK = """address article aside blockquote details div dl fieldset figcaption figure footer form h1
    h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section table ul"""
INLINE = """a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s
    samp small span strike strong sub sup time tt u var wbr"""
IN_SENTENCES = frozenset(INLINE.split())  # elements that may stand inside of a sentence
UNTRANSLATED = frozenset(CODE.split())
VOID = frozenset(EMPTY.split())  # elements with neither content nor an end tag
CELL_ENDS = ("td", "th", "tr", "tbody", "tfoot")
CLOSED_BY = {  # from an element that may lack its end tag to the start tags that end it
    "p": frozenset(BLOCK.split()),
    "li": ("li",),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "option": ("option", "optgroup"),
    "td": CELL_ENDS,
    "th": CELL_ENDS,
    "tr": ("tr", "tbody", "tfoot"),
}


def is_element_translated(tag: str, attributes: dict[str, str | None], *, inherited: bool) -> bool:
    """Return whether an element's text is translated; `inherited` says whether its parent's is."""
    wish = attributes.get("translate", "inherit")
    if wish is None or wish.lower() in ("", "yes"):
        return tag not in UNTRANSLATED
    is_excluded = "notranslate" in (attributes.get("class") or "").split()
    return inherited and wish.lower() != "no" and tag not in UNTRANSLATED and not is_excluded


def is_closed_by(element: str, tag: str) -> bool:
    """Return whether a start tag `tag` also ends an open `element`, as <li> ends an open <li>."""
    return tag in CLOSED_BY.get(element, ())
