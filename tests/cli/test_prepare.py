"""transduce prepare: text to a corpus, and every text that is none."""

import gzip
import json
import os
import shlex
import shutil

import pytest
from tests.cli.language import write

from transduce.runs.prepared_corpus import open_prepared
from transduce.vocabulary.vocabulary import deserialise

SMALLEST = "--set=data.vocabulary_size=262"
CUT = gzip.compress(b"a\n" * 9, mtime=0)[:-9]  # a test's name must be the same in every process


@pytest.fixture
def prepare(call, corpus):
    """Prepare `p` from the corpus with these options."""

    def prepared(*more, source="a.en", target="a.de", size=280, languages="en-de"):
        text = ("--source", corpus / source, "--target", corpus / target)
        setting = ("--set", f"data.vocabulary_size={size}", "--languages", languages)
        return call("prepare", "tiny", *text, "-o", corpus / "p", *setting, *more)

    return prepared


def test_names_of_columns_are_for_tables_and_a_plain_file_beside_one_has_two(call, tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"dog {n}\tHund {n}\n" for n in range(9)))
    rows = "".join(f"{n},Katze {n},cat {n}\n" for n in range(9))
    (tmp_path / "b.csv").write_text(f"id,German,English\n{rows}")
    files = (f"--pairs={tmp_path}/a.tsv", f"--pairs={tmp_path}/b.csv", SMALLEST)
    columns = "--columns=English,German"
    ended = call("prepare", "tiny", *files, columns, "-o", tmp_path / "p")
    assert (ended.code, "18 pairs read, 18 kept" in ended.stderr) == (0, True), ended.stderr
    ended = call("prepare", "tiny", files[0], SMALLEST, columns, "-o", tmp_path / "q")
    assert "--columns English,German: these columns have no names" in ended.stderr


def test_numbers_of_columns_are_for_tables_and_a_memory_beside_one_has_two_languages(
    call, tmp_path
):
    (tmp_path / "a.csv").write_text("".join(f"{n},cat {n},Katze {n}\n" for n in range(9)))
    side = '<tuv xml:lang="{}"><seg>{} {}</seg></tuv>'.format
    units = (f"<tu>{side('de', 'Hund', n)}{side('en', 'dog', n)}</tu>" for n in range(9))
    memory = f'<tmx><header srclang="en"/><body>{"".join(units)}</body></tmx>'
    (tmp_path / "b.tmx").write_text(memory)
    files = (f"--pairs={tmp_path}/a.csv", f"--pairs={tmp_path}/b.tmx", SMALLEST)
    ended = call("prepare", "tiny", *files, "--columns=2,3", "-o", tmp_path / "p")
    assert (ended.code, "18 pairs read, 18 kept" in ended.stderr) == (0, True), ended.stderr
    ended = call("prepare", "tiny", *files[1:], "--columns=2,3", "-o", tmp_path / "q")
    assert "b.tmx: has no numbered columns" in ended.stderr


def test_columns_may_be_those_of_synthetic_pairs_or_of_a_test_set_alone(call, corpus):
    table = write(corpus / "b.tsv", [f"{n}\tcat {n}\tKatze {n}" for n in range(9)])
    text = (f"--source={corpus}/a.en", f"--target={corpus}/a.de", "--columns=2,3")
    synthetic = (f"--synthetic={table}", SMALLEST, "-o", corpus / "p")
    ended = call("prepare", "tiny", *text, *synthetic)
    assert (ended.code, "209 pairs read" in ended.stderr) == (0, True), ended.stderr
    test = (f"--test-pairs={table}", "--rows=base", "--print-jobs", "-o", corpus / "t")
    assert call("reproduce", "table2", *text, *test).code == 0
    ended = call("prepare", "tiny", *text, "-o", corpus / "q")
    assert ended.stderr.startswith("error: --columns is for --pairs\n")


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_tells_what_was_read_and_what_was_left_out_and_why(prepare, corpus, call):
    ended = prepare("--dev-source", corpus / "d.en", "--dev-target", corpus / "d.de")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr.startswith("train: 200 pairs read, 199 kept\n  left out, duplicate: 1\n")
    assert "dev: 20 pairs read, 20 kept\nvocabulary: 280 symbols for both sides\n" in ended.stderr
    assert ended.stderr.endswith(f"prepared in {corpus / 'p'}\n")
    assert call("verify", corpus / "p").stdout == f"good  {corpus / 'p'}\n"


def test_word_pieces_are_learned_where_the_recipe_says_so(prepare, corpus):
    assert prepare("--set", "data.vocabulary=word-piece").code == 0
    found = (corpus / "p" / "vocabulary.json").read_bytes()
    assert deserialise(found).model["type"] == "WordPiece"
    prepared = open_prepared(corpus / "p")
    ids = prepared.train.pair(0)[0].tolist()
    line = (corpus / "a.en").read_text().split("\n")[0]
    assert prepared.vocabularies.source.decode(ids) == line


def test_a_vocabulary_is_learned_from_pairs_as_training_changes_them(prepare, corpus):
    assert prepare("--set", "data.upper_case=0.5", size=320).code == 0
    prepared = open_prepared(corpus / "p")
    pieces = deserialise((corpus / "p" / "vocabulary.json").read_bytes()).model["vocab"]
    words = [piece for piece in pieces if len(piece) > 1 and piece.isascii() and piece.isalpha()]
    assert {piece.isupper() for piece in words} == {True, False}
    stored = prepared.vocabularies.source.decode(prepared.train.pair(0)[0].tolist())
    assert stored == (corpus / "a.en").read_text().split("\n")[0], "the corpus stays as it is"
    other = prepare(size=320)
    assert "was prepared with data.upper_case = 0.5, the recipe says 0.0" in other.stderr


def test_another_kind_of_vocabulary_is_refused_with_those_that_there_are(prepare):
    ended = prepare("--set", "data.vocabulary=unigram")
    assert ended.code == 2
    assert (
        "data.vocabulary is one of byte-pair, word-piece, word, sentencepiece, not 'unigram'"
        in ended.stderr
    )


@pytest.mark.parametrize("named", [True, False])
def test_a_parser_is_prepared_from_trees(call, corpus, named):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de") if named else ()
    ended = call("prepare", "table4/wsj", *text, "-o", corpus / "p")
    assert ended.code == 2
    assert ended.stderr.endswith("--trees FILE_OR_FOLDER\n")
    assert not (corpus / "p" / "prepared.json").exists()


def test_a_setting_that_a_corpus_does_not_store_is_named(prepare):
    fact = "training.steps, architecture.layers: not stored in a corpus; give it to train as well"
    said = prepare("--set=training.steps=7", "--set=architecture.layers=9").stderr
    assert fact in said
    assert "not stored" not in prepare().stderr


def test_quiet_says_nothing(prepare):
    assert prepare("--quiet").stderr == ""


def test_the_same_command_again_changes_nothing(prepare, corpus):
    prepare()
    before = {p: b for p, b in content(corpus / "p").items() if p.name != "lock"}
    assert prepare().code == 0
    assert {p: b for p, b in content(corpus / "p").items() if p.name != "lock"} == before


def test_the_command_that_comes_next_can_be_pasted_though_a_folder_has_a_space(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    said = call("prepare", *text, "-o", corpus / "my store").stderr
    _, *words = shlex.split(said.splitlines()[-1])
    assert words == ["transduce", "train", "--store", f"{corpus}/my store", "-o", "RUN"]


def test_an_interrupted_preparation_is_resumed(prepare, corpus):
    prepare()
    before = content(corpus / "p" / "train")
    shutil.rmtree(corpus / "p" / "train")
    assert prepare().code == 0
    assert content(corpus / "p" / "train") == before


def test_a_corpus_that_is_not_finished_is_no_store_yet(prepare, corpus, call):
    assert prepare().code == 0
    shutil.rmtree(corpus / "p" / "train")
    ended = call("train", "--store", corpus / "p", "-o", corpus / "run")
    assert ended.code == 3
    assert ended.stderr.startswith(
        f"error: {corpus}/p: is not prepared to its end: train is missing\nhint: wait for "
    )
    assert prepare().code == 0


def test_a_finished_corpus_is_not_written_over_by_another(prepare, corpus):
    prepare()
    ended = prepare(size=270)
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {corpus / 'p'}: was prepared with data.vocabulary_size = 280, the recipe says "
        "270\nhint: choose another folder, or delete this one\n"
    )
    for file, differ in (("a.de", "a.de"), ("a.en", "a.en and a.de")):
        write(corpus / file, ["other text"] * 200)
        assert f"p: was prepared from another text than {differ}\n" in prepare().stderr


def test_a_first_try_that_failed_does_not_spoil_the_second(prepare, corpus):
    write(corpus / "short.de", ["one line"])
    assert prepare(target="short.de").code == 2
    assert prepare().code == 0


def test_somebody_else_s_folder_is_left_as_it_is(call, model):
    before = content(model)
    ended = call("prepare", "toy-copy", "-o", model)
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {model}: exists and is no prepared corpus\nhint: choose another name\n"
    )
    assert content(model) == before


def test_a_file_is_refused_as_the_folder_of_a_corpus(call, corpus):
    ended = call("prepare", "toy-copy", "-o", corpus / "a.en")
    assert (ended.code, "exists and is no prepared corpus" in ended.stderr) == (2, True)


def test_no_corpus_is_prepared_in_another_one(prepare, corpus, call):
    assert prepare().code == 0
    before = content(corpus / "p")
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    ended = call("prepare", "tiny", *text, SMALLEST, "-o", corpus / "p/new/one")
    assert ended.code == 2
    assert f"{corpus}/p/new/one: lies in another prepared corpus" in ended.stderr
    assert content(corpus / "p") == before


def test_two_vocabularies_on_request(prepare, corpus):
    own = ("--set", "data.shared_vocabulary=false", "--set", "architecture.tie_embeddings=target")
    assert "vocabulary: 270 and 270 symbols\n" in prepare(*own, size=270).stderr
    assert (corpus / "p" / "target.vocabulary.json").is_file()


def test_packed_files_and_line_ends_of_windows_give_the_same_corpus(prepare, corpus):
    prepare()
    plain = open_prepared(corpus / "p").train.fingerprint
    shutil.rmtree(corpus / "p")
    for name in ("a.en", "a.de"):
        text = (corpus / name).read_bytes()
        mixed = text.replace(b"\n", b"\r\n", 50)
        (corpus / f"{name}.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + mixed))
    assert prepare(source="a.en.gz", target="a.de.gz").code == 0
    assert open_prepared(corpus / "p").train.fingerprint == plain


def test_odd_characters_do_not_change_the_count_of_lines(prepare, corpus):
    odd = ["a\x1bb c", "a\u2028b c", "a\rb c", "a\x0cb c", "a\u0085b c"]
    write(corpus / "odd.en", [f"{line} {n}" for n, line in enumerate(odd * 40)])
    assert prepare(source="odd.en").stderr.startswith("train: 200 pairs read, 200 kept\n")


def test_a_line_of_100_000_characters_is_left_out_and_counted(prepare, corpus):
    for name in ("a.en", "a.de"):
        with (corpus / name).open("a", encoding="utf-8") as file:
            file.write("word " * 20_000 + "\n")
    ended = prepare()
    assert ended.code == 0
    assert "train: 201 pairs read, 199 kept\n" in ended.stderr
    assert "  left out, too many characters: 1\n    line 201: word word" in ended.stderr


@pytest.mark.parametrize(
    ("name", "data", "answer"),
    [
        ("none.en", None, "none.en: cannot be read (No such file or directory)\nhint: check the p"),
        ("bad.en", b"ok\nna\xefve\n", "bad.en, line 2: not UTF-8 (byte 3 of the line is 0xEF)\nh"),
        ("few.en", b"one\n", "few.en has 1 lines, but "),
        ("cut.en.gz", CUT, "cut.en.gz: cannot be unpacked any further"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(prepare, corpus, name, data, answer):
    if data is not None:
        (corpus / name).write_bytes(data)
    ended = prepare(source=name)
    assert ended.code == 2
    assert answer in ended.stderr
    assert "\nhint: " in ended.stderr


def test_a_pipe_is_refused_before_it_is_drunk(prepare, corpus):
    os.mkfifo(corpus / "pipe.en")  # opened by nobody, it would wait for ever
    ended = prepare(source="pipe.en")
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {corpus / 'pipe.en'}: is no regular file, and training text is read more than "
        "once\nhint: write it to a file first\n"
    )


def test_a_folder_in_the_place_of_a_text_is_called_one(prepare, corpus):
    (corpus / "clean").mkdir()
    ended = prepare(source="clean")
    assert f"{corpus / 'clean'}: is a folder, and a text is a file\nhint: name a" in ended.stderr


def test_an_empty_text_is_refused(prepare, corpus):
    (corpus / "a.en").write_bytes(b"")
    (corpus / "a.de").write_bytes(b"")
    hint = "look at its files: they have no lines"
    assert prepare().stderr == f"error: the text is empty\nhint: {hint}\n"


def test_a_text_of_which_cleaning_keeps_nothing_is_refused_with_the_reasons(prepare):
    ended = prepare(target="a.en", languages="sux-akk")  # which no detector contradicts
    assert ended.code == 2
    assert ended.stderr == (
        "error: no pair is left of 200, all were left out (identical sides: 200)\n"
        "hint: look at the text, or change the rule: --set data.drop_identical=false\n"
    )


def test_of_a_development_set_only_what_is_empty_or_too_long_is_left_out(prepare, corpus):
    odd = [("a", "a"), ("b", "c"), ("b", "c"), ("d", "e" * 50), ("", "f"), ("g", "h" * 6_000)]
    write(corpus / "odd.en", [source for source, _ in odd])
    write(corpus / "odd.de", [target for _, target in odd])
    ended = prepare("--dev-source", corpus / "odd.en", "--dev-target", corpus / "odd.de")
    assert "dev: 6 pairs read, 4 kept\n  left out, empty side: 1\n" in ended.stderr


def test_a_vocabulary_larger_than_the_text_supports_is_refused_with_the_largest(prepare):
    ended = prepare(size=5_000)
    assert ended.code == 2
    fact, hint = ended.stderr.splitlines()
    assert fact.endswith("symbols, not a vocabulary of 5,000")
    assert prepare(size=int(hint.rsplit("=")[1])).code == 0


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (("--source", "a.en"), "--target is missing\nhint: a parallel text has two sides"),
        (("--pairs", "x", "--source", "y"), "--pairs and --source name the text twice\nhint: g"),
        (("--source=-", "--target=a.de"), "training text cannot come from standard input: it is"),
        ((), "the corpus multi30k is not here: none/multi30k/en-de does not exist\n"),
        (("--pairs", "a.en"), "a.en, line 1: 1 column, not 2\nhint: a line is source, one tab, "),
    ],
)
def test_a_text_must_be_named_well(call, corpus, monkeypatch, options, answer):
    monkeypatch.chdir(corpus)
    monkeypatch.setenv("TRANSDUCE_CACHE", "none")
    ended = call("prepare", "multi30k-en-de", "-o", "p", *options)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {answer}")


def test_pairs_with_tabs_give_the_same_corpus(prepare, call, corpus):
    prepare()
    both = zip(
        *((corpus / name).read_text().splitlines() for name in ("a.en", "a.de")), strict=True
    )
    write(corpus / "a.tsv", ["\t".join(pair) for pair in both])
    setting = ("--set", "data.vocabulary_size=280")
    assert (
        call("prepare", "tiny", "--pairs", corpus / "a.tsv", "-o", corpus / "t", *setting).code == 0
    )
    stores = [open_prepared(corpus / name).train for name in ("p", "t")]
    assert stores[0].fingerprint == stores[1].fingerprint


def test_texts_that_are_blank_are_answered_with_a_question_and_not_with_rules(call, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("\n \n\t\n", encoding="utf-8")
    files = ["--source", tmp_path / "a", "--target", tmp_path / "b"]
    ended = call("prepare", "tiny", *files, "-o", tmp_path / "p")
    assert ended.code == 2
    assert ended.stderr.endswith(
        "error: no pair is left of 3, all were left out (empty side: 3)\n"
        "hint: one side of every pair is blank: are these the right files?\n"
    )


def test_texts_are_mixed_by_weights_and_synthetic_ones_by_their_share(call, tmp_path):
    for name in ("a", "b", "back:2"):
        lines = (f"the {name} sees {n} cats\tdie {name} sieht {n} Katzen\n" for n in range(40))
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    files = (f"--pairs={tmp_path}/a.tsv:3", f"--pairs={tmp_path}/b.tsv:1:5-")
    synthetic = (f"--synthetic={tmp_path}/back:2.tsv", "--tag-synthetic")
    ended = call("prepare", "tiny", SMALLEST, *files, *synthetic, "-o", tmp_path / "s")
    assert ended.code == 0, ended.stderr
    mixture = json.loads((tmp_path / "s" / "train" / "manifest.json").read_text())["mixture"]
    facts = ("name", "weight", "start", "stop", "is_tagged")
    assert [[share[fact] for fact in facts] for share in mixture] == [
        ["a.tsv", 0.75, 1, 0, False],
        ["b.tsv", 0.25, 5, 0, False],
        ["synthetic back:2.tsv", 1.0, 1, 0, True],
    ]
    assert {share["pairs"] for share in mixture} == {40}
    for words, fact in [
        ((files[0], f"--pairs={tmp_path}/b.tsv"), "some texts have weights, and others have none"),
        (synthetic, "--synthetic pairs are mixed into others, and none were named"),
        ((f"--pairs={tmp_path}/a.tsv:0",), "a.tsv:0: a weight of 0 reads nothing"),
        ((f"--pairs={tmp_path}/a.tsv:1_0",), "what follows the colon is no weight"),
        ((*files, "--tag-synthetic"), "there are no synthetic pairs to tag"),
    ]:
        refused = call("prepare", "tiny", SMALLEST, *words, "-o", tmp_path / "t")
        assert (refused.code, fact in refused.stderr) == (2, True), refused.stderr


def test_a_translation_memory_is_prepared_as_its_pairs_are(call, tmp_path):
    pairs = [(f"the dog sees {n} cats", f"der Hund sieht {n} Katzen") for n in range(60)]
    (tmp_path / "a.en-de.tsv").write_text("".join("{}\t{}\n".format(*pair) for pair in pairs))
    units = "".join(
        f'<tu><tuv xml:lang="de-DE"><seg>{de}</seg></tuv>'
        f'<tuv xml:lang="en"><seg>{en}</seg></tuv></tu>'
        for en, de in pairs
    )
    (tmp_path / "a.tmx").write_text(f'<tmx><header srclang="en"/><body>{units}</body></tmx>')
    for name in ("a.en-de.tsv", "a.tmx"):
        ended = call(
            "prepare", "tiny", SMALLEST, f"--pairs={tmp_path / name}", "-o", tmp_path / f"{name}-s"
        )
        assert "languages: en to de" in ended.stderr, ended.stderr
    stores = [tmp_path / f"{name}-s" / "train" for name in ("a.en-de.tsv", "a.tmx")]
    for file in ("source.ids", "target.ids", "source.offsets", "target.offsets"):
        assert (stores[0] / file).read_bytes() == (stores[1] / file).read_bytes()


def test_headings_and_equal_languages_are_said(call, tmp_path):
    pairs = [(f"the dog sees {n} cats", f"der Hund sieht {n} Katzen") for n in range(60)]
    rows = [("English", "German"), *pairs]
    (tmp_path / "a.tsv").write_text("".join("{}\t{}\n".format(*row) for row in rows))
    units = "".join(
        f"<trans-unit><source>{en}</source><target>{de}</target></trans-unit>" for en, de in pairs
    )
    declared = '<file source-language="en" target-language="en">'
    (tmp_path / "a.xlf").write_text(
        f'<xliff version="1.2">{declared}<body>{units}</body></file></xliff>'
    )
    said = [
        call(
            "prepare",
            "tiny",
            SMALLEST,
            f"--pairs={tmp_path / name}",
            "-o",
            tmp_path / "store" / name,
        )
        for name in ("a.tsv", "a.xlf")
    ]
    assert "train: 61 pairs read, 60 kept\n  left out, empty side: 1\n" in said[0].stderr
    assert "warning: the text says that both of its languages are en" in said[1].stderr


def test_a_text_that_is_refused_leaves_no_folder(call, tmp_path):
    (tmp_path / "a.tsv").write_text(" \t \n")
    ended = call("prepare", "--pairs", tmp_path / "a.tsv", "-o", tmp_path / "new/one/store")
    assert ended.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]
