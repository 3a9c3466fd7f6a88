"""The WMT 2014 training data, English to German and English to French    (section 5.1)

Each archive can be downloaded from two sites: WMT's own, and one with repackaged zip archives.
"""

from transduce.datasets.news import statmt_addresses
from transduce.datasets.values import Corpus, Download, Part, Split, Text, TextPair

ANEW = "https://huggingface.co/datasets/wmt"
EUROPARL = (
    Download(
        statmt_addresses("wmt13/training-parallel-europarl-v7.tgz"),
        657_632_379,
        "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
    ),
    Download(
        (f"{ANEW}/wmt13/resolve/main-zip/training-parallel-europarl-v7.zip",),
        658_092_427,
        "5b2d8b32c2396da739b4e731871c597fcc6e75729becd74619d0712eecf7770e",
    ),
)
COMMON_CRAWL = (
    Download(
        statmt_addresses("wmt13/training-parallel-commoncrawl.tgz"),
        918_311_367,
        "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
    ),
    Download(
        (f"{ANEW}/wmt13/resolve/main-zip/training-parallel-commoncrawl.zip",),
        918_734_483,
        "5ffe980072ea29adfd84568d099bea366d9f72772b988e670794ae851b4e5627",
    ),
)
NEWS_COMMENTARY = (
    Download(
        statmt_addresses("wmt14/training-parallel-nc-v9.tgz"),
        80_418_416,
        "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
    ),
    Download(
        (f"{ANEW}/wmt14/resolve/main-zip/training-parallel-nc-v9.zip",),
        80_462_375,
        "ce199f93ec56ff480137ba29f0819f9a22e70d88be6d7458f112303d67d623d5",
    ),
)
UNITED_NATIONS = (  # WMT's own archive is second, because its hash is unknown
    Download(
        (f"{ANEW}/wmt13/resolve/main-zip/training-parallel-un.zip",),
        2_366_237_633,
        "74f07002e053c81bc7f73b4fdab58e7987e831338748f264cbda82a8b062d2e2",
    ),
    Download(statmt_addresses("wmt13/training-parallel-un.tgz")),
)
GIGA = (
    Download(
        (f"{ANEW}/wmt10/resolve/main-zip/training-giga-fren.zip",),
        2_595_877_717,
        "9439f86523e5dff3f923526dbf6c6929da1786c18dbf64436d2b7564b83aaba3",
    ),
    Download(
        statmt_addresses("wmt10/training-giga-fren.tar"),
        2_595_102_720,
    ),
)


def build_part(name: str, lines: int, packed: tuple[Download, ...], members: str) -> Part:
    """Build a Part from alternative archives; {} in the path `members` is a language code."""
    other = "fr" if "fr" in name else "de"
    sides = [[Text(one, members.format(language)) for language in ("en", other)] for one in packed]
    return Part(name, tuple(TextPair(*both) for both in sides), lines)


def shared_parts(language: str, europarl: int, crawled: int, commentary: int) -> tuple[Part, ...]:
    """Build the Parts Europarl, Common Crawl and News Commentary, given their numbers of lines."""
    pair = f"{language}-en"
    return (
        build_part(f"europarl-v7.{pair}", europarl, EUROPARL, f"training/europarl-v7.{pair}.{{}}"),
        build_part(f"commoncrawl.{pair}", crawled, COMMON_CRAWL, f"commoncrawl.{pair}.{{}}"),
        build_part(
            f"news-commentary-v9.{pair}",
            commentary,
            NEWS_COMMENTARY,
            f"training/news-commentary-v9.{pair}.{{}}",
        ),
    )


LICENCE = "for research, by the organisers' pages; Europarl: no known restrictions"
ELSEWHERE = (("dev", "newstest2013"), ("test", "newstest2014"))
EN_DE = Corpus(
    "wmt14-en-de",
    ("en", "de"),
    "parliament, web and news commentary, 4.5 million pairs; the paper's training data",
    LICENCE,
    (Split("train", shared_parts("de", 1_920_209, 2_399_123, 201_288)),),
    ELSEWHERE,
)
EN_FR = Corpus(
    "wmt14-en-fr",
    ("en", "fr"),
    "the same with the United Nations and the web of Canada, 40.8 million pairs before cleaning",
    LICENCE,
    (
        Split(
            "train",
            (
                *shared_parts("fr", 2_007_723, 3_244_152, 183_251),
                build_part(
                    "undoc.2000.fr-en", 12_886_831, UNITED_NATIONS, "un/undoc.2000.fr-en.{}"
                ),
                build_part(
                    "giga-fren.release2", 22_520_376, GIGA, "giga-fren.release2.fixed.{}.gz"
                ),
            ),
        ),
    ),
    ELSEWHERE,
)
WMT14 = (EN_DE, EN_FR)
