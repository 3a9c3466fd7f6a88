# Sourced by the other scripts: `environment [EXTRA]` makes .venv with transduce in it,
# and returns at once when it is up to date.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=.venv/bin/python

environment() {
  local extra=${1:-} stamp
  stamp=.venv/up-to-date-${extra:-plain}
  [ "$(cat "$stamp" 2>/dev/null)" = "$(fingerprint)" ] && return
  echo "making .venv (once; some minutes) …" >&2
  make_venv
  has_torch || { echo "installing PyTorch …" >&2; install_torch; }
  echo "installing transduce and the other packages …" >&2
  install_transduce "$extra"
  fingerprint > "$stamp"
}

# All that decides what .venv holds; its scripts hold the path of the checkout.
fingerprint() {
  { cat pyproject.toml constraints.txt; pwd; } | cksum
}

stop() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 2
}

quiet_pip() {
  "$python" -m pip --disable-pip-version-check -qq "$@"
}

make_venv() {
  local candidate
  "$python" -m pip --version >/dev/null 2>&1 && return # without pip it was interrupted
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$candidate" -m venv .venv && return
      rm -rf .venv # a half-made one would be taken for whole
      stop "$candidate cannot make a virtual environment" \
        "on Debian and Ubuntu: apt install python3-venv"
    fi
  done
  stop "no Python of version 3.11 or newer is on the PATH" "install one from python.org"
}

has_torch() {
  "$python" -c 'import importlib.metadata as m; m.version("torch")' 2>/dev/null
}

# torch comes first and alone, so that no other package draws in its build with several GB of CUDA.
install_torch() {
  local torch
  torch=$(grep '^torch==' constraints.txt)
  if nvidia-smi >/dev/null 2>&1 || [ "$(uname)" = Darwin ]; then
    quiet_pip install "$torch"
  elif ! quiet_pip install "$torch" --timeout 10 --retries 1 \
      --index-url https://download.pytorch.org/whl/cpu 2>/dev/null; then
    echo "download.pytorch.org gave no CPU build; asking pip's own index …" >&2
    refuse_cuda "$torch"
    quiet_pip install "$torch"
  fi
}

# A CUDA build of torch asks for nvidia packages; pip can tell before it loads anything.
refuse_cuda() {
  local report
  report=$(quiet_pip install --dry-run --no-deps --report - "$1")
  case $report in
    *'"nvidia-'*) stop "pip would install $1 with several GB of CUDA, but no GPU is here" \
      "put a CPU build of torch into .venv yourself: $python -m pip install WHEEL" ;;
  esac
}

# What torch is in .venv stays: it may be another build or version than ours.
install_transduce() {
  local extra=$1
  "$python" -c 'import importlib.metadata as m; print("torch==" + m.version("torch"))' \
    > .venv/constraints.txt
  grep -v '^torch==' constraints.txt >> .venv/constraints.txt
  quiet_pip install --constraint .venv/constraints.txt --editable ".${extra:+[$extra]}"
}
