"""English names of languages by their codes, for menus in which users choose a language."""

NAMES = """
ar:Arabic bg:Bulgarian ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English
eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician
he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian
ja:Japanese ka:Georgian kk:Kazakh ko:Korean la:Latin lt:Lithuanian lv:Latvian mk:Macedonian
mt:Maltese nb:Norwegian nl:Dutch nn:Nynorsk pl:Polish pt:Portuguese ro:Romanian ru:Russian
sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil th:Thai tr:Turkish
uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese
"""
KNOWN = dict(pair.split(":") for pair in NAMES.split())


def name_language(code: str) -> str:
    """Return the English name of a language code, or the code itself if its name is unknown."""
    return KNOWN.get(code, code)
