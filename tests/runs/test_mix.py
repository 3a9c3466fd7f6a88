"""transduce.mix: what is mixed, what is refused, and a training that stops and goes on."""

import os

import pytest
import torch
from tests.runs.corpora import TOY
from tests.runs.test_resume import trained

import transduce
from transduce.checkpoint.checkpoints import load_checkpoint
from transduce.errors import InputError
from transduce.runs.ledger import list_warnings
from transduce.runs.mix import mix
from transduce.runs.texts import InMemoryPairs, MixedPairs, TaskFiles
from transduce.settings.recipe import Value, with_changes

MAIN = [(f"a b {n}", f"{n} b a") for n in range(60)]
SETTINGS: dict[str, Value] = {
    "data.task": "translation",
    "training.steps": 12,
    "training.snapshot_every": 6,
}
MIXED = with_changes(TOY, SETTINGS)


@pytest.fixture
def back(tmp_path):
    file = tmp_path / "back.tsv"
    file.write_text("".join(f"x y {n}\t{n} y x\n" for n in range(90)))
    return file


@pytest.fixture
def other(tmp_path):
    file = tmp_path / "other.tsv"
    file.write_text("".join(f"o p {n}\t{n} p o\n" for n in range(30)))
    return file


def learned(folder):
    return {name: one.tolist() for name, one in load_checkpoint(folder, 12).weights.items()}


def test_a_stopped_training_on_a_mixture_goes_on_to_the_same_bits(tmp_path, back):
    torch.set_num_threads(1)
    text = mix(MAIN, {back: (0.6, 1, 9)}, tag_synthetic=True)
    prepared = transduce.prepare(tmp_path / "store", text, False, recipe=MIXED)
    trained(tmp_path / "straight", prepared, recipe=MIXED)
    for asks in (10, 15, None):
        trained(tmp_path / "stopped", prepared, asks=asks, recipe=MIXED)
    assert learned(tmp_path / "stopped") == learned(tmp_path / "straight")
    card = (
        transduce.average(tmp_path / "straight", tmp_path / "m").folder / "README.md"
    ).read_text()
    assert "| main | 60 | 40.0% | 1 to the last | no |" in card
    assert "| synthetic back.tsv | 90 | 60.0% | 1 to 9 | yes |" in card


def test_texts_of_the_same_name_are_told_apart_by_their_folders(tmp_path, back):
    (tmp_path / "old").mkdir()
    older = back.rename(tmp_path / "old" / "back.tsv")
    text = mix({older: 1, back: 1, tmp_path / "c.tsv": 1})
    assert isinstance(text, MixedPairs)
    names = [one.share.name for one in text.texts]
    assert names == ["old/back.tsv", f"{tmp_path.name}/back.tsv", "c.tsv"]


def test_another_share_is_another_corpus(tmp_path, back):
    for share, name in ((0.5, "a"), (0.6, "b")):
        transduce.prepare(tmp_path / name, mix(MAIN, {back: share}), False, recipe=MIXED)
    settings = {"training.steps": 1}
    transduce.train(tmp_path / "run", store=tmp_path / "a", recipe=MIXED, settings=settings)
    with pytest.raises(InputError, match="this run was begun on another corpus: train differ"):
        transduce.train(tmp_path / "run", store=tmp_path / "b", recipe=MIXED, settings=settings)
    with pytest.raises(InputError, match="divided, mixed or read by other columns"):
        transduce.prepare(tmp_path / "a", mix(MAIN, {back: 0.4}), False, recipe=MIXED)


def test_files_have_weights_and_synthetic_ones_shares_of_all(back, other):
    text = mix({back: 3, other: (1, 5, 0)}, {other: 0.5})
    assert isinstance(text, MixedPairs)
    weights = [(one.share.name, one.share.weight, one.share.start) for one in text.texts]
    assert weights == [("back.tsv", 3, 1), ("other.tsv", 1, 5), ("synthetic other.tsv", 1, 1)]
    assert len(list(text.read())) == 150
    assert text.main.fingerprint() != text.fingerprint()


def test_a_file_may_have_a_name_that_is_no_text(tmp_path, back):
    odd = back.rename(tmp_path / os.fsdecode(b"b\xe9.tsv"))
    text = mix({odd: 1}, {odd: 0.5})
    assert isinstance(text, MixedPairs)
    assert [one.share.name for one in text.texts] == ["b\ufffd.tsv", "synthetic b\ufffd.tsv"]


def test_a_single_text_stays_as_it_is(back):
    assert mix(MAIN) == InMemoryPairs(tuple(MAIN))
    assert isinstance(mix({back: 0}), TaskFiles)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("how", ["3", None, True, (1, 2), [1, 2, 3], (1, "1", 3), (1, 1.5, 3)])
def test_what_is_no_weight_is_refused(back, how):
    with pytest.raises(InputError, match="is no weight of"):
        mix({back: how})
    with pytest.raises(InputError, match="files with weights are a dictionary"):
        mix(back, [(back, 0.5)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "synthetic", "fact"),
    [
        ({"back": 1, "other": 0}, None, "some texts have weights, and others have none"),
        ({}, None, "there is no text to mix others into"),
        ({"back": 0}, {"other": 1.0}, "shares of 1 leave nothing to other pairs"),
        ({"back": 0}, {"other": 0}, "shares of 0 leave nothing"),
        ({"back": (1, 1, 9), "other": (1, 11, 0)}, None, "update 10 has no text to read"),
        ({"back": (1, 1, 9)}, None, "update 10 has no text to read"),
        ({"back": (1, 2, 0)}, None, "update 1 has no text to read"),
        ({"back": float("inf"), "other": 1}, None, "and at most 1,000,000"),
        ({"back": -1.0}, None, "a weight is at least 1 / 1,000,000"),
        ({"back": 1e-320, "other": 1}, None, "a weight is at least 1 / 1,000,000"),
        ({"back": 10**400}, None, "and at most 1,000,000"),
        ({"back": (1, 1, 10**30), "other": 1}, None, "nor above 1,000,000,000,000,000"),
        ({"back": (1, 9, 8)}, None, "back.tsv is read from update 9 to 8"),
        ({"back": (1, 0, 0)}, None, "back.tsv is read from update 0 to the last"),
    ],
)
def test_what_cannot_be_mixed_is_refused(back, other, texts, synthetic, fact):
    files = {"back": back, "other": other}
    texts, synthetic = (
        {files[k]: how for k, how in some.items()} for some in (texts, synthetic or {})
    )
    with pytest.raises(InputError, match=fact) as error:
        mix(texts, synthetic)
    assert str(error.value).endswith(error.value.hint)  # no option, which Python would not know
    with pytest.raises(InputError, match="no synthetic pairs to tag"):
        mix(MAIN, tag_synthetic=True)


def test_a_text_that_no_update_reads_is_told_of(tmp_path, back):
    text = mix(MAIN, {back: (0.6, 16, 0)})
    prepared = transduce.prepare(tmp_path / "store", text, False, recipe=MIXED)
    *_, doubt = list_warnings(MIXED, prepared)
    assert doubt.startswith("synthetic back.tsv is read from update 16, and the training ends aft")


def test_a_synthetic_text_of_empty_sources_is_refused_with_its_own_counts(tmp_path, back):
    blank = tmp_path / "blank.tsv"
    blank.write_text("".join(f"\t{n}\n" for n in range(50)))
    back.write_text(back.read_text() + "only a source\t\n" + "x y 0\t0 y x\n")
    text = mix({back: 0}, {blank: 0.5})
    with pytest.raises(InputError, match=r"is left of 50, all were left out [(]empty side: 50[)]"):
        transduce.prepare(tmp_path / "store", text, False, recipe=MIXED)


def test_a_synthetic_text_of_pairs_that_are_known_is_refused_with_the_reason(tmp_path, back):
    (tmp_path / "same.tsv").write_text(back.read_text())
    text = mix({back: 0}, {tmp_path / "same.tsv": 0.5})
    with pytest.raises(InputError) as error:
        transduce.prepare(tmp_path / "store", text, False, recipe=MIXED)
    assert str(error.value).startswith("synthetic same.tsv: no pair is left of ")
    assert error.value.hint == "they stand in the other texts already"
