"""The environment of the peers: what ours has, the same torch among it, and the peers."""

import subprocess
import sys
import sysconfig
from pathlib import Path

FOLDER = Path(__file__).parent / ".venv"
PYTHON = FOLDER / "bin/python"
WANTED = Path(__file__).with_name("peers.txt")


def install_peers() -> str:
    """Install the peers once; return why that failed, or an empty string."""
    stamp = FOLDER / "made"
    made = f"{sys.prefix}\n{WANTED.read_text(encoding='utf-8')}"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == made:
        return ""
    print("making the environment of the peers (once; a minute) …", file=sys.stderr)
    try:
        install_environment()
    except subprocess.CalledProcessError as error:
        return f"the peers could not be installed: {error.cmd[-1]} ended with {error.returncode}"
    stamp.write_text(made, encoding="utf-8")
    return ""


def install_environment() -> None:
    """Create an environment that also sees this one's packages, and install the peers in it."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
    paths = [str(PYTHON), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    theirs = subprocess.run(paths, check=True, capture_output=True, text=True).stdout.strip()
    ours = sysconfig.get_paths()["purelib"]
    Path(theirs, "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n", "utf-8")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", str(WANTED)], check=True)
