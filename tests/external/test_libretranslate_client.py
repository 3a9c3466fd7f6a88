"""libretranslatepy, as it is, in an environment of its own, translates with the server."""

import json
import subprocess
import venv

import pytest
from tests.inference.random_models import random_translator
from tests.serve.models import load_back, load_random
from tests.serve.running import running_server

pytestmark = pytest.mark.external
LINE, GERMAN = "the dog sees a cat.", "Der Hund ist da."
SCRIPT = """
import json, sys
from libretranslatepy import LibreTranslateAPI
client = LibreTranslateAPI(sys.argv[1], *sys.argv[2:])
found = [
    client.languages(),
    client.detect("Der Hund ist da."),
    client.translate("the dog sees a cat.", "en", "de"),
    client.translate("the dog sees a cat.", "auto", "de"),
    client.translate("Der Hund ist da.", "de", "en"),
]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An environment with nothing but the client."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", "libretranslatepy"], check=True)
    return folder / "bin/python"


def call(python, port, *key):
    command = [python, "-c", SCRIPT, f"http://127.0.0.1:{port}/", *key]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_client_lists_detects_and_translates(python):
    with running_server(load_random, load_back) as server:
        languages, detected, english, auto, german = json.loads(call(python, server.port).stdout)
    assert [(one["code"], one["targets"]) for one in languages] == [("en", ["de"]), ("de", ["en"])]
    assert detected[0]["language"] == "de"
    assert english == auto == random_translator()(LINE)
    assert german == load_back()(GERMAN)


def test_the_client_gives_its_key(python):
    with running_server(load_random, load_back, api_key="sesame") as server:
        assert "403" in call(python, server.port).stderr
        found = json.loads(call(python, server.port, "sesame").stdout)
    assert found[2] == random_translator()(LINE)
