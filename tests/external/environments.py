"""Environments for engines that are not among the project's dependencies."""

import os
import re
import subprocess
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

KEPT = "TRANSDUCE_TEST_ENVIRONMENTS"  # the variable that names a folder of kept environments


def make_environment(folder: Path, packages: Sequence[str]) -> Path:
    """Create an environment that sees this one's packages, torch among them, and installs more.

    Return its interpreter. If TRANSDUCE_TEST_ENVIRONMENTS names a folder, the environment is made
    there instead, named after its packages, and used again by later runs.
    """
    if kept := os.environ.get(KEPT):
        folder = Path(kept, re.sub(r"[^a-z0-9]+", "-", "-".join(packages)))
    python, complete = folder / "bin/python", folder / "complete"
    if complete.exists():
        return python
    venv.create(folder, with_pip=True, clear=True)
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    theirs = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    ours = sysconfig.get_paths()["purelib"]
    Path(theirs, "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n", "utf-8")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr[-2000:]
    complete.touch()
    return python
