"""Where the programs are, and what runs them."""

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("TESSERA_BUILD", ROOT / "build")).resolve()
RIVALS = ROOT / "tests" / "bench" / "rivals"

# PyTorch with huge pages: what a user can set without touching a program.
TUNED = {
    "THP_MEM_ALLOC_ENABLE": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967295:"
    "glibc.malloc.trim_threshold=18446744073709551615",
}
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
# What MPI says of a rank that ended: after the rank's own words, and less than they.
OF_MPI = re.compile(r"^-{20,}\n.*?(^-{20,}\n|\Z)|^\[[^] ]+:\d+\].*\n", re.DOTALL | re.MULTILINE)


class Ended(Exception):
    """A program cannot start, or ended before it had answered; says why."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A command with what it needs in its environment; `missing` says why there is none."""

    command: list
    rival: bool = False
    extra: dict = dataclasses.field(default_factory=dict)
    missing: str = ""

    def started(self, **how):
        """Its process."""
        if self.missing:
            raise Ended(self.missing)
        try:
            return subprocess.Popen(self.command, env=os.environ | MPI | self.extra, text=True,
                                    stdout=subprocess.PIPE, **how)
        except OSError as error:
            raise Ended(f"{self.command[0]}: {error.strerror}") from error


def note(text):
    print(text, file=sys.stderr, flush=True)


def ours(name, *arguments):
    """A program of the build."""
    path = BUILD / "bin" / name
    missing = "" if path.is_file() else f"{name} is not built; it needs -DTESSERA_BENCH=ON"
    return Program([str(path), *map(str, arguments)], missing=missing)


def has_torch(python):
    probe = [python, "-c", "import torch, numpy, h5py"]
    return subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode == 0


@functools.cache
def torch_python():
    """A Python that has PyTorch; None if there is none."""
    named = os.environ.get("TESSERA_TORCH_PYTHON")
    if named:
        return named
    here = [sys.executable, *(shutil.which(name) for name in ("python3", "python"))]
    return next((python for python in here if python and has_torch(python)), None)


def rival(script, *arguments, extra=None):
    """A program that needs PyTorch."""
    python = torch_python()
    missing = "" if python else "no Python here has torch, numpy and h5py"
    command = [python, str(RIVALS / script), *map(str, arguments)]
    return Program(command, True, extra or {}, missing)


def under_mpi(ranks, program, *flags):
    """The program on `ranks` ranks."""
    mpirun = shutil.which("mpirun")
    command = [mpirun, "-n", str(ranks), "--bind-to", "none", *flags, *program.command]
    missing = program.missing or ("" if mpirun else "no mpirun here")
    return dataclasses.replace(program, command=command, missing=missing)


def why_ended(code, errors):
    """The last line of what a program said on standard error, best in its own name; its exit code
    if that was not 0."""
    said = OF_MPI.sub("", errors).strip().splitlines()
    named = [line for line in said if line.startswith("bench_")]
    parts = [f"exit code {code}"] if code else []
    return "; ".join([*parts, *(named or said)[-1:]]) or "no answer"


def rows(program):
    """The rows that a program prints (README.md)."""
    process = program.started(stderr=subprocess.PIPE)
    output, errors = process.communicate()
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if process.returncode != 0 or not lines:
        note(errors[-2000:])
        raise Ended(why_ended(process.returncode, errors))
    return json.loads(lines[-1])["rows"]
