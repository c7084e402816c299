"""The source files of the project, for the checks in this folder."""

import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("TESSERA_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
ROOMS = ("core", "kernels", "nn", "dist", "launch", "examples", "tests")
CODE = (".h", ".cpp", ".cu", ".cuh")


def files(suffixes, folders=ROOMS):
    """Paths, relative to the root and sorted, of the files with one of the suffixes."""
    found = []
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in suffixes:
                found.append(path.relative_to(ROOT))
    return sorted(found)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def report(problems):
    """Prints the problems and ends the program: 1 if there is any."""
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
