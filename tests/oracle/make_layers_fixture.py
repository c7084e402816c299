"""Makes tests/fixtures/layers.h5: what PyTorch's layers, losses, optimizers, schedules and
initialisers give.

    venv/bin/python tests/oracle/make_layers_fixture.py     (packages as for make_gpt_fixture.py)

A family is one file in families/ and, beside it, one of the same name in C++ that says how the same
things are made in Tessera. A family without the second is left out. The same versions of PyTorch
and h5py make the same bytes. `--seed` draws other cases; TESSERA_LAYERS_FIXTURE=PATH hands them to
the tests.
"""

import argparse
import collections
import importlib
import pathlib

import torch

from support import hdf5
from support.record import Group

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent / "fixtures" / "layers.h5"


def families(everything):
    paths = sorted((HERE / "families").glob("*.py"))
    return [path.stem for path in paths if everything or path.with_suffix(".cpp").exists()]


def fixture(names, seed):
    sections = collections.defaultdict(Group)
    for name in names:
        for case in importlib.import_module(f"families.{name}").cases():
            kind = sections[case.section].members.setdefault(case.kind, Group())
            assert case.name not in kind.members, f"{case.kind}: two cases named {case.name}"
            kind.members[case.name] = case.record(seed)
    return Group(dict(sorted(sections.items())), {"pytorch": torch.__version__, "seed": seed})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path, default=TARGET)
    parser.add_argument("--all", action="store_true", help="families without C++ too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    root = fixture(families(options.all), options.seed)
    hdf5.save(options.output, root)
    for name, section in root.members.items():
        print(name, {kind: len(cases.members) for kind, cases in section.members.items()})
    print(options.output.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
