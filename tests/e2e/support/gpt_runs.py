"""Running the gpt example from tests."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("TESSERA_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
BUILD = pathlib.Path(os.environ.get("TESSERA_BUILD", ROOT / "build"))
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


def run(ranks, *options, check=True, timeout=120, env=None):
    """The finished process, its output captured."""
    done = subprocess.run(command(ranks, *options), capture_output=True, text=True, timeout=timeout,
                          errors="replace", env=dict(os.environ, **MPI, **(env or {})))
    if check and done.returncode != 0:
        print(done.stdout, done.stderr, sep="\n")
        sys.exit(f"{' '.join(command(ranks, *options))}: exit code {done.returncode}")
    return done


def losses(log):
    return [json.loads(line)["loss"] for line in pathlib.Path(log).read_text().splitlines()]


def folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="tessera-"))


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
    print(text)
    sys.exit(1)
