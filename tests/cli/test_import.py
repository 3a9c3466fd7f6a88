"""transduce import: a checkpoint of another program as a model that the other commands take."""

import pytest
from tests.runs.marian_checkpoints import write_checkpoint


@pytest.fixture
def checkpoint(tmp_path):
    write_checkpoint(tmp_path / "opus")
    return tmp_path / "opus"


def test_a_checkpoint_becomes_a_model_that_translates(call, checkpoint, tmp_path):
    ended = call("import", checkpoint, "-o", tmp_path / "model")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr == (
        f"history/marian, imported: 5,333 parameters, in {tmp_path / 'model'}\n"
    )
    assert call("verify", tmp_path / "model").stdout == f"good  {tmp_path / 'model'}\n"
    translated = call("translate", tmp_path / "model", stdin=b"the dog\n\n")
    assert (translated.code, translated.stdout.count("\n")) == (0, 2)
    assert call("import", checkpoint, "-o", tmp_path / "quiet", "--quiet").stderr == ""


def test_what_cannot_be_imported_is_refused_and_nothing_is_written(call, checkpoint, tmp_path):
    (checkpoint / "source.spm").unlink()
    ended = call("import", checkpoint, "-o", tmp_path / "model")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {checkpoint / 'source.spm'}: cannot be read (No such file or directory)\n"
        "hint: name the folder of a Marian checkpoint, as transformers saves it\n"
    )
    ended = call("import", tmp_path, "-o", checkpoint)
    assert (ended.code, "exists already" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["opus"]
