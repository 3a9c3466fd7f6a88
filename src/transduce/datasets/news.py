"""WMT's news test sets newstest2013 (the paper's development set) and newstest2014 (test set).

The texts are downloaded from a fixed commit of a public repository, with known hashes. If that
fails, they are read from WMT's own archives, with the md5 that sacreBLEU lists.
"""

from transduce.datasets.readers import drop_runs, read_sgml_segments
from transduce.datasets.values import Corpus, Download, Part, Split, Text, TextPair

LICENCE = "for research, by the organisers' pages; cite the findings of that year's WMT"
COMMIT = "Helsinki-NLP/OPUS-MT-testsets/ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180"
PLAIN = f"https://raw.githubusercontent.com/{COMMIT}/datasets/statmt/wmt_newstest"


def statmt_addresses(path: str) -> tuple[str, ...]:
    """Return three addresses of a file on WMT's own site, statmt.org, in the order to try them."""
    return tuple(
        f"{start}statmt.org/{path}" for start in ("https://www.", "https://", "http://www.")
    )


WMT13 = Download(statmt_addresses("wmt13/test.tgz"), md5="48eca5d02f637af44e85186847141f67")
WMT14_FULL = Download(
    statmt_addresses("wmt14/test-full.tgz"), 3_255_445, md5="a8cd784e006feb32ac6f3d9ec7eb389a"
)
# Line ranges (first and last line, from 1) of newstest2014 en-de that WMT's evaluation left out.
FILTERED_OUT = (
    *((162, 168), (582, 611), (630, 648), (744, 785), (866, 883), (970, 978)),
    *((1001, 1010), (1101, 1108), (1226, 1246), (1436, 1455), (1554, 1568), (2231, 2297)),
)


def plain_text(path: str, size: int, sha256: str) -> Text:
    """Build the Text of a file of sentences in the GitHub repository OPUS-MT-testsets."""
    return Text(Download((f"{PLAIN}/{path}",), size, sha256))


ENGLISH_2013 = plain_text(
    "2013/newstest2013.en",
    332_974,
    "ace268a1d9724ca76f6d8e5c720ffdc08f01bdce45630ed8b269dc7918e1c16e",
)
GERMAN_2013 = plain_text(
    "2013/newstest2013.de",
    385_433,
    "d7ea35ab91ff3709e03ad9cb6bf5b4f2cc775cd2d72efd5254c4aec5e69663ca",
)
FRENCH_2013 = plain_text(
    "2013/newstest2013.fr",
    393_465,
    "909b63be5df3eb8c13e1d5967bf3f0adfdb9f6ed5e638c5bffff563ee2ff7f41",
)
ENGLISH_2014_DE = plain_text(
    "2014/en-de/newstest2014.en",
    359_898,
    "7294bccf2879a97b3706b95c9595f1459617a8ee7130d5d8581c910e69736971",
)
GERMAN_2014 = plain_text(
    "2014/en-de/newstest2014.de",
    399_406,
    "ae5d110486bc33d7175e9e28c7d0051eb3e5fcd2166dd93371089852c091a20e",
)
ENGLISH_2014_FR = plain_text(
    "2014/en-fr/newstest2014.en",
    375_106,
    "9a12cb6e8efb3509ebede627e4a9c83ee64935509d561ff70f4b7bd5f93f6096",
)
FRENCH_2014 = plain_text(
    "2014/en-fr/newstest2014.fr",
    445_720,
    "2bd07dc204f965bf88e90adb6223a8cb850f9bf9840df6af1f4945195936656e",
)


def sgml_pair(archive: Download, source: str, target: str) -> TextPair:
    """Build the TextPair of two SGML files, given by their paths in a WMT archive."""
    return TextPair(
        Text(archive, source, read_sgml_segments), Text(archive, target, read_sgml_segments)
    )


def build_news_corpus(
    year: int, language: str, about: str, texts: tuple[Text, Text], official: TextPair
) -> Corpus:
    """Build the Corpus of one year's WMT news test set in English and `language`.

    The files are `texts` from a public repository or, if these fail, `official` from WMT.
    """
    name = f"newstest{year}"
    lines = {2013: 3_000, 2014: 3_003}[year]
    known = (texts[0].download.sha256, texts[1].download.sha256)
    part = Part(f"{name}.en-{language}", (TextPair(*texts), official), lines)
    return Corpus(name, ("en", language), about, LICENCE, (Split("test", (part,), sha256=known),))


DEVELOPMENT = "3,000 lines; the paper's development set"
NEWSTEST2013_DE = build_news_corpus(
    *(2013, "de", DEVELOPMENT, (ENGLISH_2013, GERMAN_2013)),
    sgml_pair(WMT13, "test/newstest2013-src.en.sgm", "test/newstest2013-src.de.sgm"),
)
NEWSTEST2013_FR = build_news_corpus(
    *(2013, "fr", DEVELOPMENT, (ENGLISH_2013, FRENCH_2013)),
    sgml_pair(WMT13, "test/newstest2013-src.en.sgm", "test/newstest2013-src.fr.sgm"),
)
TESTED = "all 3,003 lines of the paper's test year"
FULL = "test-full/newstest2014"
NEWSTEST2014_DE = build_news_corpus(
    *(2014, "de", TESTED, (ENGLISH_2014_DE, GERMAN_2014)),
    sgml_pair(WMT14_FULL, f"{FULL}-deen-src.en.sgm", f"{FULL}-deen-ref.de.sgm"),
)
NEWSTEST2014_FR = build_news_corpus(
    *(2014, "fr", TESTED, (ENGLISH_2014_FR, FRENCH_2014)),
    sgml_pair(WMT14_FULL, f"{FULL}-fren-src.en.sgm", f"{FULL}-fren-ref.fr.sgm"),
)
NEWSTEST2014_FILTERED = Corpus(
    "newstest2014-filtered",
    ("en", "de"),
    "2,737 of the 3,003 lines, which the evaluation of 2014 used; sacreBLEU's wmt14",
    LICENCE,
    (
        Split(
            "test",
            NEWSTEST2014_DE.splits[0].parts,
            lines=2_737,
            pair_filter=drop_runs(FILTERED_OUT),
            sha256=(
                "aed1e1cb6788f2575f729e0d7a55244a46236d14f902e7481bdbc7597ac85877",
                "695aa9a1aa6e41ef1d5ad79c8dd0b63bcc453f79670279e1a8c9007345d9302b",
            ),
        ),
    ),
)
NEWS = (
    *(NEWSTEST2013_DE, NEWSTEST2013_FR, NEWSTEST2014_DE, NEWSTEST2014_FR),
    NEWSTEST2014_FILTERED,
)
