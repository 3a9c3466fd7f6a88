"""Small corpora for training in minutes: image captions, everyday sentences, talks."""

from transduce.datasets.readers import (
    drop_every,
    read_column,
    read_iwslt_segments,
    read_iwslt_training,
    split_by_hash,
    take_every,
)
from transduce.datasets.values import Corpus, Download, Part, Split, Text, TextPair

CAPTIONS = "multi30k/dataset"
CAPTIONS_COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
CAPTION_SPLITS = {
    "train": ("train", 29_000),
    "dev": ("val", 1_014),
    "test": ("test_2016_flickr", 1_000),
    "test2017": ("test_2017_flickr", 1_000),
}
CAPTION_FILES = {  # size and sha256 of the compressed files
    "train.en": (568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    "train.de": (637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    "train.fr": (604_242, "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c"),
    "val.en": (21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    "val.de": (24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    "val.fr": (23_001, "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9"),
    "test_2016_flickr.en": (
        21_077,
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    "test_2016_flickr.de": (
        22_890,
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
    "test_2016_flickr.fr": (
        22_310,
        "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    ),
    "test_2017_flickr.en": (
        19_138,
        "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    ),
    "test_2017_flickr.de": (
        21_471,
        "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    ),
    "test_2017_flickr.fr": (
        20_434,
        "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
    ),
}


def build_multi30k(language: str) -> Corpus:
    """Build the Multi30k corpus of English and `language`, cased and untokenised."""
    splits = []
    for split, (file, lines) in CAPTION_SPLITS.items():
        text_pair = TextPair(caption_text(f"{file}.en"), caption_text(f"{file}.{language}"))
        splits.append(Split(split, (Part(f"multi30k {file}", (text_pair,), lines),)))
    return Corpus(
        "multi30k",
        ("en", language),
        "image captions, 29,000 pairs; test is 2016, test2017 another year",
        "no licence file; non-commercial research and education, by its authors",
        tuple(splits),
    )


def caption_text(name: str) -> Text:
    """Build the Text of one Multi30k file, such as "train.en": one language of one split."""
    path = f"data/task1/raw/{name}.gz"
    addresses = (
        f"https://raw.githubusercontent.com/{CAPTIONS}/{CAPTIONS_COMMIT}/{path}",
        f"https://cdn.jsdelivr.net/gh/{CAPTIONS}@{CAPTIONS_COMMIT}/{path}",
    )
    return Text(Download(addresses, *CAPTION_FILES[name]))


def tab_separated_pair(download: Download, member: str) -> TextPair:
    """Build the TextPair of an archive member whose lines are English, a tab, another language."""
    return TextPair(Text(download, member, read_column(0)), Text(download, member, read_column(1)))


def build_tatoeba(
    language: str,
    text_pairs: tuple[TextPair, ...],
    lines: int,
    splits: dict[str, tuple[int, str, str]],
) -> Corpus:
    """Build the Tatoeba corpus of English and `language`, which is split by text hashes.

    `lines` is the number of lines before the split. `splits` has the number of lines, and the
    sha256 of source and target text, of train, dev and test.
    """
    part = Part(f"tatoeba en-{language}", text_pairs, lines)
    return Corpus(
        f"tatoeba-en-{language}",
        ("en", language),
        f"everyday sentences by volunteers, {splits['train'][0]:,} pairs",
        "CC BY 2.0 FR; name tatoeba.org and manythings.org",
        tuple(
            Split(split, (part,), count, split_by_hash(split), (source, target))
            for split, (count, source, target) in splits.items()
        ),
    )


# The first choice is a file in a public repository, which never changes. The alternative is the
# publisher's own file, which is updated from time to time; an update changes the splits.
GERMAN_PAIRS = Download(
    (
        "https://raw.githubusercontent.com/rioyshky/translation/"
        "de48b7027f7318d77010a6e08ed928c10748c23d/deu-eng.zip",
    ),
    4_012_023,
    "b7688f84f99fa33c17397c14d8bd9cef1fdeb2ee0bf50074767023aee8926e28",
)
FRENCH_PAIRS = Download(
    (
        "https://raw.githubusercontent.com/modelexlab/data/"
        "adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
    ),
    3_424_571,
    "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44",
)
ANKI = "https://www.manythings.org/anki"
TATOEBA_GERMAN = build_tatoeba(
    "de",
    (
        tab_separated_pair(GERMAN_PAIRS, "deu.txt"),
        tab_separated_pair(Download((f"{ANKI}/deu-eng.zip",)), "deu.txt"),
    ),
    169_813,
    {
        "train": (
            164_011,
            "658961a48d30482e3d4a1a6c575180c54c2054157823032f4bf6c651499ff664",
            "5b248c652bfc53ba4022f016e7c2753ece70416c9fc5282718ed0df0b116aedb",
        ),
        "dev": (
            2_000,
            "869245c6e2541160f83f05c25db1178ca8b02112a05ae80069f2e35a619713aa",
            "f4d322f50d66327a3f09cb772cacd461837281df0a4e8a350f6afb1a59156431",
        ),
        "test": (
            2_000,
            "91bdc6e59eeb17004ceadd51fe2212bc6ea1fe3d0b6f959657c23e267dc60c80",
            "3953c90d831fe20583bb67b9907ffa97554e35afd5b88fa05c72eb2c81f689bc",
        ),
    },
)
TATOEBA_FRENCH = build_tatoeba(
    "fr",
    (
        tab_separated_pair(FRENCH_PAIRS, "fra-eng/fra.txt"),
        tab_separated_pair(Download((f"{ANKI}/fra-eng.zip",)), "fra.txt"),
    ),
    167_130,
    {
        "train": (
            160_643,
            "2fc755df5a2e736c29a271244272768983561387e52c1ca09cc9e485bbb7bbdd",
            "394500d7a957405219ca6068cb0714eb0aad9827cc046719eabb832f2ca08021",
        ),
        "dev": (
            2_000,
            "f12433ef471b91fa2f049f67f7c1432492a15d7bd85c0609fefd29af7c3c57be",
            "1f84c7376b05f6f76a5cf4e121659c0bc5ce94ca25ebbf5af035156d2e2f6d81",
        ),
        "test": (
            2_000,
            "898ebe7b577875d5980f597770bac1eac2361f3e472c88640cb85f160650a0b2",
            "fe7ed25c44bcbfdf7b520d41b2a558638e19da0891507824fbe5f8da02e2fbae",
        ),
    },
)

TALKS = Download(
    (
        "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
        "http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
        "https://wit3.fbk.eu/archive/2014-01/texts/de/en/de-en.tgz",
    )
)
TALK_TESTS = {
    "TED.dev2010": 887,
    "TEDX.dev2012": 1_165,
    "TED.tst2010": 1_565,
    "TED.tst2011": 1_433,
    "TED.tst2012": 1_700,
}
EACH = 23  # every 23rd pair is in the development set, as in published results


def talk_test_pair(name: str) -> TextPair:
    """Build the TextPair (German, English) of one IWSLT test set, such as "TED.tst2010"."""
    german, english = (
        Text(TALKS, f"de-en/IWSLT14.{name}.de-en.{language}.xml", read_iwslt_segments)
        for language in ("de", "en")
    )
    return TextPair(german, english)


TALKED = Part(
    "IWSLT14 training",
    (
        TextPair(
            Text(TALKS, "de-en/train.tags.de-en.de", read_iwslt_training),
            Text(TALKS, "de-en/train.tags.de-en.en", read_iwslt_training),
        ),
    ),
)
IWSLT14 = Corpus(
    "iwslt14-de-en",
    ("de", "en"),
    "TED talks, about 174,000 pairs; dev is each 23rd, test five sets of 6,750 lines",
    "CC BY-NC-ND, by the organisers' pages; name TED and WIT3",
    (
        Split("train", (TALKED,), pair_filter=drop_every(EACH)),
        Split("dev", (TALKED,), pair_filter=take_every(EACH)),
        Split(
            "test",
            tuple(Part(name, (talk_test_pair(name),), lines) for name, lines in TALK_TESTS.items()),
        ),
    ),
)
SMALL = (build_multi30k("de"), build_multi30k("fr"), TATOEBA_GERMAN, TATOEBA_FRENCH, IWSLT14)
