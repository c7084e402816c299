"""The build of the library alone, CPU only, without a compiler cache."""

import os
import shutil
import subprocess
import time

from driver import programs
from driver.figures import Figure

FOLDER = programs.BUILD / "timed"
OFF = [f"-DTESSERA_{what}=OFF" for what in ("WITH_CUDA", "WITH_NCCL", "WITH_CUDNN", "TESTS",
                                             "EXAMPLES", "BENCH")]


def run(_options):
    shutil.rmtree(FOLDER, ignore_errors=True)
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    quiet = dict(env=environment, stdout=subprocess.DEVNULL, check=True)
    configure = ["cmake", "-S", str(programs.ROOT), "-B", str(FOLDER), "-G", "Ninja", *OFF]
    start = time.monotonic()
    subprocess.run(configure, **quiet)
    subprocess.run(["cmake", "--build", str(FOLDER), "--target", "tessera_all", "-j", "2"], **quiet)
    minutes = (time.monotonic() - start) / 60
    shutil.rmtree(FOLDER)
    figure = Figure("library build, CPU only, 2 jobs", minutes, 4, 2, "min", "one build, no median")
    return [figure], {"minutes": minutes}


PARTS = {"": run}
