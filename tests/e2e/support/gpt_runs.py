"""Running the gpt example from tests."""

import atexit
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(os.environ.get("TESSERA_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
BUILD = pathlib.Path(os.environ.get("TESSERA_BUILD", ROOT / "build"))
OWN_VARIABLES = {f"TESSERA_{name}" for name in ("BUILD", "SOURCE", "TEST_FULL", "TEST_SEED", "PYTHON", "OWN_MOUNTS",
                                                 "SKIP_PACKAGES", "SKIP_BUILD")}
sys.path.append(str(ROOT / "tests" / "support"))   # for scripts to import what all tests share
GPT = BUILD / "bin" / "gpt"
TEXT = ROOT / "tests" / "fixtures" / "gpt" / "text.txt"
TINY = ["--layers", "2", "--heads", "2", "--width", "32", "--context", "16", "--batch", "16",
        "--lr", "1e-2", "--warmup", "2"]
SKIPPED_EXIT = 77
# What Open MPI needs as root, and to start more ranks than there are cores.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def require_gpt():
    if not GPT.exists():
        print("skipped: the gpt example is not built here")
        sys.exit(SKIPPED_EXIT)


def command(ranks, *options):
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    return [*launcher, str(GPT), *map(str, options)]


def environment(more):
    """Without the tests' own variables, which Tessera would call misspelt."""
    outer = {name: text for name, text in os.environ.items() if name not in OWN_VARIABLES}
    return {**outer, **MPI, **(more or {})}


def run_command(line, check=True, timeout=120, env=None):
    """The finished process, its output captured."""
    line = list(map(str, line))
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", env=environment(env))
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_job(process)
        fail(f"{' '.join(line)}: still runs after {timeout} s")
    if check and process.returncode != 0:
        print(out, err, sep="\n")
        fail(f"{' '.join(line)}: exit code {process.returncode}")
    return subprocess.CompletedProcess(line, process.returncode, out, err)


def run(ranks, *options, check=True, timeout=120, env=None):
    return run_command(command(ranks, *options), check, timeout, env)


class Job:
    """A run in the background, its output in a file."""

    def __init__(self, ranks, *options, env=None):
        self.ranks = ranks
        self.log = folder() / "log.jsonl"
        self.output = self.log.parent / "output"
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(
                command(ranks, "--log", self.log, *options), stdout=output, stderr=output,
                env=environment(env))
        atexit.register(self.kill)  # a test that fails leaves nothing behind

    def kill(self):
        if self.process.poll() is None:
            kill_job(self.process)

    def text(self):
        return self.output.read_text(errors="replace")

    def steps(self):
        return self.log.read_text().count('"step":') if self.log.exists() else 0

    def wait_until(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while True:
            over = self.process.poll() is not None or time.monotonic() > end
            if condition():
                return
            if over:
                self.kill()
                fail(f"never came: {what}\n{self.text()}")
            time.sleep(0.02)

    def wait_for_steps(self, count):
        self.wait_until(lambda: self.steps() >= count, f"step {count}")

    def pid(self, rank):
        """The process of a rank."""
        return self.process.pid if self.ranks == 1 else ranks_of(self.process.pid)[rank]

    def end(self, seconds):
        """The exit code, and how long it took to come."""
        begin = time.monotonic()
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            fail(f"still runs after {seconds} s\n{self.text()}")
        return code, time.monotonic() - begin


def ranks_of(mpirun):
    """Process by rank of those that mpirun has started by now."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if entry.name.isdigit() and int(parent) == mpirun:
                variables = (entry / "environ").read_bytes().split(b"\0")
                for variable in variables:
                    if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                        found[int(variable.partition(b"=")[2])] = int(entry.name)
        except (OSError, IndexError):
            pass  # not a process, or gone
    return found


def kill_job(process):
    for pid in [*ranks_of(process.pid).values(), process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def has_mpi():
    return "TESSERA_WITH_MPI:STRING=OFF" not in (BUILD / "CMakeCache.txt").read_text()


def require_mpi():
    if not has_mpi():
        print("skipped: built without MPI")
        sys.exit(SKIPPED_EXIT)


def sentences(done):
    """What the program said of itself before it ended, without the rank that said it."""
    lines = [re.sub(r"^\[rank \d+\] ", "", line) for line in done.stderr.splitlines()]
    return [line for line in lines if line.startswith("gpt: ")]


def records(log):
    """Of the steps; a line that begins another run is none."""
    lines = pathlib.Path(log).read_text().splitlines()
    return [record for record in map(json.loads, lines) if "step" in record]


def losses(log):
    return [record["loss"] for record in records(log)]


def steps_in(save):
    return sorted(int(path.name[5:]) for path in pathlib.Path(save).glob("step-*"))


def folder():
    """A new folder that goes when the test ends."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="tessera-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def arrays(checkpoint):
    """Name and bytes of every array of a step, read by h5py."""
    import h5py
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = item[()].tobytes()

    with h5py.File(checkpoint / "index.h5") as file:
        file.visititems(visit)
    return found


def fail(text):
    print(text, flush=True)
    sys.exit(1)


def expect(holds, text):
    if not holds:
        fail(text)
