"""Where the programs are, and what runs them."""

import functools
import json
import os
import pathlib
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


def note(text):
    print(text, file=sys.stderr, flush=True)


def bench(name):
    """The path of a program of the build; None if it is not there."""
    path = BUILD / "bin" / name
    return str(path) if path.is_file() else None


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


def rival(name):
    """The command of a rival; None without PyTorch."""
    python = torch_python()
    return [python, str(RIVALS / name)] if python else None


def under_mpi(ranks, command, *flags):
    """The command on `ranks` ranks; None if it or mpirun is missing."""
    mpirun = shutil.which("mpirun")
    if not command or not mpirun:
        return None
    return [mpirun, "-n", str(ranks), "--bind-to", "none", *flags, *command]


def environment(extra=None):
    return {**os.environ, **MPI, **(extra or {})}


def rows(command, extra=None):
    """The rows that a program prints (README.md); none if it is absent, or, said, if it fails."""
    if not command:
        return []
    done = subprocess.run(command, env=environment(extra), capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        note(f"{command}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return []
    return json.loads(lines[-1]).get("rows", [])
