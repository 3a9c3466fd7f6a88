"""The parallel corpora: WMT's training data and test sets, and small ones to train on in minutes.

The table `downloads.tsv` beside this module lists the size, checksums and addresses of each file,
0 or nothing where they are not known. If files NAME-1 and NAME-2 have the same text, NAME-1 is
tried first. `splits.tsv` lists the line counts of splits that are made here, and the sha256 of
their texts.
"""

from transduce.datasets.readers import (
    drop_every,
    drop_runs,
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    read_sgml_segments,
    split_by_hash,
    take_every,
)
from transduce.datasets.values import Corpus, Download, Part, Split, Text, TextPair, read_table

DOWNLOADS = {
    name: Download(tuple(addresses.split()), int(size), sha256, md5)
    for name, size, sha256, md5, addresses in read_table("downloads.tsv")
}
SPLITS = {
    (corpus, split): (int(lines), (source, target))
    for corpus, split, lines, source, target in read_table("splits.tsv")
}

# --- The WMT 2014 training data, English to German and English to French    (section 5.1) ---------
# Each archive can be downloaded from two sites: WMT's own, and one with repackaged archives. The
# second comes first for the United Nations, because the hash of WMT's archive is unknown.


def build_part(name: str, lines: int, file: str, members: str) -> Part:
    """Build a Part from two archives of one text; {} in `members` becomes a language code."""
    languages = ("en", "fr" if "fr" in name else "de")
    both = [
        TextPair(*(Text(DOWNLOADS[f"{file}-{n}"], members.format(one)) for one in languages))
        for n in (1, 2)
    ]
    return Part(name, tuple(both), lines)


def build_shared_parts(
    language: str, europarl: int, crawled: int, commentary: int
) -> tuple[Part, ...]:
    """Build a pair's Parts of the corpora that both pairs have, from each one's count of lines."""
    counts = {"europarl-v7": europarl, "commoncrawl": crawled, "news-commentary-v9": commentary}
    return tuple(
        build_part(
            f"{name}.{language}-en",
            lines,
            name.partition("-v")[0],
            ("" if name == "commoncrawl" else "training/") + f"{name}.{language}-en.{{}}",
        )
        for name, lines in counts.items()
    )


TRAINING_LICENCE = "for research, by the organisers' pages; Europarl: no known restrictions"
ELSEWHERE = (("dev", "newstest2013"), ("test", "newstest2014"))
WMT14_GERMAN = Corpus(
    "wmt14-en-de",
    ("en", "de"),
    "parliament, web and news commentary, 4.5 million pairs; the paper's training data",
    TRAINING_LICENCE,
    (Split("train", build_shared_parts("de", 1_920_209, 2_399_123, 201_288)),),
    ELSEWHERE,
)
FRENCH_PARTS = (
    *build_shared_parts("fr", 2_007_723, 3_244_152, 183_251),
    build_part("undoc.2000.fr-en", 12_886_831, "un", "un/undoc.2000.fr-en.{}"),
    build_part("giga-fren.release2", 22_520_376, "giga", "giga-fren.release2.fixed.{}.gz"),
)
WMT14_FRENCH = Corpus(
    "wmt14-en-fr",
    ("en", "fr"),
    "the same with the United Nations and the web of Canada, 40.8 million pairs before cleaning",
    TRAINING_LICENCE,
    (Split("train", FRENCH_PARTS),),
    ELSEWHERE,
)

# --- WMT's news test sets -------------------------------------------------------------------------
# newstest2013 is the paper's development set, newstest2014 its test set. The texts are downloaded
# from a fixed commit of a public repository, with known hashes. If that fails, they are read from
# WMT's own archives, with the md5 that sacreBLEU lists.

NEWS_LICENCE = "for research, by the organisers' pages; cite the findings of that year's WMT"
DEVELOPMENT = "3,000 lines; the paper's development set"
TESTED = "all 3,003 lines of the paper's test year"
# Line ranges (first and last line, from 1) of newstest2014 en-de that WMT's evaluation left out.
FILTERED_OUT = (
    *((162, 168), (582, 611), (630, 648), (744, 785), (866, 883), (970, 978)),
    *((1001, 1010), (1101, 1108), (1226, 1246), (1436, 1455), (1554, 1568), (2231, 2297)),
)


def build_news_corpus(name: str, language: str) -> Corpus:
    """Build the Corpus newstest2013 or newstest2014 in English and `language`.

    The English texts of newstest2014 differ by pair.
    """
    files, about, lines = name, DEVELOPMENT, 3_000
    members = [f"test/newstest2013-src.{code}.sgm" for code in ("en", language)]
    if name == "newstest2014":
        files, about, lines = f"{name}.en-{language}", TESTED, 3_003
        start = f"test-full/newstest2014-{language}en"
        members = [f"{start}-src.en.sgm", f"{start}-ref.{language}.sgm"]
    plain = [Text(DOWNLOADS[f"{files}.{code}"]) for code in ("en", language)]
    official = [Text(DOWNLOADS[name], member, read_sgml_segments) for member in members]
    part = Part(f"{name}.en-{language}", (TextPair(*plain), TextPair(*official)), lines)
    known = (plain[0].download.sha256, plain[1].download.sha256)
    splits = (Split("test", (part,), sha256=known),)
    return Corpus(name, ("en", language), about, NEWS_LICENCE, splits)


def build_filtered(whole: Corpus, name: str = "newstest2014-filtered") -> Corpus:
    """Build the Corpus of the lines of newstest2014 that WMT's evaluation used."""
    lines, known = SPLITS[name, "test"]
    return Corpus(
        name,
        whole.languages,
        "2,737 of the 3,003 lines, which the evaluation of 2014 used; sacreBLEU's wmt14",
        NEWS_LICENCE,
        (Split("test", whole.splits[0].parts, lines, drop_runs(FILTERED_OUT), known),),
    )


NEWSTEST2014_GERMAN = build_news_corpus("newstest2014", "de")
NEWS = (
    build_news_corpus("newstest2013", "de"),
    build_news_corpus("newstest2013", "fr"),
    NEWSTEST2014_GERMAN,
    build_news_corpus("newstest2014", "fr"),
    build_filtered(NEWSTEST2014_GERMAN),
)

# --- Image captions, everyday sentences, talks ----------------------------------------------------

CAPTION_SPLITS = {
    "train": ("train", 29_000),
    "dev": ("val", 1_014),
    "test": ("test_2016_flickr", 1_000),
    "test2017": ("test_2017_flickr", 1_000),
}


def build_multi30k(language: str) -> Corpus:
    """Build the Multi30k corpus of English and `language`, cased and untokenised."""
    splits = []
    for split, (file, lines) in CAPTION_SPLITS.items():
        sides = [Text(DOWNLOADS[f"multi30k.{file}.{code}"]) for code in ("en", language)]
        splits.append(Split(split, (Part(f"multi30k {file}", (TextPair(*sides),), lines),)))
    return Corpus(
        "multi30k",
        ("en", language),
        "image captions, 29,000 pairs; test is 2016, test2017 another year",
        "no licence file; non-commercial research and education, by its authors",
        tuple(splits),
    )


def build_tatoeba(language: str, lines: int, members: tuple[str, str]) -> Corpus:
    """Build the Tatoeba corpus of English and `language`; hashes of texts decide the splits.

    It has `lines` lines before the split: English, a tab, the other language. The first of
    the two archives is in a public repository and never changes. The second, the publisher's own,
    is updated from time to time; an update changes the splits.
    """
    name, ways = f"tatoeba-en-{language}", []
    for number, member in enumerate(members, start=1):
        archive = DOWNLOADS[f"tatoeba-{language}-{number}"]
        ways.append(TextPair(*(Text(archive, member, read_column(side)) for side in (0, 1))))
    part = Part(f"tatoeba en-{language}", tuple(ways), lines)
    known = {split: SPLITS[name, split] for split in ("train", "dev", "test")}
    return Corpus(
        name,
        ("en", language),
        f"everyday sentences by volunteers, {known['train'][0]:,} pairs",
        "CC BY 2.0 FR; name tatoeba.org and manythings.org",
        tuple(
            Split(split, (part,), count, split_by_hash(split), texts)
            for split, (count, texts) in known.items()
        ),
    )


TALK_TESTS = {
    "TED.dev2010": 887,
    "TEDX.dev2012": 1_165,
    "TED.tst2010": 1_565,
    "TED.tst2011": 1_433,
    "TED.tst2012": 1_700,
}
EACH = 23  # every 23rd pair is in the development set, as in published results


def build_iwslt14() -> Corpus:
    """Build the corpus of TED talks, German to English, of IWSLT 2014."""
    archive, languages = DOWNLOADS["iwslt14"], ("de", "en")
    talks = TextPair(
        *(
            Text(archive, f"de-en/train.tags.de-en.{code}", read_iwslt_training)
            for code in languages
        )
    )
    training = (Part("IWSLT14 training", (talks,)),)
    tests = []
    for name, lines in TALK_TESTS.items():
        member = f"de-en/IWSLT14.{name}.de-en.{{}}.xml"
        sides = (Text(archive, member.format(code), read_iwslt_segments) for code in languages)
        tests.append(Part(name, (TextPair(*sides),), lines))
    return Corpus(
        "iwslt14-de-en",
        languages,
        "TED talks, about 174,000 pairs; dev is each 23rd, test five sets of 6,750 lines",
        "CC BY-NC-ND, by the organisers' pages; name TED and WIT3",
        (
            Split("train", training, pair_filter=drop_every(EACH)),
            Split("dev", training, pair_filter=take_every(EACH)),
            Split("test", tuple(tests)),
        ),
    )


CORPORA = (
    *(WMT14_GERMAN, WMT14_FRENCH, *NEWS),
    build_multi30k("de"),
    build_multi30k("fr"),
    build_tatoeba("de", 169_813, ("deu.txt", "deu.txt")),
    build_tatoeba("fr", 167_130, ("fra-eng/fra.txt", "fra.txt")),
    build_iwslt14(),
)
