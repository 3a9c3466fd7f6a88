"""Recipes for freely available corpora, with models and schedules that fit their sizes.

Some corpora are fetched by name; for the others the user names the files. Recipes for runs of
seconds and minutes, for the demo, toy tasks and tests, are at the end.
"""

from dataclasses import replace

from transduce.settings import Architecture, Data, Recipe, Search, Training

TINY = Architecture(layers=4, d_model=128, d_ff=256, heads=4, d_k=32, d_v=32, dropout=0.3)
SMALL = Architecture(layers=3, d_model=256, d_ff=1024, heads=4, d_k=64, d_v=64, dropout=0.2)
NARROW = Architecture(layers=6, d_model=256, d_ff=1024, heads=8, d_k=32, d_v=32, dropout=0.1)
TINY_STUDENT = Architecture(d_model=128, d_ff=512, heads=4, d_k=32, d_v=32)
DATA = Data(vocabulary_size=10_000, source_tokens=4_096, target_tokens=4_096)
SHORT = Training(steps=8_000, warmup=1_000, snapshot_every=100, average_last=10, validate_every=500)
LONG = Training(steps=20_000, snapshot_every=400, average_last=5)
# the usual reason why a recipe differs from the paper's
FITS_CORPUS = "a model, a vocabulary and updates of a size that fits the corpus"


def build_captions_recipe(target: str) -> Recipe:
    """Build the recipe for Multi30k: English image captions, translated into language `target`."""
    return Recipe(
        name=f"multi30k-en-{target}",
        about="image captions, 29,000 pairs; "
        "sizes and updates of Wu et al. 2021 (Transformer-Tiny)",
        architecture=TINY,
        data=replace(DATA, corpus="multi30k", target_language=target),
        training=SHORT,
        because="a small corpus wants a small model, more dropout, fewer and smaller updates; "
        "about an epoch lies between two of the averaged snapshots",
    )


def build_tatoeba_recipe(language_name: str, target: str, pair_count: str) -> Recipe:
    """Build the recipe for Tatoeba: everyday sentences, from English to the language `target`."""
    return Recipe(
        name=f"tatoeba-en-{target}",
        about=f"everyday sentences, English to {language_name}, {pair_count} pairs",
        architecture=SMALL,
        data=replace(DATA, corpus=f"tatoeba-en-{target}", target_language=target),
        training=LONG,
        because="a model, a vocabulary and updates of a size that fits short sentences",
    )


TALKS = Recipe(
    name="iwslt14-de-en",
    about="subtitles of talks, German to English, 160,000 pairs",
    architecture=replace(SMALL, dropout=0.3),
    data=replace(DATA, corpus="iwslt14-de-en", source_language="de", target_language="en"),
    training=LONG,
    because="a model, a vocabulary and updates of a size that fits some hours of talk",
)


def build_user_files_recipe(
    name: str,
    about: str,
    architecture: Architecture,
    training: Training,
    because: str = FITS_CORPUS,
) -> Recipe:
    """Build a recipe for the user's files; `name` ends in the target language, such as "-fr"."""
    return Recipe(
        name=name,
        about=f"{about}; name its files",
        architecture=architecture,
        data=replace(DATA, corpus=name, target_language=name.rsplit("-", 1)[1]),
        training=training,
        because=because,
    )


USER_FILES = (
    build_user_files_recipe(
        "wmt-news-en-de", "test sets of many years as training text, 60,000 pairs", TINY, SHORT
    ),
    build_user_files_recipe(
        "libreoffice-help-en-de", "the help of an office program, 30,000 pairs", TINY, SHORT
    ),
    build_user_files_recipe(
        "canada-laws-en-fr", "acts and regulations, 300,000 pairs", SMALL, LONG
    ),
    build_user_files_recipe(
        "open-en-de",
        "all open English-German text together, 250,000 pairs",
        NARROW,
        Training(steps=20_000, warmup=2_000, snapshot_every=250, average_last=5),
        "the depth, heads and dropout of the paper's base model at half its width, so that its "
        "attention can be drawn head by head as in the paper and a CPU can train it; half the "
        "warm-up for a fifth of the steps; snapshots close enough to average the last five",
    ),
)


def build_student_recipe(name: str, about: str, architecture: Architecture) -> Recipe:
    """Build a recipe for a student, a small and fast model trained on a teacher's translations."""
    return Recipe(
        name=f"student/{name}",
        about=f"{about}; name the teacher's translations",
        architecture=replace(architecture, layers=6, decoder_layers=2, dropout=0.1),
        data=replace(DATA, corpus=f"student/{name}", vocabulary_size=8_000),
        training=Training(steps=10_000, warmup=1_000, snapshot_every=200, average_last=5),
        because="depth costs little in the encoder, which runs once a sentence, and much in the "
        "decoder, which runs once a symbol; a teacher's translations are many and alike, so that "
        "little dropout is needed; two cores train it in an evening",
    )


STUDENTS = (
    build_student_recipe("tiny", "6 + 2 layers, about 3 MB in int8", TINY_STUDENT),
    build_student_recipe("base", "6 + 2 layers, about 9 MB in int8", NARROW),
)
LONG_INPUTS = Recipe(
    name="long/documents",
    about="documents of up to 1,024 pieces, one sequence each, restricted to r = 129; "
    "name their files",
    architecture=replace(
        TINY_STUDENT, layers=3, encoder_neighbourhood=129, decoder_neighbourhood=129
    ),
    data=replace(DATA, corpus="long/documents", vocabulary_size=8_000, max_length=1_024),
    training=Training(
        steps=1_200, warmup=400, snapshot_every=30, validate_every=600, validate_lines=20
    ),
    search=Search(extra_length=300),
    because="64 positions on each side hold a sentence and its neighbours, and the path between "
    "the ends of a document, n / r, is 8 layers; a translation of 1,000 pieces may be hundreds "
    "longer than its source; a model and updates for half an hour of one core",
)
OPEN = (
    build_captions_recipe("de"),
    build_captions_recipe("fr"),
    build_tatoeba_recipe("German", "de", "164,000"),
    build_tatoeba_recipe("French", "fr", "160,000"),
    TALKS,
    *USER_FILES,
    *STUDENTS,
    LONG_INPUTS,
)

DEMO = Recipe(
    name="demo",
    about="English to German on sentences of our own grammar, about 4 minutes on 2 cores",
    architecture=Architecture(layers=2, d_model=128, d_ff=512, heads=4, d_k=32, d_v=32),
    data=Data(corpus="phrasebook", vocabulary_size=1_500, source_tokens=2_048, target_tokens=2_048),
    training=Training(
        steps=2_000, warmup=400, snapshot_every=50, validate_every=500, validate_lines=200
    ),
    because="sized so that a visitor sees it learn in minutes, without a GPU",
)

LETTERS = 278  # vocabulary size: 2 special symbols, 256 bytes, 20 pieces (a letter with a space)


def _build_toy(task: str, about: str) -> Recipe:
    """Build the recipe of a toy task, whose correct outputs are known, to check training."""
    return Recipe(
        name=f"toy-{task}",
        about=about,
        architecture=Architecture(
            layers=2, d_model=64, d_ff=256, heads=4, d_k=32, d_v=16, dropout=0.0
        ),
        data=Data(
            task=task,
            corpus=f"toy-{task}",
            vocabulary_size=LETTERS,
            source_tokens=1_024,
            target_tokens=1_024,
            drop_identical=False,
        ),
        training=Training(
            steps=2_000,
            warmup=300,
            learning_rate_factor=0.35,
            threads=1,
            snapshot_every=50,
            average_last=10,
            validate_every=500,
            validate_lines=200,
        ),
        because="a toy: small, with wide keys, so that one thread learns to point in two minutes",
    )


COPY = _build_toy("copy", "repeat the symbols")
REVERSE = _build_toy("reverse", "reverse the symbols")
SORT = _build_toy("sort", "sort the symbols")

FOR_TESTS = Recipe(
    name="tiny",
    about="for tests: a model that trains in seconds and translates nothing",
    architecture=Architecture(layers=2, d_model=32, d_ff=64, heads=2, d_k=16, d_v=16),
    data=Data(corpus="phrasebook", vocabulary_size=300, source_tokens=512, target_tokens=512),
    training=Training(
        steps=20, warmup=10, snapshot_every=5, average_last=2, validate_every=10, validate_lines=10
    ),
    because="a test wants seconds",
)

QUICK = (DEMO, COPY, REVERSE, SORT, FOR_TESTS)
