"""The source distribution with its extra `serve`, in an empty environment, serves a model."""

import http.client
import json
import os
import subprocess
import sysconfig
import venv
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.external.test_wheel import CHECKOUT, run

pytestmark = pytest.mark.external
TORCH = ("torch", "torchgen", "functorch", "torch-*.dist-info")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment that is empty but for torch: a link to that of this environment."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    ours = Path(sysconfig.get_paths()["purelib"])
    (theirs,) = folder.glob("lib/python*/site-packages")
    for pattern in TORCH:
        for one in ours.glob(pattern):
            (theirs / one.name).symlink_to(one)
    return folder / "bin"


def test_a_model_is_served_with_one_command(environment, tmp_path):
    pip = (environment / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q")
    run(*pip, "build", cwd=tmp_path)
    run(
        environment / "python",
        "-m",
        "build",
        "--sdist",
        "--outdir",
        tmp_path,
        CHECKOUT,
        cwd=tmp_path,
    )
    (sources,) = tmp_path.glob("transduce-*.tar.gz")
    run(*pip, "-c", CHECKOUT / "constraints.txt", f"{sources}[serve]", cwd=tmp_path)
    command = environment / "transduce"
    run(command, "demo", "--set", "training.steps=50", "--no-progress", cwd=tmp_path)
    model = tmp_path / "transduce-demo" / "model"
    text = "The dog sees the cat."
    expected = run(command, "translate", model, cwd=tmp_path, given=text).stdout.rstrip("\n")
    assert ask_a_server(command, model, text) == {"translatedText": expected}


def ask_a_server(command, model, text):
    """Serve a model, translate a text, and stop the server, which must end well."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [command, "serve", model, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=plain) as process:
        assert process.stdout is not None
        port = urlsplit(process.stdout.readline().strip()).port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = json.dumps({"q": text, "source": "en", "target": "de"})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        found = json.loads(connection.getresponse().read())
        connection.close()
        process.terminate()
        assert process.wait(60) == 0
    return found
