"""Which files of a user's treebank a split is made of."""

import gzip
import shutil

import pytest
from tests.datasets.made_trees import COUNTS, generate_trees, one_line, write_penn_treebank

from transduce.datasets.penn import find_penn_files, find_tree_files, has_penn_sections
from transduce.errors import InputError


@pytest.fixture(name="penn")
def made_penn_treebank(tmp_path):
    """A folder with wsj/00 to wsj/24."""
    write_penn_treebank(tmp_path / "penn", {"train": 200, "dev": 9, "test": 9})
    return tmp_path / "penn"


def leaves(text):
    """All brackets and words of a text, whatever the white space."""
    return text.replace("(", " ( ").replace(")", " ) ").split()


def test_sections_may_be_links(penn):
    whole = find_penn_files(penn, "dev")
    (section,) = {file.parent for file in whole}
    section.rename(penn.parent / "elsewhere")
    section.symlink_to(penn.parent / "elsewhere")
    assert find_penn_files(penn, "dev") == whole
    (penn / "again").symlink_to(penn)
    assert find_penn_files(penn, "dev") == whole


def test_training_is_on_sections_2_to_21_in_order(penn):
    files = find_penn_files(penn, "train")
    sections = [path.parent.name for path in files]
    assert sections == sorted(sections)
    assert set(sections) == {f"{number:02}" for number in range(2, 22)}
    assert files == sorted((penn / "wsj").glob("0[2-9]/*")) + sorted(
        path for path in (penn / "wsj").glob("[12]?/*") if path.parent.name < "22"
    )


def test_development_is_section_22_and_the_test_section_23(penn):
    assert find_penn_files(penn, "dev") == sorted((penn / "wsj/22").iterdir())
    assert [path.name for path in find_penn_files(penn, "test")] == ["wsj_2301.mrg", "wsj_2302.mrg"]


@pytest.mark.parametrize("above", ["", "wsj", "parsed/mrg/wsj", "treebank_3/parsed/mrg/wsj"])
def test_sections_are_found_at_any_usual_depth(penn, tmp_path, above):
    root = tmp_path / "root"
    (root / above).parent.mkdir(parents=True, exist_ok=True)
    (penn / "wsj").rename(root / above)
    assert has_penn_sections(root)
    files = find_penn_files(root, "dev")
    assert [path.relative_to(root / above).as_posix() for path in files] == [
        "22/wsj_2201.mrg", "22/wsj_2202.mrg",
    ]  # fmt: skip


def test_packed_files_and_upper_case_are_found_and_other_files_are_not(penn):
    section = penn / "wsj/22"
    plain = section / "wsj_2201.mrg"
    (section / "WSJ_2201.MRG.GZ").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    for name in ("wsj_2201.prd", "readme", ".wsj_2203.mrg"):
        (section / name).write_text("no tree")
    (section / "wsj_2202.mrg").rename(section / "wsj_2202.Mrg")
    names = [path.name for path in find_penn_files(penn, "dev")]
    assert names == ["WSJ_2201.MRG.GZ", "wsj_2202.Mrg"]


def test_missing_sections_are_named(penn):
    for name in ("07", "11"):
        shutil.rmtree(penn / "wsj" / name)
    with pytest.raises(InputError, match=r"penn: has no sections 07, 11 with \.mrg files") as error:
        find_penn_files(penn, "train")
    assert "00 to 24" in error.value.hint
    assert len(find_penn_files(penn, "dev")) == 2


def test_a_folder_without_sections_is_refused(tmp_path):
    assert not has_penn_sections(tmp_path)
    with pytest.raises(InputError, match=r"has no section 23 with \.mrg files, of which test"):
        find_penn_files(tmp_path, "test")
    with pytest.raises(InputError, match="is not a folder"):
        find_penn_files(tmp_path / "nowhere", "test")
    with pytest.raises(InputError, match="unknown split 'tests'"):
        find_penn_files(tmp_path, "tests")


def test_two_copies_of_the_sections_or_of_a_file_are_refused(penn):
    shutil.copytree(penn / "wsj/22", penn / "copy/22")
    with pytest.raises(InputError, match=r"copy and .*wsj both hold sections"):
        find_penn_files(penn, "train")
    shutil.rmtree(penn / "copy")
    (penn / "wsj/22/wsj_2201.mrg.gz").write_bytes(gzip.compress(b"(S (A b))"))
    with pytest.raises(InputError, match=r"wsj_2201.mrg and wsj_2201.mrg.gz are two copies"):
        find_penn_files(penn, "dev")


def test_of_any_other_folder_all_files_of_trees_are_taken_in_order(tmp_path):
    for name in (
        "b.trees",
        "a/z.ptb",
        "a/y.TREE.gz",
        "c.txt",
        "about.json",
        ".d.trees",
        ".e/f.mrg",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    names = [path.relative_to(tmp_path).as_posix() for path in find_tree_files(tmp_path)]
    assert names == ["a/y.TREE.gz", "a/z.ptb", "b.trees", "c.txt"]


def test_a_folder_without_files_of_trees_is_refused(tmp_path):
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(InputError, match="holds no files of trees") as error:
        find_tree_files(tmp_path)
    assert ".mrg, .trees" in error.value.hint


def test_the_made_treebank_has_each_tree_once_over_several_lines(penn):
    for split, count in {"train": 200, "dev": 9}.items():
        text = "".join(path.read_text() for path in find_penn_files(penn, split))
        trees = [one_line(tree) for tree in generate_trees(split, count)]
        assert sorted(leaves(text)) == sorted(leaves("".join(trees)))
        assert text.count("\n( (S") == count < text.count("\n")
    train = "".join(path.read_text() for path in find_penn_files(penn, "train"))
    for part in ("(-NONE- *T*-1)", "(NP-SBJ (-NONE- *-1))", "(WHNP-1 ", "(-LRB- -LRB-)", "1\\/2"):
        assert part in train


def test_no_made_tree_stands_in_two_splits():
    splits = [{one_line(tree) for tree in generate_trees(*one)} for one in COUNTS.items()]
    assert not splits[0] & splits[1] | splits[0] & splits[2] | splits[1] & splits[2]
