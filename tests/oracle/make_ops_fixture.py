"""Makes tests/fixtures/ops.json: what PyTorch gives where finite differences are no oracle.

    venv/bin/python tests/oracle/make_ops_fixture.py     (packages as for make_gpt_fixture.py)

The format is in tests/fixtures/README.md.
"""

import collections
import json
import pathlib

from ops import (activations, attention, bags, casts, dtypes, losses, norms, pointwise, products,
                 reductions, shapes)

TARGET = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "ops.json"


def collect(pairs):
    found = collections.defaultdict(list)
    for name, record in pairs:
        found[name].append(record)
    return dict(sorted(found.items()))


def compact(value, depth):
    """JSON with one line an entry down to `depth`."""
    if depth == 0 or not isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, list):
        return "[" + ",\n".join(compact(part, depth - 1) for part in value) + "]"
    parts = (json.dumps(key) + ":" + compact(part, depth - 1) for key, part in value.items())
    return "{" + ",\n".join(parts) + "}"


def main():
    modules = (activations, attention, bags, losses, norms, pointwise, products, reductions, shapes)
    fixture = {
        "dtypes": dtypes.rules(),
        "casts": casts.casts(),
        "ops": collect(pair for module in modules for pair in module.cases()),
    }
    TARGET.write_text(compact(fixture, depth=3) + "\n")
    print({name: len(found) for name, found in fixture["ops"].items()})


if __name__ == "__main__":
    main()
