"""What the surroundings of a process do to it: environment variables, streams, limits, signals."""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from transduce.cli import display
from transduce.cli.main import transduce as command
from transduce.cli.outcome import ProcessorTimeSpent, Terminated, run
from transduce.cli.signals import signals_as_requests
from transduce.cli.train import ProcessOptions, launch_and_wait
from transduce.datasets.cache import cache_folder
from transduce.datasets.mtdata import find_index
from transduce.errors import InputError, find_exhaustion
from transduce.machine.limits import omp_num_threads
from transduce.serve.server import bind
from transduce.training.distributed import launcher
from transduce.training.distributed.launcher import ProcessSupervisor
from transduce.training.distributed.rank import ProcessRank

MANY_DIGITS = "9" * 5_000


def transduce(*arguments: object, **options) -> "subprocess.CompletedProcess[bytes]":
    """Run the command in a process of its own."""
    typed = [sys.executable, "-m", "transduce", *map(str, arguments)]
    options["env"] = os.environ | options.get("env", {})
    return subprocess.run(typed, capture_output=True, check=False, **options)


@pytest.mark.parametrize("columns", ["0", "-5", "²", "1e3", "1000000000", MANY_DIGITS, ""])
def test_a_terminal_of_an_absurd_size_counts_as_one_without_a_size(monkeypatch, columns):
    for name in ("COLUMNS", "LINES"):
        monkeypatch.setenv(name, columns)
    display.ignore_absurd_terminal_sizes()
    assert "COLUMNS" not in os.environ
    assert "LINES" not in os.environ
    assert 0 < display.build_console().width < 10_000


def test_a_terminal_of_a_usual_size_keeps_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "132")
    display.ignore_absurd_terminal_sizes()
    assert display.build_console().width == 132


@pytest.mark.parametrize("threads", [MANY_DIGITS, "0", "²", "abc"])
def test_an_absurd_number_of_threads_is_no_limit(monkeypatch, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert omp_num_threads() == float("inf")


@pytest.mark.parametrize("rank", [MANY_DIGITS, "²", "-1", ""])
def test_an_absurd_rank_is_refused_in_a_sentence(rank):
    with pytest.raises(InputError, match="RANK is ") as error:
        ProcessRank.from_environment({"RANK": rank, "WORLD_SIZE": "2"})
    assert len(error.value.fact) < 200


@pytest.fixture
def homeless(monkeypatch):
    """A user without a home folder."""

    def fail(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(fail))
    monkeypatch.setattr(Path, "expanduser", fail)
    for name in ("TRANSDUCE_CACHE", "XDG_CACHE_HOME", "MTDATA"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_is_asked_for_folders():
    with pytest.raises(InputError, match="this user has no home folder") as error:
        cache_folder()
    assert "TRANSDUCE_CACHE" in error.value.hint
    with pytest.raises(InputError, match="index is not found") as error:
        find_index()
    assert "MTDATA" in error.value.hint


def test_a_relative_cache_folder_is_ignored_as_its_standard_says(monkeypatch):
    monkeypatch.delenv("TRANSDUCE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "x/y")
    assert cache_folder() == Path.home() / ".cache" / "transduce"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x/y")
    assert cache_folder() == Path("/x/y/transduce")


@pytest.mark.parametrize("instruction", ["bogus", "_", "tcsh_source"])
def test_an_unknown_instruction_of_completion_has_a_sentence(capsys, monkeypatch, instruction):
    monkeypatch.setenv("_TRANSDUCE_COMPLETE", instruction)
    assert run(command, []) == 2
    assert "error: _TRANSDUCE_COMPLETE=" in capsys.readouterr().err


def test_in_a_folder_that_was_deleted_there_is_a_sentence(capsys, monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(command, ["verify", str(tmp_path)]) == 2
    assert "was deleted\nhint: change to a folder that exists: cd ~\n" in capsys.readouterr().err


def test_without_any_folder_for_temporary_files_there_is_a_sentence(capsys, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nonexistent"])
    monkeypatch.setattr(display, "print_result", lambda *_: tempfile.mkdtemp())
    assert run(command, ["recipes"]) == 4
    assert "error: no folder for temporary files can be written\nhint: name one in TMPDIR" in (
        capsys.readouterr().err
    )


def test_a_name_that_is_no_utf_8_is_written_with_its_bytes():
    program = "import sys; from transduce.cli import main, display; import click\n"
    program += "@click.command()\ndef show(): display.print_result(sys.argv[0])\n"
    program += "main.transduce = show; sys.argv = ['a\\udcffb']; main.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"a\xffb\n")


def test_ctrl_c_while_the_command_line_is_loaded_leaves_no_traceback(tmp_path):
    (tmp_path / "click.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    done = transduce(
        "recipes", env={"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (130, 2)
    assert done.stderr.startswith(b"error: ended by a signal")


def test_processor_time_that_is_spent_in_training_asks_for_a_stop_once():
    said: list[str] = []
    with signals_as_requests(said.append) as requests:
        for _ in range(3):  # the system repeats it every second
            signal.raise_signal(signal.SIGXCPU)
        assert (requests.stop_signal, len(said)) == (signal.SIGXCPU, 1)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert ProcessorTimeSpent.exit_code == 128 + signal.SIGXCPU


def test_a_pipe_that_does_not_wait_is_read_to_its_end():
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    program = "import sys; from transduce.text.files import read_lines\n"
    program += "from transduce.cli.display import use_blocking_streams\n"
    program += "use_blocking_streams(); print(list(read_lines('-')))"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=reads, stdout=subprocess.PIPE
    ) as process:
        for part in (b"a d", b"og\nruns\n"):
            time.sleep(0.2)
            os.write(writes, part)
        os.close(writes)
        assert process.communicate()[0] == b"['a dog', 'runs']\n"
    os.close(reads)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_error_changes_no_exit_code():
    program = "from transduce.cli import main, display; import click, sys\n"
    program += "@click.command()\ndef show(): display.print_message('one'); "
    program += "display.print_message('two'); display.print_result('done')\n"
    program += "main.transduce = show; sys.argv = ['x']; main.main()"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=full, check=False
        )
    assert (done.returncode, done.stdout) == (0, b"done\n")


def test_an_error_that_nobody_reads_keeps_its_exit_code():
    reads, writes = os.pipe()
    os.close(reads)
    typed = [sys.executable, "-m", "transduce", "recipes", "show", "nothing"]
    assert subprocess.run(typed, stderr=writes, check=False).returncode == 2
    os.close(writes)


def test_a_signal_that_kills_a_process_at_its_start_is_the_end_of_the_launcher(monkeypatch):
    with subprocess.Popen(["sleep", "99"]) as process:
        supervisor = ProcessSupervisor([process])
        supervisor.forward_signal(signal.SIGTERM)
        assert supervisor.wait(1.0) == -signal.SIGTERM
    found = nullcontext(SimpleNamespace(forward_signal=print, wait=lambda _: -signal.SIGTERM))
    monkeypatch.setattr(launcher, "launch_processes", lambda _: found)
    options = ProcessOptions(rank=ProcessRank(), workers=2, exact=False, lost_after=1.0)
    with pytest.raises(Terminated):
        launch_and_wait(options)


def test_forced_colours_make_no_terminal_of_a_file(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not display.build_console().is_terminal


def test_a_program_without_standard_error_may_show_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not display.build_console().is_terminal


def test_a_panic_of_a_library_without_threads_has_a_sentence(capsys, monkeypatch):
    class PanicError(BaseException):
        """As PyO3's PanicException, which is no Exception."""

    def panic(*_):
        raise PanicError("The global thread pool has not been initialized.: ThreadPoolBuildError")

    monkeypatch.setattr(display, "print_result", panic)
    assert run(command, ["recipes"]) == 8
    assert "error: no more threads or processes can be started" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["TORCH_LOGS=junk", "TORCH_LOGS=+inductor,zzz"])
def test_a_variable_that_torch_refuses_has_a_sentence(variable):
    name, _, value = variable.partition("=")
    done = transduce("translate", "/", env={name: value})
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: torch cannot be loaded: ")
    assert b"TORCH" in done.stderr.splitlines()[-1]
    assert len(done.stderr) < 500


@pytest.mark.parametrize(("end", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_a_signal_while_torch_is_loaded_is_no_fault_of_torch(tmp_path, end, code):
    (tmp_path / "torch.py").write_text("raise end")

    @click.command()
    def load():
        runpy.run_path(str(tmp_path / "torch.py"), {"end": end}, "torch")

    assert run(load, []) == code


@pytest.mark.parametrize("host", ["\ufffd", "a" * 70 + ".x", "a\0b", "a..b"])
def test_a_host_that_no_name_can_be_has_a_sentence(host):
    with pytest.raises(InputError, match=r"names no host|cannot be used"):
        bind(host, 0)


@pytest.mark.parametrize(("end", "code"), [("", 8), (" descriptor for a matmul primitive", None)])
def test_too_little_memory_inside_onednn_is_known_as_such(end, code):
    found = find_exhaustion(RuntimeError(f"could not create a primitive{end}"))
    assert getattr(found, "exit_code", None) == code


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")
def test_a_thread_that_address_space_does_not_allow_is_a_lack_of_memory():
    program = (
        "import resource; from transduce.machine.limits import require_threads; "
        "from pathlib import Path; pages = int(Path('/proc/self/statm').read_text().split()[0]); "
        "most = pages * resource.getpagesize() + (24 << 20); "
        "resource.setrlimit(resource.RLIMIT_AS, (most, most)); require_threads(1)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"there is not enough memory: `ulimit -v` leaves under 64 MB" in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")
def test_no_step_of_a_search_begins_without_room_for_the_kernels_of_a_new_shape():
    program = (
        "import resource, sys, transduce; from pathlib import Path\n"
        "translate = transduce.load(sys.argv[1]); translate('a b')\n"
        "pages = int(Path('/proc/self/statm').read_text().split()[0])\n"
        "most = pages * resource.getpagesize() + (40 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "try: translate('a b')\n"
        "except transduce.errors.NotEnoughMemoryError as error: print(error.fact)"
    )
    model = Path(__file__).parents[1] / "golden" / "format-2" / "bilinear"
    command = [sys.executable, "-c", program, str(model)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "there is not enough memory: `ulimit -v` leaves under 64 MB\n"
