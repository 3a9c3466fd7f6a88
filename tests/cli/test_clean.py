"""transduce clean: from files to a folder that other commands read, and what is refused."""

import json


def test_the_clean_text_of_two_files_trains(call, tmp_path):
    lines = [f"the dog sees {n} cats" for n in range(50)]
    (tmp_path / "a.en").write_text("\n".join([*lines, "bad", "leaked line"]) + "\n")
    german = [f"der Hund sieht {n} Katzen" for n in range(50)]
    (tmp_path / "a.de").write_text("\n".join([*german, "bad", "Loch"]) + "\n")
    (tmp_path / "test.en").write_text("Leaked line!\n")
    text = (f"--source={tmp_path}/a.en", f"--target={tmp_path}/a.de")
    ended = call("clean", *text, f"--not-in={tmp_path}/test.en", "-o", tmp_path / "c")
    assert ended.code == 0, ended.stderr
    assert "50 of 52 pairs kept" in ended.stderr
    assert "leak: 1, 1 by it alone: a side is a line of a test set\n    leaked line | Loch" in (
        ended.stderr
    )
    assert json.loads((tmp_path / "c" / "report.json").read_text())["kept"] == 50
    assert call("verify", tmp_path / "c").code == 0
    prepared = call(
        "prepare",
        "tiny",
        "--set=data.vocabulary_size=262",
        f"--pairs={tmp_path}/c/pairs.tsv",
        "-o",
        tmp_path / "s",
    )
    assert "50 pairs read, 50 kept" in prepared.stderr, prepared.stderr


def test_what_does_not_fit_is_refused(call, corpus):
    text = (f"--source={corpus}/a.en", f"--target={corpus}/a.de")
    for words, fact in [
        ((), "no text was named"),
        ((f"--pairs={corpus}/a.tsv:3:1-5",), "a text is cleaned as a whole, not by weights"),
        ((f"--pairs={corpus}/a.tsv::1-5",), "a text is cleaned as a whole, not by weights"),
        ((*text, "--forward=model"), "--forward and --backward need each other"),
        ((*text, "--worst=0.2"), "by the probabilities of two models, and none was given"),
        ((*text, "--languages=en"), "a text has a source and a target language"),
        ((*text, "--not-in=missing"), "missing: cannot be read"),
    ]:
        ended = call("clean", *words, "-o", corpus / "c")
        assert (ended.code, fact in ended.stderr) == (2, True), ended.stderr
        assert not (corpus / "c").exists()


def test_a_worst_share_of_0_needs_no_models(call, corpus):
    text = (f"--source={corpus}/a.en", f"--target={corpus}/a.de")
    assert call("clean", *text, "--worst=0", "-o", corpus / "c").code == 0


def test_pairs_too_long_for_two_models_are_counted_for_each_and_the_first_are_named(
    call, made, corpus
):
    with (corpus / "a.en").open("a") as source, (corpus / "a.de").open("a") as target:
        for number in range(12):
            source.write("".join(map(str, range(number, 200))) + " a\n")
            target.write("".join(map(str, range(number, 200))) + " b\n")
    assert call("average", made / "run", "-o", corpus / "back", "--languages=de-en").code == 0
    models = [made / "model", corpus / "back"]
    text = (f"--source={corpus}/a.en", f"--target={corpus}/a.de", "-o", corpus / "c")
    ended = call("clean", *text, "--forward", models[0], "--backward", models[1])
    assert ended.code == 0, ended.stderr
    assert ended.stderr.count("and this model takes") == 20
    for model in models:
        count = f"12 lines are longer than the model takes: not scored by {model}, and so among "
        assert f"warning: {count}the least probable; only the first 10 are named\n" in ended.stderr
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "d")
    ended = call("distil", *text, "--backward", models[1], "--until=pairs")
    assert ended.code == 0, ended.stderr
    assert "12 lines are longer than the model takes: not scored, and so among " in ended.stderr


def test_a_text_whose_sides_are_not_the_models_is_warned_of(call, made, tmp_path):
    german = "Der Hund schläft unter dem Tisch, und die Katze sieht aus dem Fenster."
    english = "The dog sleeps under the table, and the cat looks out of the window."
    pairs = "".join(f"{german}{n}\t{english}{n}\n" for n in range(20))
    (tmp_path / "t.tsv").write_text(pairs, "utf-8")
    assert call("average", made / "run", "-o", tmp_path / "back", "--languages=de-en").code == 0
    models = ("--forward", made / "model", "--backward", tmp_path / "back")
    ended = call("clean", "--pairs", tmp_path / "t.tsv", *models, "-o", tmp_path / "c")
    assert ended.code == 0, ended.stderr
    assert "warning: the source is in the language de, and the model reads en" in ended.stderr
