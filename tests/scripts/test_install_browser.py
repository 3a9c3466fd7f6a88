"""scripts/install-browser installs Chromium where apt can, and never stops the other tests."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/install-browser"
BASH = "/bin/bash"
# What a stand-in for apt-get does; $BIN is the folder of the commands that are found.
PUTS_BOTH = (
    "[[ $* != *install* ]] || ln -s /bin/true $BIN/chromium && ln -sf /bin/true $BIN/chromedriver"
)
PUTS_ONE = "[[ $* != *install* ]] || ln -s /bin/true $BIN/chromium"


@pytest.fixture
def install(tmp_path):
    """Return a function that runs the script where only these stand-ins are commands."""

    def run(user="0", **commands):
        stand_ins = {"id": f"echo {user}", "timeout": 'shift; "$@"', **commands}
        for name, body in stand_ins.items():
            file = tmp_path / name
            file.write_text(f"#!{BASH}\necho {name} $* >> {tmp_path}/calls\n{body}\n")
            file.chmod(0o755)
        environment = {"PATH": str(tmp_path), "BIN": str(tmp_path)}
        ended = subprocess.run(
            [BASH, SCRIPT], env=environment, capture_output=True, text=True, check=False
        )
        calls = (tmp_path / "calls").read_text() if (tmp_path / "calls").exists() else ""
        return ended, [line for line in calls.splitlines() if line.startswith("apt-get")]

    return run


@pytest.fixture(autouse=True)
def bash():
    if not Path(BASH).exists():
        pytest.skip("skipped: no /bin/bash")


def test_nothing_is_installed_where_both_are(install):
    ended, calls = install(**dict.fromkeys(("chromium", "chromedriver", "apt-get"), "exit 1"))
    assert (ended.returncode, ended.stderr, calls) == (0, "", [])


def test_chromium_and_its_driver_are_installed_by_apt(install):
    commands = {"apt-get": PUTS_BOTH.replace("ln", "/bin/ln")}
    ended, (update, installation) = install(**commands)
    assert (ended.returncode, ended.stderr) == (0, "installing chromium and chromium-driver …\n")
    assert update.endswith(" update")
    assert "--no-install-recommends chromium chromium-driver" in installation


@pytest.mark.parametrize(
    ("user", "commands", "reason"),
    [
        ("0", {}, "this system has no apt"),
        ("1000", {"apt-get": "exit 0"}, "only root can install packages"),
        ("0", {"apt-get": "exit 100"}, "apt could not install"),
        ("0", {"apt-get": PUTS_ONE.replace("ln", "/bin/ln")}, "apt installed none"),
    ],
)
def test_where_there_is_none_a_sentence_says_so_and_the_tests_go_on(
    install, user, commands, reason
):
    ended, _ = install(user, **commands)
    assert ended.returncode == 0
    last = ended.stderr.splitlines()[-1]
    assert last.startswith(f"no Chromium: {reason}")
    assert last.endswith("; tests of pages in a browser will be skipped")
